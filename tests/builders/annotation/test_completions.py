"""Sentences that people complete: in sheets and Label Studio, the review, the built version."""

import csv
import json

import pytest
from command_line import run_command
from constructing import from_papers
from datasets import load_dataset
from nlihub.builders.annotation.answers import read_answers
from nlihub.builders.annotation.batches import read_annotation_batches
from nlihub.builders.annotation.completions import (
    COLUMNS,
    Completed,
    is_slip,
    settle_completions,
)
from nlihub.builders.annotation.sheets import read_sheet, write_sheet
from nlihub.builders.procedures.papers.declaration import ORIGINALS
from nlihub.builders.procedures.registry import declared_builder
from nlihub.builders.versions.manifest import Manifest
from nlihub.builders.versions.version import BuiltVersion
from nlihub.loaders.errors import AnnotationError, CorpusError
from paper_corpus import make_papers, write_lines

import nlihub

QUOTAS = {"validation": 2, "test": 2}
TEXTS = ("id", "premise", "hypothesis")
SHEET = (*TEXTS, "answer", *COLUMNS)


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    """A version made from papers; do not change it."""
    folder = tmp_path_factory.mktemp("version")
    path = write_lines(folder / "papers.jsonl", make_papers(60, domains=("acl",)))
    return from_papers("my_nli", path, folder / "b", ratio=(0.5, 0.25, 0.25)).folder


def labels_of(version):
    built = BuiltVersion(version)
    names = built.manifest.labels
    tables = [built.table("unbalanced", s, ("id", "label")) for s in ("validation", "test")]
    return {row["id"]: names[row["label"]] for table in tables for row in table.to_pylist()}


def draw(version, batches):
    nlihub.annotation.export(version, batches, QUOTAS)
    return read_annotation_batches(batches)[-1]


def fill_in(version, batch, folder, completed):
    """Fills the sheets in with the automatic labels.

    ``completed`` has, by annotator and key, what they write in place of the two sentences.
    """
    folder.mkdir()
    labels = labels_of(version)
    for name in batch.annotators:
        rows, _ = read_sheet(batch.sheets / f"{name}.csv", SHEET)
        filled = [
            [
                *(row[column] for column in TEXTS),
                labels[batch.pairs[row["id"]].id],
                *completed.get((name, row["id"]), ("", "")),
            ]
            for _, row in rows
        ]
        write_sheet(folder / f"{name}.csv", SHEET, filled)
    return sorted(folder.iterdir())


def decide(batch, path, decided):
    """Writes ``completions.csv``: by key, the two sentences to take."""
    rows, _ = read_sheet(batch.folder / "completions.csv", TEXTS)
    cells = [[*row.values(), *decided.get(row["id"], ("", ""))] for _, row in rows]
    write_sheet(path, (*TEXTS, *COLUMNS), cells)
    return path


def rows_of(folder):
    return {
        row["id"]: row for rows in load_dataset(str(folder), "unbalanced").values() for row in rows
    }


def test_completed_sentences_are_in_the_version_and_counted(version, tmp_path):
    batches = tmp_path / "batches"
    batch = draw(version, batches)
    first, second, third, *_ = sorted(batch.pairs)
    whole = f"{batch.pairs[first].premise.rstrip('.')} over  all runs."
    longer = f"= {batch.pairs[second].hypothesis} and more"
    completed = {
        ("annotator-1", first): (f"  {whole} ", ""),
        ("annotator-2", first): (whole.replace("  ", " "), ""),
        ("annotator-3", second): ("", longer),
        ("annotator-3", third): ("   ", batch.pairs[third].hypothesis),  # neither is an edit
    }
    sheets = fill_in(version, batch, tmp_path / "back", completed)
    review = nlihub.annotation.import_answers(version, batches, sheets, QUOTAS)
    found = review.completions
    id_first, id_second, id_third = (batch.pairs[key].id for key in (first, second, third))
    assert found.texts == {
        id_first: (whole.replace("  ", " "), None),
        id_second: (None, longer),
    }
    assert (found.n_sentences, found.conflicts) == (2, ())
    assert found.by_person == {"annotator-1": 1, "annotator-2": 1, "annotator-3": 1}
    folder = nlihub.annotation.build(version, batches, tmp_path / "gold", QUOTAS)
    assert nlihub.verify(folder).passed
    before, after = rows_of(version), rows_of(folder)
    for id_, row in after.items():
        was = before[id_]
        if id_ == id_first:
            assert row["premise"] == whole.replace("  ", " ")
            assert row["original_premise"] == was["premise"]
            assert row["original_hypothesis"] is None
        elif id_ == id_second:
            assert row["hypothesis"] == longer
            assert row["original_hypothesis"] == was["hypothesis"]
            assert row["original_premise"] is None
        else:
            none = {"original_premise": None, "original_hypothesis": None}
            assert row == was | none
    assert id_third in after
    assert Manifest.read(folder).construction["completed"] == {"pairs": 2, "sentences": 2}
    card = (folder / "README.md").read_text()
    told = " ".join(card.split())
    assert "People completed 2 sentences that the extraction of the papers had broken" in told
    assert "original_hypothesis" in card
    assert "No sentence of them was completed" not in told


