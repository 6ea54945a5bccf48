"""Errors for people to code: the coding scheme, the sheets, the codes that come back, the tally."""

import csv
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from command_line import run_command
from nlihub.builders.annotation.agreement import Share, fleiss_kappa, to_json
from nlihub.builders.annotation.batch import Item, read_batches, write_batch
from nlihub.builders.annotation.questions import ERROR, read_coding_scheme
from nlihub.builders.annotation.sheets import read_sheet
from nlihub.builders.annotation.task import import_answers, review
from nlihub.loaders.errors import AnnotationError

SCHEME = {
    "abbreviation": "A name is abbreviated.",
    "entity similarity": "Two names are alike.",
    "mechanism mix up": "There are two mechanisms.",
}
QUESTION = replace(ERROR, labels=SCHEME)
ORIGIN = {"dataset": {"name": "x"}, "systems": ["a.csv"], "by": "label", "seed": 3}


def errors_of(n):
    labels = ("yes", "no")
    return [
        Item(
            f"id-{k}",
            f"=Text {k}, and more; of it.",
            f"'Claim {k}.",
            {"label": labels[k % 2], "category": f"C{k % 3}" if k else ""},
            {"gold": labels[k % 2], "prediction": labels[(k + 1) % 2], "category": f"C{k % 3}"},
        )
        for k in range(n)
    ]


def write(folder, n=6, n_coders=2):
    return write_batch(folder, 1, QUESTION, errors_of(n), {}, n_coders, ORIGIN)


def import_codes(batch, files):
    import_answers(batch.folder.parent, files)
    return review(batch.folder.parent)


def fill(sheets, folder, answers, delimiter=","):
    """Fills the sheets in: ``answers`` has, by coder, what they say of the k-th error."""
    folder.mkdir(exist_ok=True)
    files = []
    for coder, given in answers.items():
        with (sheets.sheets / f"{coder}-b001.csv").open(encoding="utf-8-sig", newline="") as file:
            header, *rows = csv.reader(file)
        for row in rows:
            row[-1] = given.get(int(row[0][-4:]), "")
        files.append(folder / f"{coder}-b001.csv")
        with files[-1].open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows([header, *rows])
    return files


def test_a_coding_scheme_is_read_in_its_order(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("code;description\nb  b;Second\na;First, \n\n", encoding="utf-8-sig")
    assert list(read_coding_scheme(path).items()) == [("b b", "Second"), ("a", "First,")]
    text = re.search(r"( {8}code,description\n(?: {8}.*\n)+)", read_coding_scheme.__doc__)[1]
    path.write_text(re.sub("(?m)^ {8}", "", text))
    assert len(read_coding_scheme(path)) == 6


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("code,description\na,b\n", "one code; expected two or more"),
        ("code,text\na,b\n", ":1: no column description"),
        ("code,description\na,b\nA,c\n", ":3: the code 'A' occurs twice"),
        ('code,description\na,b\n"c;d",e\n', ":3: the code 'c;d' has a ;"),
        ("code,description\na,b\n,c\n", ":3: no code; expected both"),
        ("code,description\na,b\nc,\n", ":3: no description; expected both"),
        ("code,description\na,b,c\nd,e\n", ":2: 3 cells, expected 2"),
    ],
)
def test_malformed_coding_schemes(tmp_path, content, problem):
    path = tmp_path / "codes.csv"
    path.write_text(content)
    with pytest.raises(AnnotationError, match=re.escape(problem)):
        read_coding_scheme(path)
    with pytest.raises(AnnotationError, match="cannot be read"):
        read_coding_scheme(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("cell", "codes", "problem"),
    [
        ("  ", "", ""),
        (" Abbreviation ", "abbreviation", ""),
        ("mechanism mix up;ABBREVIATION", "mechanism mix up; abbreviation", ""),
        ("abbreviation; huh", "", "the answer 'huh' is unknown; expected abbreviation, entity sim"),
        ("abbreviation;", "", "has a blank code"),
        ("abbreviation; Abbreviation", "", "gives a code twice"),
    ],
)
def test_cells_of_codes(cell, codes, problem):
    found, said = QUESTION.read_cell(cell)
    assert found == codes
    assert problem in said and bool(problem) == bool(said)


def test_coders_see_the_error_and_no_id(tmp_path):
    made = write(tmp_path / "e")
    assert read_batches(tmp_path / "e") == [made]
    names = {path.name for path in made.sheets.iterdir()}
    coders = {"coder-1-b001.csv", "coder-2-b001.csv"}
    assert names == {*coders, "instructions.md", "labels.xml", "tasks.json"}
    columns = ("id", "premise", "hypothesis", "gold", "prediction", "category", "answer")
    orders = []
    for coder in made.people:
        path = made.sheets / f"{coder}-b001.csv"
        rows, defects = read_sheet(path, columns)
        assert not defects
        orders.append([row["id"] for _, row in rows])
        for _, row in rows:
            error = made.items[row.pop("id")]
            assert row == {**error.columns, "answer": ""}
        assert "id-" not in path.read_text(encoding="utf-8-sig")
    assert orders[0] != orders[1] and set(orders[0]) == set(orders[1])
    told = (made.sheets / "instructions.md").read_text()
    assert "- `abbreviation`: A name is abbreviated." in told
    assert "at least one prediction is wrong" in told
    view = ElementTree.parse(made.sheets / "labels.xml")  # noqa: S314
    assert [(part.get("name"), part.get("choice")) for part in view.iter("Choices")] == [
        ("answer", "single"),
        ("further", "multiple"),
    ]
    assert [part.get("value") for part in view.iter("Choice")] == list(SCHEME) * 2
    names = {part.get("value") for part in view.iter("Text")}
    tasks = json.loads((made.sheets / "tasks.json").read_text())
    assert all({f"${name}" for name in task["data"]} - {"$pair"} == names for task in tasks)


