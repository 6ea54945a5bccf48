import gzip
import hashlib
import json
import subprocess
import sys

import pytest
from nlihub.loaders.corpora.patterns.pattern_bank import read_pattern_bank
from reference_sampler import draw

import nlihub

GIT_BLOB = "f1e02f36e7952f010e09b15dffc5f7f4fde4ad24"


def blob_id(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324


def test_the_official_release_byte_for_byte(official, tmp_path):
    output = tmp_path / "160x200.json"
    assert nlihub.export("spacenli", output, folder=official) == 32_000
    assert blob_id(output.read_bytes()) == GIT_BLOB
    assert output.read_bytes() == gzip.decompress((official / "160x200.json.gz").read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_release_does_not_depend_on_the_hash_seed(official, tmp_path, hash_seed):
    output = tmp_path / "out.json"
    code = f"import nlihub; nlihub.export('spacenli', {str(output)!r}, folder={str(official)!r})"
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONHASHSEED": hash_seed})
    assert blob_id(output.read_bytes()) == GIT_BLOB


@pytest.mark.parametrize(
    ("per_pattern", "seed", "with_examples"), [(5, 7, True), (300, 1, False), (0, None, True)]
)
def test_other_draws_have_the_authors_form(bank_files, tmp_path, per_pattern, seed, with_examples):
    patterns, world = bank_files()
    output = tmp_path / "out.json"
    n_rows = nlihub.export(
        str(patterns.parent),
        output,
        seed=seed,
        per_pattern=per_pattern,
        without_examples=not with_examples,
    )
    bank = read_pattern_bank(patterns, world)
    expected = [
        {
            **pattern.attributes,
            "id": f"{pattern.id}-{number}",
            "prem_num": pattern.n_premises,
            "premises": ". ".join(sentences[:-1]) + ".",
            "hypothesis": sentences[-1] + ".",
            "subs": filling,
        }
        for pattern in bank
        for number, (sentences, filling) in enumerate(
            draw(pattern, bank.world, per_pattern, 42 if seed is None else seed, with_examples)
        )
    ]
    text = output.read_text(encoding="utf-8")
    found = json.loads(text)
    assert found["data"] == expected
    assert [list(row) for row in found["data"]] == [list(row) for row in expected]
    assert len(expected) == n_rows
    assert text == json.dumps(found, indent=2, ensure_ascii=False)


def test_an_export_without_rows_is_still_the_authors_form(bank_files, tmp_path):
    output = tmp_path / "out.json"
    folder = str(bank_files()[0].parent)
    assert nlihub.export(folder, output, per_pattern=0, patterns=["1b"]) == 0
    found = json.loads(output.read_text())
    assert found["data"] == []
    assert output.read_text() == json.dumps(found, indent=2)


def command(path):
    return json.loads(path.read_text(encoding="utf-8"))["generated with a command"]


def test_only_the_release_names_the_authors_command(official, bank_files, tmp_path):
    output = tmp_path / "out.json"
    nlihub.export("spacenli", output, folder=official, patterns=["7"])
    assert command(output) == (
        "nlihub export spacenli --format upstream-json --seed 42 --per-pattern 200 --patterns 7"
    )
    nlihub.export("open_spacenli", output, per_pattern=1, without_examples=True)
    assert command(output) == (
        "nlihub export open_spacenli --format upstream-json --seed 42 --per-pattern 1 "
        "--without-examples"
    )
    nlihub.export(str(bank_files()[0].parent), output)
    assert command(output).startswith("nlihub export bank --format")


def test_a_subset_by_id_and_by_class(official, tmp_path):
    output = tmp_path / "out.json"
    nlihub.export("spacenli", output, folder=official, patterns=["7a", "102b*", "2"])
    whole = json.loads(gzip.decompress((official / "160x200.json.gz").read_bytes()))["data"]
    chosen = {"7a", "102b*", "2"}
    expected = [row for row in whole if row["id"].rsplit("-", 1)[0] in chosen]
    assert json.loads(output.read_text())["data"] == expected
    nlihub.export("spacenli", output, folder=official, categories=["projective"])
    expected = [row for row in whole if row["ent_type"] == "projective"]
    assert json.loads(output.read_text())["data"] == expected


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            {"patterns": ["2"], "categories": ["non_projective"]},
            ValueError,
            "No pattern is of",
        ),
        ({"patterns": "12"}, ValueError, "'12' is a string; expected a list"),
        ({"patterns": ["1c"]}, KeyError, r"no pattern '1c'. Did you mean '1'"),
        ({"categories": ["dircetional"]}, ValueError, r"no inference class .* Did you mean"),
    ],
)
def test_what_selects_nothing_is_refused(bank_files, tmp_path, given, error, message):
    with pytest.raises(error, match=message):
        nlihub.export(str(bank_files()[0].parent), tmp_path / "x.json", **given)
    assert not list(tmp_path.glob("*.json*"))


def test_a_broken_bank_leaves_no_file(bank_files, tmp_path):
    from conftest import PATTERNS

    patterns, _ = bank_files(PATTERNS.replace("NP3 != NP1", "NP3 == NP1"))
    with pytest.raises(ValueError, match="no problem is left"):
        nlihub.export(str(patterns.parent), tmp_path / "x.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bank"]