def test_other_completions_give_another_source(version, tmp_path):
    hashes = []
    for name, more in (("a", ""), ("b", "more"), ("c", "less")):
        batch = draw(version, tmp_path / name)
        key = min(batch.pairs)
        text = f"{batch.pairs[key].premise} {more}".strip()
        completed = {("annotator-1", key): (text, "")}
        sheets = fill_in(version, batch, tmp_path / f"back-{name}", completed)
        nlihub.annotation.import_answers(version, tmp_path / name, sheets, QUOTAS)
        folder = nlihub.annotation.build(version, tmp_path / name, tmp_path / f"v-{name}", QUOTAS)
        hashes.append(Manifest.read(folder).sources[-1]["sha256"])
    assert len(set(hashes)) == 3


def test_a_conflict_waits_for_a_decision(version, tmp_path):
    batches = tmp_path / "batches"
    batch = draw(version, batches)
    first, second, *_ = sorted(batch.pairs)
    texts = {key: batch.pairs[key].premise for key in (first, second)}
    completed = {
        (f"annotator-{n}", key): (f"{text} In run {n}.", "")
        for key, text in texts.items()
        for n in (1, 2)
    }
    sheets = fill_in(version, batch, tmp_path / "back", completed)
    found = nlihub.annotation.import_answers(version, batches, sheets, QUOTAS).completions
    assert found.texts == {}
    assert [one.key for one in sorted(found.conflicts, key=lambda one: one.key)] == [first, second]
    assert dict(found.conflicts[0].texts).keys() == {"annotator-1", "annotator-2"}
    with pytest.raises(CorpusError, match=r"completed in different ways: 2.*b001-"):
        nlihub.annotation.build(version, batches, tmp_path / "gold", QUOTAS)
    # The maintainer takes another text for one, and leaves the other as it was extracted.
    chosen = f"{texts[first]} In both runs."
    sheet = decide(
        batch, tmp_path / "completions.csv", {first: (chosen, ""), second: (texts[second], "")}
    )
    found = nlihub.annotation.import_answers(version, batches, [sheet], QUOTAS).completions
    assert found.conflicts == ()
    assert found.texts == {batch.pairs[first].id: (chosen, None)}
    assert found.by_person["completions"] == 1
    after = rows_of(nlihub.annotation.build(version, batches, tmp_path / "gold", QUOTAS))
    assert after[batch.pairs[first].id]["premise"] == chosen
    assert after[batch.pairs[second].id]["premise"] == texts[second]
    assert after[batch.pairs[second].id]["original_premise"] is None


def test_a_maintainer_completes_a_pair_of_an_earlier_batch(version, tmp_path):
    batches = tmp_path / "batches"
    quotas = {"validation": 2, "test": 4}
    nlihub.annotation.export(version, batches, quotas, size_per_class=2)
    (early,) = read_annotation_batches(batches)
    sheets = fill_in(version, early, tmp_path / "back", {})
    nlihub.annotation.import_answers(version, batches, sheets, quotas)
    nlihub.annotation.export(version, batches, quotas, size_per_class=2)
    key = min(early.pairs)
    text = f"{early.pairs[key].hypothesis} in the end"
    sheet = decide(early, tmp_path / "completions.csv", {key: ("", text)})
    found = nlihub.annotation.import_answers(version, batches, [sheet], quotas)
    assert found.completions.texts == {early.pairs[key].id: (None, text)}
    assert (early.folder / "answers" / "completions.csv").is_file()
    assert found.agreement.with_majority.keys() == {"annotator-1", "annotator-2", "annotator-3"}