def test_the_tally(tmp_path):
    made = write(tmp_path / "e")
    one = {1: "abbreviation", 2: "abbreviation; entity similarity", 3: "mechanism mix up"}
    two = {1: "ABBREVIATION", 2: "entity similarity; mechanism mix up", 4: "abbreviation"}
    files = [
        *fill(made, tmp_path / "filled", {"coder-1": one}),
        *fill(made, tmp_path / "filled", {"coder-2": two}, delimiter=";"),
    ]
    found = import_codes(made, files)
    assert found == review(made.folder.parent)
    assert (found.n_errors, found.n_uncoded) == (6, 2)
    assert found.codes == dict(zip(SCHEME, (Share(4, 6), Share(1, 6), Share(1, 6)), strict=True))
    assert [share.n for share in found.further.values()] == [0, 1, 1]
    # Errors 1 and 3 are "yes", 2 and 4 are "no".
    assert found.by["label"] == {
        "no": dict(zip(SCHEME, (Share(2, 3), Share(1, 3), Share(0, 3)), strict=True)),
        "yes": dict(zip(SCHEME, (Share(2, 3), Share(0, 3), Share(1, 3)), strict=True)),
    }
    assert list(found.by) == ["label", "category"]
    assert list(found.by["category"]) == ["", "C0", "C1", "C2"]
    assert found.by_coder["coder-2"]["entity similarity"] == Share(1, 3)
    assert found.blank == {"coder-1": 3, "coder-2": 3}
    # Both coded 1 and 2: the same main code once.
    assert found.same_main == Share(1, 2)
    assert found.kappa == fleiss_kappa(["aa", "ab"])
    plain = to_json(found)
    assert plain["codes"]["abbreviation"] == {"n": 4, "of": 6, "value": 4 / 6}
    assert json.loads(json.dumps(plain)) == plain


def test_codes_from_label_studio(tmp_path):
    made = write(tmp_path / "e")
    tasks = json.loads((made.sheets / "tasks.json").read_text())

    def coded(coder, **chosen):
        result = [{"from_name": n, "value": {"choices": found}} for n, found in chosen.items()]
        return {"completed_by": coder, "result": result}

    main, further = ["abbreviation"], ["entity similarity", "mechanism mix up"]
    skipped = {**coded(7, answer=["mechanism mix up"]), "was_cancelled": True}
    given = [[coded(7, answer=main, further=further)], [coded(n, answer=main) for n in (7, 8)]]
    whole = [
        {**task, "annotations": found}
        for task, found in zip(tasks, [*given, [skipped], [], [], []], strict=True)
    ]
    mins = [
        {**tasks[0]["data"], "annotator": 7, "answer": main[0], "further": {"choices": further}},
        *({**tasks[1]["data"], "annotator": n, "answer": main[0]} for n in (7, 8)),
        {**tasks[2]["data"], "annotator": 7},
    ]
    path = tmp_path / "project.json"
    for content in (whole, mins):
        path.write_text(json.dumps(content))
        found = import_codes(made, [path])
        assert found.codes["abbreviation"] == Share(3, 3)
        assert [share.n for share in found.further.values()] == [0, 1, 1]
        assert (found.same_main, found.n_uncoded) == (Share(1, 1), 4)
    wrong = [{**mins[0], "further": {"choices": 3}}, {**mins[1], "answer": "", "further": "x"}]
    path.write_text(json.dumps(wrong))
    with pytest.raises(AnnotationError, match=r"(?s)task 1: not as.*task 2: .*has a blank code"):
        import_codes(made, [path])


def test_the_command(tmp_path):
    made = write(tmp_path / "e")
    done = run_command("annotate", "review", made.folder.parent)
    assert done.returncode == 0
    assert "n_errors: 6\nn_uncoded: 6\n" in done.stdout
    answers = {"coder-1": {1: "abbreviation"}, "coder-2": {1: "abbreviation; entity similarity"}}
    files = fill(made, tmp_path / "filled", answers)
    done = run_command("annotate", "import", made.folder.parent, *files)
    lines = done.stdout.splitlines()
    assert {"  systems: a.csv", "n_uncoded: 5", "  abbreviation: 2 of 2 (100.0 %)"} <= {*lines}
    assert {"  coder-1: 5", "same_main: 1 of 1 (100.0 %)", "kappa: none"} <= {*lines}
    shown = json.loads(run_command("annotate", "review", made.folder.parent, "--json").stdout)
    assert shown == to_json(review(made.folder.parent))
    assert shown["kappa"] is None  # all gave one code
    alone = write(tmp_path / "alone", n_coders=1)
    found = import_codes(alone, fill(alone, tmp_path / "one", {"coder-1": {1: "abbreviation"}}))
    assert (found.kappa, found.same_main.of, found.n_uncoded) == (None, 0, 5)
