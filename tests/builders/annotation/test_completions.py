"""Sentences that people complete: in sheets and Label Studio, the review, the built version."""

import json

import pytest
from command_line import run_command
from datasets import load_dataset
from filled_sheets import fill_in, version_from_papers
from nlihub.builders.annotation.answers import looks_misplaced
from nlihub.builders.annotation.batch import read_batches
from nlihub.builders.annotation.sheets import COMPLETED as COLUMNS
from nlihub.builders.annotation.sheets import read_sheet, write_sheet
from nlihub.builders.procedures.papers.declaration import ORIGINALS
from nlihub.builders.versions.version import Manifest
from nlihub.loaders.errors import AnnotationError, CorpusError

import nlihub

QUOTAS = {"validation": 2, "test": 2}
TEXTS = ("id", "premise", "hypothesis")
SHEET = (*TEXTS, "answer", *COLUMNS)


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    """A version made from papers; do not change it."""
    return version_from_papers(tmp_path_factory.mktemp("version"))


def answers_of(batches, files):
    nlihub.annotation.import_answers(batches, files)
    return nlihub.annotation.review(batches)


def draw(version, batches):
    nlihub.annotation.export(version, batches, QUOTAS)
    return read_batches(batches)[-1]


def complete(batch, folder, completed):
    """Fills the sheets in with the automatic labels.

    ``completed`` has, by annotator and key, what they write in place of the two sentences.
    """
    keys = {item.id: key for key, item in batch.items.items()}

    def say(person, item):
        texts = completed.get((person, keys[item.id]), ("", ""))
        return {"answer": item.facts["label"], **dict(zip(COLUMNS, texts, strict=True))}

    return fill_in(batch, folder, say)


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
    first, second, third, *_ = sorted(batch.items)
    whole = f"{batch.items[first].premise.rstrip('.')} over  all runs."
    longer = f"= {batch.items[second].hypothesis} and more"
    completed = {
        ("annotator-1", first): (f"  {whole} ", ""),
        ("annotator-2", first): (whole.replace("  ", " "), ""),
        ("annotator-3", second): ("", longer),
        ("annotator-3", third): ("   ", batch.items[third].hypothesis),  # neither is an edit
    }
    sheets = complete(batch, tmp_path / "back", completed)
    review = answers_of(batches, sheets)
    found = review.completions
    id_first, id_second, id_third = (batch.items[key].id for key in (first, second, third))
    assert found.texts == {
        id_first: {COLUMNS[0]: whole.replace("  ", " ")},
        id_second: {COLUMNS[1]: longer},
    }
    assert (found.sentences, found.conflicts) == (2, [])
    assert found.by_person == {"annotator-1": 1, "annotator-2": 1, "annotator-3": 1}
    folder = nlihub.annotation.build(version, batches, tmp_path / "gold")
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
    assert not set(ORIGINALS) & set(next(iter(before.values())))
    assert Manifest.read(folder).construction["completed"] == {"pairs": 2, "sentences": 2}
    card = (folder / "README.md").read_text()
    told = " ".join(card.split())
    assert "People completed 2 sentences that the extraction of the papers had broken" in told
    assert "original_hypothesis" in card
    assert "No sentence of them was completed" not in told


def test_a_conflict_waits_for_a_decision(version, tmp_path):
    batches = tmp_path / "batches"
    batch = draw(version, batches)
    first, second, *_ = sorted(batch.items)
    texts = {key: batch.items[key].premise for key in (first, second)}
    completed = {
        (f"annotator-{n}", key): (f"{text} In run {n}.", "")
        for key, text in texts.items()
        for n in (1, 2)
    }
    sheets = complete(batch, tmp_path / "back", completed)
    shown = run_command("annotate", "import", batches, *sheets).stdout
    for line in (
        "  pairs: 0\n  sentences: 0\n  by_person:\n    annotator-1: 2\n    annotator-2: 2",
        f"key: {first}\n      column: completed_premise",
        f"annotator-2: {texts[first]} In run 2.",
    ):
        assert line in shown
    found = nlihub.annotation.review(batches).completions
    assert found.texts == {}
    assert sorted(one.key for one in found.conflicts) == [first, second]
    with pytest.raises(CorpusError, match=r"completed in different ways: 2.*b001-"):
        nlihub.annotation.build(version, batches, tmp_path / "gold")
    # The maintainer takes another text for one, and leaves the other as it was extracted.
    chosen = f"{texts[first]} In both runs."
    sheet = decide(
        batch, tmp_path / "completions.csv", {first: (chosen, ""), second: (texts[second], "")}
    )
    found = answers_of(batches, [sheet]).completions
    assert found.conflicts == []
    assert found.texts[batch.items[first].id][COLUMNS[0]] == chosen
    assert found.by_person["completions"] == 1
    after = rows_of(nlihub.annotation.build(version, batches, tmp_path / "gold"))
    assert after[batch.items[first].id]["premise"] == chosen
    assert after[batch.items[second].id]["premise"] == texts[second]
    assert after[batch.items[second].id]["original_premise"] is None


def test_a_column_that_was_sorted_by_itself_is_refused(version, tmp_path):
    batch = draw(version, tmp_path / "batches")
    first, second, *_ = sorted(batch.items)
    text = "We thank our families."
    wrong = {("annotator-1", first): (text, ""), ("annotator-1", second): ("", text)}
    sheets = complete(batch, tmp_path / "back", wrong)
    with pytest.raises(AnnotationError, match="sorted by itself") as error:
        nlihub.annotation.import_answers(tmp_path / "batches", sheets)
    told = sorted(defect.message.split(",")[0] for defect in error.value.defects)
    assert told[0].startswith(f"completed_hypothesis of the pair {second!r} is")
    assert told[1].startswith(f"completed_premise of the pair {first!r} is")
    assert not (tmp_path / "batches" / "answers.json").exists()


def test_a_batch_that_does_not_ask_for_completions_takes_none(version, tmp_path):
    batch = draw(version, tmp_path / "batches")
    settings = json.loads((batch.folder / "batch.json").read_text())
    settings["question"]["may_complete"] = False
    (batch.folder / "batch.json").write_text(json.dumps(settings))
    key = min(batch.items)
    completed = {("annotator-1", key): (f"{batch.items[key].premise} More.", "")}
    sheets = complete(batch, tmp_path / "back", completed)
    with pytest.raises(AnnotationError, match="does not ask for that; leave it blank"):
        nlihub.annotation.import_answers(tmp_path / "batches", sheets)


def test_sheets_of_another_annotation_are_told_in_one_line(version, tmp_path):
    """Keys are alike in all annotations; the sentences tell them apart."""
    batch = draw(version, tmp_path / "batches")
    sheets = complete(batch, tmp_path / "back", {})
    for sheet in sheets:
        rows, _ = read_sheet(sheet, SHEET)
        moved = [[row["id"], row["hypothesis"], row["premise"], "yes", "", ""] for _, row in rows]
        write_sheet(sheet, SHEET, moved)
    with pytest.raises(AnnotationError, match="is of these batches") as error:
        nlihub.annotation.import_answers(tmp_path / "batches", sheets)
    assert len(error.value.defects) == 3


def test_a_slip():
    broken = "The mo del is train ed on the"
    assert not looks_misplaced(broken, "The model is trained on the corpus of Kim (2014).")
    assert looks_misplaced(broken, "We thank the reviewers.")
    assert looks_misplaced(broken, "The model of the others is a parser.")  # a third alike
    assert looks_misplaced("x", "A y.")
    assert not looks_misplaced("x", "x.")
    assert not looks_misplaced("", "Anything may complete what has no letters.")