@pytest.mark.parametrize(
    ("column", "place"), [("completed_premise", 0), ("completed_hypothesis", 1)]
)
def test_a_column_that_was_sorted_by_itself_is_refused(version, tmp_path, column, place):
    batch = draw(version, tmp_path / "batches")
    keys = sorted(batch.pairs)
    texts = dict.fromkeys(keys[:2], ("We thank our families.", "We thank our families."))
    wrong = {
        ("annotator-1", key): tuple(text if n == place else "" for n, text in enumerate(pair))
        for key, pair in texts.items()
    }
    sheets = fill_in(version, batch, tmp_path / "back", wrong)
    message = f"{column} of the pair 'b001-.*sorted by itself"
    with pytest.raises(AnnotationError, match=message) as error:
        nlihub.annotation.import_answers(version, tmp_path / "batches", sheets, QUOTAS)
    assert len(error.value.defects) == 2
    assert not batch.answer_files()


def test_the_sentences_themselves_stay_checked(version, tmp_path):
    batch = draw(version, tmp_path / "batches")
    sheets = fill_in(version, batch, tmp_path / "back", {})
    rows, _ = read_sheet(sheets[0], SHEET)
    rows[0][1]["premise"] += " and more"
    write_sheet(sheets[0], SHEET, [[row[name] for name in SHEET] for _, row in rows])
    with pytest.raises(AnnotationError, match="were they moved or edited"):
        nlihub.annotation.import_answers(version, tmp_path / "batches", sheets, QUOTAS)


def test_sheets_without_the_columns_are_read(version, tmp_path):
    batch = draw(version, tmp_path / "batches")
    sheets = fill_in(version, batch, tmp_path / "back", {})
    for sheet in sheets:
        rows, _ = read_sheet(sheet, SHEET)
        names = SHEET[:4]
        write_sheet(sheet, names, [[row[name] for name in names] for _, row in rows])
    found = nlihub.annotation.import_answers(version, tmp_path / "batches", sheets, QUOTAS)
    assert found.completions.texts == {}
    assert found.gold.is_complete


def test_a_batch_that_does_not_ask_for_completions_takes_none(version, tmp_path):
    batch = draw(version, tmp_path / "batches")
    settings = json.loads((batch.folder / "batch.json").read_text())
    del settings["may_complete"], settings["others"]  # a batch of an earlier version
    (batch.folder / "batch.json").write_text(json.dumps(settings))
    key = min(batch.pairs)
    completed = {("annotator-1", key): (f"{batch.pairs[key].premise} More.", "")}
    sheets = fill_in(version, batch, tmp_path / "back", completed)
    with pytest.raises(AnnotationError, match="does not ask for that; leave it blank"):
        nlihub.annotation.import_answers(version, tmp_path / "batches", sheets, QUOTAS)


@pytest.mark.parametrize("is_min", [False, True])
def test_completions_in_label_studio(version, tmp_path, is_min):
    batch = draw(version, tmp_path / "batches")
    config = (batch.sheets / "labels.xml").read_text()
    for name in COLUMNS:
        assert f'<TextArea name="{name}" toName="{name.removeprefix("completed_")}"' in config
    key = min(batch.pairs)
    text = f"{batch.pairs[key].premise} Indeed."
    labels = labels_of(version)
    tasks = json.loads((batch.sheets / "tasks.json").read_text())
    exported = []
    for task in tasks:
        data = task["data"]
        label = labels[batch.pairs[data["pair"]].id]
        wrote = [text] if data["pair"] == key else []
        if is_min:
            more = {"completed_premise": wrote[0]} if wrote else {}
            exported.append({**data, "annotator": 7, "answer": label, **more})
            continue
        result = [{"from_name": "answer", "type": "choices", "value": {"choices": [label]}}]
        result += [
            {"from_name": "completed_premise", "type": "textarea", "value": {"text": [one]}}
            for one in wrote
        ]
        exported.append({"data": data, "annotations": [{"completed_by": 7, "result": result}]})
    path = tmp_path / "export.json"
    path.write_text(json.dumps(exported))
    found = nlihub.annotation.import_answers(version, tmp_path / "batches", [path], QUOTAS)
    assert found.completions.texts == {batch.pairs[key].id: (text, None)}
    assert found.completions.by_person == {"7": 1}


