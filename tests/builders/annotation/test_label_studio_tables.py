"""Exports of Label Studio as tables, and unanswered tasks: pairs, patterns, codes of errors."""

import json

import pytest
from filled_sheets import version_from_papers
from label_studio_tables import write_table
from nlihub.builders.annotation.answers import read_answers
from nlihub.builders.annotation.batch import read_batches
from nlihub.builders.annotation.sheets import COMPLETED, read_label_studio
from nlihub.loaders.errors import AnnotationError, UsageError

import nlihub

#: As Label Studio wrote it: two people's answers, one who completed a sentence, nobody's task.
EXPORT = '''"annotation_id","annotator","answer","completed_hypothesis","completed_premise",\
"created_at","hypothesis","id","lead_time","pair","premise","updated_at"
2,"2","unclear","","","2026-11-23T11:32:22.647806Z","One, ""two""",1,"","b1-0","=Plain, it is.",\
"2026-11-23T11:32:22.647814Z"
1,"1","neutral","=x","'A line
break.","2026-11-23T11:32:22.647713Z","One, ""two""",1,"","b1-0","=Plain, it is.",\
"2026-11-23T11:32:22.647741Z"
7,"2","","","","2026-11-23T11:32:22.647984Z","Two.",5,"","b1-4","'apostrophe first",\
"2026-11-23T11:32:22.647988Z"
"","","","","","","Three.",6,"","b1-5","[""Last""]",""
'''
META = {"created_at": "2026-03-01T10:00:00.000000Z", "lead_time": None}


def records_of(folder, given):
    """The records of JSON-MIN; ``given`` has, by key and annotator, the controls and values."""
    tasks = json.loads((folder / "tasks.json").read_text())
    return [
        {**task["data"], "id": 900 + n, "annotation_id": 40, "annotator": name, **META, **controls}
        for n, task in enumerate(tasks)
        for name, controls in (given.get(task["data"]["pair"]) or {None: {}}).items()
    ]


def test_a_table_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "project-1.csv"
    path.write_text(EXPORT, encoding="utf-8", newline="")
    entries, defects = read_label_studio(path)
    assert not defects
    found = [
        (e.line, e.person, e.key, e.texts[0], e.cells["answer"], tuple(map(e.cells.get, COMPLETED)))
        for e in entries
    ]
    assert found == [
        (2, "2", "b1-0", "=Plain, it is.", "unclear", ("", "")),
        (3, "1", "b1-0", "=Plain, it is.", "neutral", ("'A line\nbreak.", "=x")),
        (5, "2", "b1-4", "'apostrophe first", "", ("", "")),
    ]
    assert entries[0].texts[1] == 'One, "two"'
    path.write_text("id,premise,hypothesis,answer,pair\n")
    assert read_label_studio(path) is None
    path.write_text('"lead_time","pair"\n')
    _, (defect,) = read_label_studio(path)
    assert defect.message.startswith("no column premise, hypothesis, annotator; expected pair")


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        ({"annotator": None}, 2, "the annotator is not known"),
        ({"answer": '{"taxonomy":["a"]}'}, 2, "KeyError 'choices'"),
        ({"completed_premise": '["a","b"]'}, 2, "completed_premise: expected one value"),
    ],
)
def test_malformed_rows_name_their_line(tmp_path, change, line, message):
    record = {"pair": "k", "premise": "p", "hypothesis": "h", "annotator": 1, "answer": "a"}
    path = write_table(tmp_path / "a.csv", [{**record, **META, **change}])
    entries, (defect,) = read_label_studio(path)
    assert not entries
    assert defect.line == line and message in defect.message


def test_tasks_that_nobody_answered_are_left_out_of_json_min(tmp_path):
    record = {"pair": "k", "premise": "p", "hypothesis": "h", "annotator": None}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([record, {**record, "annotator": 7, "answer": "a"}]))
    entries, defects = read_label_studio(path)
    assert not defects
    assert [(entry.person, entry.cells["answer"]) for entry in entries] == [("7", "a")]


# ------------------------------------------------------------------------------ the three imports


@pytest.fixture(scope="module")
def version(tmp_path_factory):
    """A version made from papers; do not change it."""
    return version_from_papers(tmp_path_factory.mktemp("version"))


QUOTAS = {"validation": 2, "test": 2}


FORMS = [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".json", None)]


@pytest.mark.parametrize(("suffix", "delimiter"), FORMS)
def test_pairs(version, tmp_path, suffix, delimiter):
    folder = tmp_path / "batches"
    nlihub.annotation.export(version, folder, QUOTAS)
    (batch,) = read_batches(folder)
    first, second, *_ = sorted(batch.items)
    text = f"{batch.items[first].premise} Indeed."
    given = {
        first: {
            1: {"answer": {"choices": ["neutral"]}, "completed_premise": text},
            2: {"answer": "unclear"},
        },
        second: {2: {"answer": "reasoning"}},
    }
    # The name of an annotator's sheet makes an export no sheet.
    path = tmp_path / f"annotator-1{suffix}"
    records = records_of(batch.sheets, given)
    if delimiter is None:
        path.write_text(json.dumps(records))  # JSON-MIN
    else:
        write_table(path, records, delimiter)
    nlihub.annotation.import_answers(folder, [path])
    answers = read_answers(folder, [batch])
    assert answers.by_key[first] == {"1": "neutral", "2": "unclear"}
    assert answers.by_key[second] == {"2": "reasoning"}
    assert answers.completions.by_person == {"1": 1}


def test_an_export_without_an_answer(version, tmp_path):
    folder = tmp_path / "batches"
    nlihub.annotation.export(version, folder, QUOTAS)
    (batch,) = read_batches(folder)
    path = write_table(tmp_path / "export.csv", records_of(batch.sheets, {}))
    with pytest.raises(UsageError, match="no pair is answered; submit answers before exporting"):
        nlihub.annotation.import_answers(folder, [path])
    given = {min(batch.items): {1: {"answer": "maybe"}}}
    write_table(path, records_of(batch.sheets, given))
    with pytest.raises(AnnotationError, match=r"export\.csv:2: the answer 'maybe' is unknown"):
        nlihub.annotation.import_answers(folder, [path])
