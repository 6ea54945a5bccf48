"""``nlihub perturb`` through the real command line, and the functions behind it."""

import doctest
import importlib
import json
import re

import pytest
from abstract_samples import BODY, ENTITIES, bioc, bioc_xml, json_lines, pubtator
from command_line import run_command
from conftest import ROOT, shared_data
from nlihub.loaders.errors import CorpusError, SourceNotFoundError, UnknownNameError, UsageError

import nlihub

MARKED = "We conclude that <re> foxin <er> inhibits <el> henase <le> in hens."


def run(*arguments, **options):
    return run_command("perturb", *arguments, **options)


@pytest.fixture
def write(tmp_path):
    def write(text, name="records.jsonl"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def table(text):
    """Number and negatives of each row of the table on stderr."""
    rows = [line.rsplit("  ", 2) for line in text.splitlines() if not line.startswith("nlihub:")]
    cells = [
        [cell.strip() for cell in line.split("  ") if cell.strip()] for line in map("  ".join, rows)
    ]
    return {row[0]: tuple(map(int, row[1:])) for row in cells if row[1:] != ["negatives"]}


def apply_edits(line):
    text = line["positive"]
    for edit in reversed(line["edits"]):
        text = text[: edit["start"]] + edit["new"] + text[edit["end"] :]
    return text


# ---- Formats, and what is written.


def test_every_format_gives_the_same(write):
    record = {
        "pmid": 7, "conclusion": MARKED, "supporting_set": BODY.split(" We conclude")[0],
        "regulator_type": "Gene", "regulated_type": "Gene",
    }  # fmt: skip
    texts = {
        "a.jsonl": json_lines(record),
        "a.pubtator": pubtator(),
        "a.bioc.json": json.dumps(bioc()),
        "a.bioc.xml": bioc_xml(bioc()),
    }
    first, *others = [run(write(text, name)) for name, text in texts.items()]
    assert {other.stdout for other in others} == {first.stdout}
    found = lines(first.stdout)
    assert [line["id"] for line in found] == ["7-SEN", "7-SEP", "7-VNeg", "7-LPR"]
    assert found[0] == {
        "id": "7-SEN",
        "pmid": "7",
        "strategy": "SEN",
        "premise": "We fed foxes. Foxin (mol. wt. 70) was given to 12 hens. Levels of henase fell.",
        "positive": MARKED,
        "negative": "We conclude that <re> henase <er> inhibits <el> foxin <le> in hens.",
        "detail": "foxin -> henase; henase -> foxin",
        "edits": [
            {"start": 22, "end": 27, "new": "henase"},
            {"start": 47, "end": 53, "new": "foxin"},
        ],
        "regulator": "foxin",
        "regulated": "henase",
    }
    assert all(apply_edits(line) == line["negative"] != line["positive"] for line in found)
    for done in (first, *others):
        told = table(done.stderr)
        assert {told.pop(f"{name}: made") for name in ("SEN", "SEP", "VNeg", "LPR")} == {(1, 1)}
        assert {told.pop(f"{name}: made") for name in ("SRE", "SREO", "SN")} == {(0, 0)}
        assert set(told.values()) == {(1,)}  # the mechanism, and why the others were not made


def test_a_record_needs_no_supporting_set(write):
    for supporting in ({}, {"supporting_set": []}, {"supp_set": ""}):
        path = write(json_lines({"id": "a-1", "conclusion": MARKED, **supporting}))
        found = lines(run(path, "--strategies", "SEN,SEP,VNeg,LPR").stdout)
        assert [line["id"] for line in found] == ["a-1-SEN", "a-1-SEP", "a-1-VNeg", "a-1-LPR"]
        assert {line["premise"] for line in found} == {""}


def test_an_output_file_and_the_counts_in_json(write, tmp_path):
    path = write(json_lines({"id": 1, "conclusion": MARKED}, {"id": 2, "conclusion": "<re> A"}))
    output = tmp_path / "made" / "out.jsonl"
    done = run(path, "--strategies", "SEN,SN", "--output", output, "--json")
    counts = json.loads(done.stdout)
    assert counts["n_mechanisms"] == 1
    assert counts["made"] == {"SEN": 1, "SN": 0}
    assert counts["refused"] == {"SEN": {}, "SN": {"no number in the conclusion": 1}}
    (skipped,) = counts["skipped"]
    assert (skipped["line"], skipped["pmid"], skipped["reason"]) == (2, "2", "broken markers")
    done = run(path, "--strategies", "SEN,SN", "--output", output)
    assert done.stdout == f"{output}: 1 negatives of 1 mechanisms\n"
    assert lines(done.stderr.split("nlihub")[0] or output.read_text())[0]["id"] == "1-SEN"
    assert [p.name for p in output.parent.iterdir()] == ["out.jsonl"]


def test_all_ways_and_a_limit(write):
    conclusion = "<re> Foxin <er> inhibits <el> henase <le> by 20%."
    supporting = ["Hens lost 30%, 40% or 60%."]
    path = write(json_lines({"id": 1, "conclusion": conclusion, "supporting_set": supporting}))

    def ids(*options):
        return [line["id"] for line in lines(run(path, "--strategies", "SN", *options).stdout)]

    assert ids() == ids("--limit", 1) == ["1-SN"]
    assert ids("--limit", 2) == ids("--all", "--limit", 2) == ["1-SN", "1-SN-2"]
    assert ids("--all") == ["1-SN", "1-SN-2", "1-SN-3"]
    several = {
        tuple(line["detail"] for line in lines(run(path, "--strategies", "SN", "--seed", n).stdout))
        for n in range(6)
    }
    assert len(several) > 1


def test_a_pool_and_antonyms_of_ones_own(write):
    record = {"id": 1, "conclusion": MARKED, "regulator_type": "Gene"}
    path = write(json_lines(record))
    pool = write('{"Gene": ["wolfin"], "Chemical": ["zinc"]}', "pool.json")
    antonyms = write('{"verbs": [["inhibit", "befriend"]]}', "own.json")
    done = run(path, "--strategies", "SREO,LPR", "--pool", pool, "--antonyms", antonyms)
    assert [line["detail"] for line in lines(done.stdout)] == [
        "foxin -> wolfin", "inhibits -> befriends",
    ]  # fmt: skip


def test_the_pool_is_that_of_the_files_whatever_their_order(write):
    def file(numbers):
        text = "<re> A{} <er> inhibits <el> B <le>."
        about = {"regulator_type": "Gene"}
        records = [{"id": n, "conclusion": text.format(n), **about} for n in numbers]
        return write(json_lines(*records), f"{numbers}.jsonl")

    files = file([0, 1]), file([2, 3])
    one, other = (run(*order, "--strategies", "SREO").stdout for order in (files, files[::-1]))
    assert sorted(one.splitlines()) == sorted(other.splitlines())
    assert len(one.splitlines()) == 4


def test_conclusions_of_abstracts(write):
    path = write(pubtator(body=BODY.replace("We conclude", "These data suggest")), "a.txt")
    for options in (["--phrase-sets", "all"], ["--phrase-sets", "paper,results"]):
        assert run(path, "--strategies", "SEN", *options).returncode == 0
    for options in ([], ["--phrase-sets", "paper"]):
        done = run(path, "--strategies", "SEN", *options)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{path}:1 (pmid 7): no conclusion phrase: expected a phrase of paper" in done.stderr


def test_the_order_of_the_entities(write):
    body = BODY.replace("foxin inhibits henase", "foxin next to henase")
    assert body != BODY
    path = write(pubtator(body=body), "a.txt")
    done = run(path, "--strategies", "SREO")
    assert done.returncode == 1
    assert "direction not told" in done.stderr
    done = run(path, "--strategies", "SEN", "--by-order")
    assert "does not plainly state that one entity acts on the other" in done.stderr


def test_the_record_of_the_guide(write):
    guide = (ROOT / "docs" / "guides" / "perturb.md").read_text(encoding="utf-8")
    (record,) = re.findall(r"```json .*\n(.*\"id\".*<re>.*\n)```", guide)
    done = run(write(record))
    assert [line["strategy"] for line in lines(done.stdout)] == ["SEN", "SEP", "VNeg", "SN", "LPR"]


# ---- What is wrong.


def test_all_that_is_wrong_is_told_by_file_and_line(write):
    records = [
        {"id": 1, "conclusion": MARKED},
        {"id": 1, "conclusion": MARKED},
        {"id": 3, "conclusion": "<re> A <el> B <le> <er>."},
        {"id": 4, "conclusion": MARKED, "supporting_set": "Was <re> seen."},
        {"id": 5, "conclusion": 5},
    ]
    dogs = pubtator(pmid="9", entities=(*ENTITIES, ("foxes", 0, "Gene", "3")))
    first, second, third = (
        write(json_lines(*records) + "no json\n", "0.jsonl"),
        write(pubtator(pmid="8", relations=()), "1.txt"),
        write(dogs.replace("foxes\tG", "dogs\tG"), "2.txt"),
    )
    done = run(first, second, third, "--strategies", "SEN")
    assert done.returncode == 0
    assert [line["pmid"] for line in lines(done.stdout)] == ["1", "9"]
    for place in (
        f"{first}:2 (pmid 1): pmid twice",
        f"{first}:3 (pmid 3): broken markers",
        f"{first}:4 (pmid 4): markers in the text",
        f"{first}:5 (pmid 5): malformed: conclusion",
        f"{first}:6: malformed",
        f"{second}:1 (pmid 8): no relation",
        f"{third}:9 (pmid 9): offsets do not match",
    ):
        assert f"nlihub: skipped {place}" in done.stderr
    counts = table(done.stderr)
    assert counts["mechanisms"] == (2,)
    assert sum(n for what, (n, *_) in counts.items() if "skipped" in what or "no mech" in what) == 7


def test_what_is_skipped_is_cut_short(write):
    records = [{"id": n, "conclusion": MARKED if n == 0 else "none"} for n in range(13)]
    done = run(write(json_lines(*records)), "--strategies", "SEN")
    assert done.stderr.count("nlihub: skipped") == 10
    assert "nlihub: and 2 more" in done.stderr
    assert table(done.stderr)["record skipped: broken markers"] == (12,)


#: Arguments, and what is said of them.
WRONG = {
    "": "FILES requires an argument",
    "{tmp}/absent.jsonl": "There is no file",
    "{good} --strategies SEN,VNeq": "Did you mean 'VNeg'",
    "{good} --strategies ,": "not a list of names",
    "{good} --strategies SEN,SEN": "expected each once",
    "{good} --limit 0": "--limit",
    "{good} --json": "needs --output",
    "{good} --phrase-sets papers": "Did you mean 'paper'",
    "{good} --pool {good}": "holds no entities",
    "{good} --pool {empty}": "holds no entities",
    "{good} --pool {half}": "holds no entities",
    "{good} --antonyms {good}": "holds no antonyms",
    "{good} --strategies SEN --pool {good}": "The pool is for SREO alone",
    "{good} --strategies SEN --antonyms {good}": "are for LPR alone",
    "{good} --output {good}": "one of the files that are read",
    "{good} --output {tmp}": "is not a plain file",
    "{empty} --output {good}": "they are empty",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_exit_codes_and_messages(write, tmp_path, arguments):
    text = json_lines({"id": 1, "conclusion": MARKED}, {"id": 2, "conclusion": MARKED})
    places = {"tmp": tmp_path, "good": write(text), "empty": write("", "empty.jsonl")}
    places["half"] = write('{"Gene": ["\\ud800"]}', "pool.json")  # of a character
    done = run(*[argument.format(**places) for argument in arguments.split()])
    assert done.returncode == (1 if arguments.startswith("{empty}") else 2), done.stderr
    assert WRONG[arguments] in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert places["good"].read_text() == text  # an output stays as it was
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_gives_its_files(write, tmp_path):
    for name in ("b.jsonl", "a.jsonl", "notes.md"):
        write(json_lines({"id": name, "conclusion": MARKED}), name)
    done = run(tmp_path, "--strategies", "SEN")
    assert [line["pmid"] for line in lines(done.stdout)] == ["a.jsonl", "b.jsonl"]


# ---- From Python.


def test_a_sentence_and_a_mechanism_with_everything():
    api = nlihub.perturbation
    found = api.perturb(MARKED, ["SEN", api.Negate()], seed=3)
    assert list(found.made) == ["SEN", "VNeg"]
    again = api.perturb(f"  {MARKED} ".replace(" in ", "  in "), ["SEN"])
    assert again.made["SEN"] == found.made["SEN"]
    everything = api.perturb_all(MARKED, ["VNeg"]).made["VNeg"]
    assert [made.detail for made in everything] == ["inhibits -> does not inhibit"]
    supporting = ["Foxin and, not so, wolfin calmed 12 hens."]
    mentions = [api.Mention("wolfin", "Gene", "supporting")]
    one = api.Mechanism.of(MARKED, supporting, pmid="7", regulator_type="Gene", mentions=mentions)
    found = api.perturb(one, ["SRE", "SREO"], pool=api.EntityPool({"Gene": ["dogin"]}))
    assert [made.detail for made in found.made.values()] == ["foxin -> wolfin", "foxin -> dogin"]


def test_wrong_use_from_python(write, tmp_path):
    perturb, perturb_all = nlihub.perturbation.perturb, nlihub.perturbation.perturb_all
    perturb_files, out = nlihub.perturbation.perturb_files, tmp_path / "out"
    for error, message, call in (
        (UsageError, "broken markers: expected", lambda: perturb("<re> A <er> works.")),
        (UnknownNameError, "Did you mean 'SEN'", lambda: perturb(MARKED, ["sen"])),
        (UsageError, "0 negatives", lambda: perturb_all(MARKED, limit=0)),
        (SourceNotFoundError, "no file", lambda: perturb_files(tmp_path / "no", out)),
        (UsageError, "0 negatives", lambda: perturb_files(write(""), out, limit=0)),
        (CorpusError, "they are empty", lambda: perturb_files([], out)),
    ):
        with pytest.raises(error, match=message):
            call()


def test_examples_of_docstrings_run():
    abstracts = "builders.procedures.abstracts"
    modules = ["perturbation", "loaders.corpora.abstracts.mechanism_records", "loading"]
    modules += [f"{abstracts}.{name}" for name in ("mechanisms.mechanism", "perturb.relations")]
    for module in [*modules, f"{abstracts}.perturb.names"]:
        failed, attempted = doctest.testmod(importlib.import_module(f"nlihub.{module}"))
        assert (failed, attempted > 0) == (0, True), module


def test_the_real_abstracts(tmp_path):
    files, output = sorted(shared_data("biomedical").glob("*.pubtator")), tmp_path / "out.jsonl"
    every = nlihub.perturbation.MechanismOptions(phrase_sets=("all",))
    told = nlihub.perturbation.perturb_files(files, output, mechanisms=every)
    units = [one for one in told.skipped if one.unit in ("file", "line", "abstract", "record")]
    assert told.n_mechanisms + len(told.without_mechanism) + len(units) == 274
    for name, made in told.made.items():
        assert made + sum(told.refused[name].values()) == told.n_mechanisms
    found = lines(output.read_text(encoding="utf-8"))
    assert len(found) == sum(told.negatives.values()) == len({line["id"] for line in found})
    assert all(apply_edits(line) == line["negative"] for line in found)
    assert {name for name, made in told.made.items() if not made} <= {"SN"}