def test_malformed_texts_of_label_studio(version, tmp_path):
    batch = draw(version, tmp_path / "batches")
    (batch.folder / "answers").mkdir()
    path = batch.folder / "answers" / "label-studio.json"
    task = json.loads((batch.sheets / "tasks.json").read_text())[0]
    for value, message in (
        ({"text": ["one", "two"]}, "expected one text"),
        ({"text": "one"}, "no list of text"),
    ):
        result = [{"from_name": "completed_premise", "value": value}]
        task["annotations"] = [{"completed_by": 1, "result": result}]
        path.write_text(json.dumps([task]))
        with pytest.raises(AnnotationError, match=message):
            read_answers([batch])


def test_sheets_of_another_annotation_are_told_in_one_line(version, tmp_path):
    """Keys are alike in all annotations; the sentences tell them apart."""
    batch = draw(version, tmp_path / "batches")
    sheets = fill_in(version, batch, tmp_path / "back", {})
    for sheet in sheets:
        rows, _ = read_sheet(sheet, SHEET)
        moved = [[row["id"], row["hypothesis"], row["premise"], "yes", "", ""] for _, row in rows]
        write_sheet(sheet, SHEET, moved)
    with pytest.raises(AnnotationError, match="or of another annotation") as error:
        nlihub.annotation.import_answers(version, tmp_path / "batches", sheets, QUOTAS)
    assert len(error.value.defects) == 3


def test_manifests_of_earlier_versions_are_read(version):
    """They do not say whether the version is annotated; then it has no columns of originals."""
    declaration = dict(Manifest.read(version).declaration)
    assert declaration.pop("is_annotated") is False
    assert not set(ORIGINALS) & set(declared_builder(declaration).SPEC.columns)
    annotated = declared_builder(declaration | {"is_annotated": True}).SPEC
    assert annotated.columns[-2:] == tuple(ORIGINALS)


def test_a_slip():
    broken = "The mo del is train ed on the"
    assert not is_slip(broken, "The model is trained on the corpus of Kim (2014).")
    assert is_slip(broken, "We thank the reviewers.")
    assert is_slip("x", "A y.")
    assert not is_slip("x", "x.")
    assert not is_slip("", "Anything may complete what has no letters.")


def test_settling_by_hand():
    originals = {"a": ("one two", "three four")}

    def settle(*found):
        return settle_completions({"a": [Completed(*one) for one in found]}, originals)

    assert settle(("annotator-1", "k", ("one two", ""))).by_person == {}
    both = settle(
        ("annotator-1", "k", ("one two five", "")), ("annotator-2", "k", ("", "three four six"))
    )
    assert both.texts == {"a": ("one two five", "three four six")}
    differ = (("annotator-1", "k", ("one two 5", "")), ("annotator-2", "k", ("one two 6", "")))
    assert [one.column for one in settle(*differ).conflicts] == ["completed_premise"]
    assert settle(*differ, ("completions", "k", ("one two 7", ""))).texts == {
        "a": ("one two 7", None)
    }
    undone = settle(*differ, ("completions", "k", ("one two", "")))
    assert (undone.texts, undone.conflicts) == ({}, ())


def test_the_command_line_shows_them(version, tmp_path):
    batches = tmp_path / "batches"
    batch = draw(version, batches)
    key = min(batch.pairs)
    completed = {
        (f"annotator-{n}", key): (f"{batch.pairs[key].premise} Run {n}.", "") for n in (1, 2)
    }
    sheets = fill_in(version, batch, tmp_path / "back", completed)
    shared = ("--batches", str(batches), "--per-class", "validation=2,test=2")
    done = run_command("annotate", "import", str(version), *map(str, sheets), *shared)
    assert "completed      0 sentences of 0 pairs (written by annotator-1 1, annotator-2 1)" in (
        done.stdout
    )
    assert f"conflict       {key} completed_premise" in done.stdout
    assert f"annotator-2: {batch.pairs[key].premise} Run 2." in done.stdout
    done = run_command("annotate", "build", str(version), *shared, "-o", str(tmp_path / "gold"))
    assert done.returncode == 1
    assert "completed in different ways: 1" in done.stderr
    sheet = decide(
        batch, tmp_path / "completions.csv", {key: (f"{batch.pairs[key].premise} Runs.", "")}
    )
    done = run_command("annotate", "import", str(version), str(sheet), *shared, "--json")
    found = json.loads(done.stdout)["completions"]
    assert (found["pairs"], found["sentences"], found["conflicts"]) == (1, 1, [])
    with (batch.folder / "completions.csv").open(encoding="utf-8-sig", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["id"] == key)
    assert row["candidate"] == batch.pairs[key].id
