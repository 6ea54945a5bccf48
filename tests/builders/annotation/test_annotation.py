import csv
import json
import re
import shutil
import threading
from collections import Counter
from fractions import Fraction
from itertools import combinations
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nlihub.builders.annotation.agreement import Share, fleiss_kappa, measure_agreement
from nlihub.builders.annotation.answers import add_answers, read_answers
from nlihub.builders.annotation.batches import check_batches, export_batch, read_annotation_batches
from nlihub.builders.annotation.candidates import (
    Cell,
    cells_of,
    check_annotator_labels,
    check_candidates,
    draw_batch,
)
from nlihub.builders.annotation.gold import KEPT, REASONS, Judged, choose_gold, judge_pairs
from nlihub.builders.annotation.label_studio import read_label_studio_json
from nlihub.builders.annotation.sheets import read_sheet, write_sheet
from nlihub.loaders.errors import AnnotationError, OutputError, SchemaError, UsageError

LABELS = ("contrasting", "reasoning", "entailment", "neutral")
QUOTAS = {"validation": 2, "test": 4}


def make_candidates(per_cell=6, domains=("acl",), texts=None):
    rows = []
    for split in QUOTAS:
        for domain in domains:
            for label in LABELS:
                for k in range(per_cell):
                    n = len(rows)
                    premise = texts[n % len(texts)] if texts else f"Parser {n} is fast."
                    rows.append(
                        {
                            "id": f"{domain}/{label}/{split}/{k}",
                            "premise": premise,
                            "hypothesis": f"it reads {n} sentences",
                            "label": label,
                            "domain": domain,
                            "split": split,
                            "category": "However" if label == "contrasting" else "BothRand",
                        }
                    )
    return pa.Table.from_pylist(rows)


def missing_of(candidates, quotas=QUOTAS):
    return choose_gold(candidates, [], LABELS, quotas).missing


def export(folder, candidates, size=4, earlier=(), seed=1, labels=LABELS):
    done = [id_ for batch in earlier for id_ in batch.ids]
    draw = draw_batch(candidates, done, missing_of(candidates), size, seed)
    export_batch(folder, earlier, draw.pairs, labels, 3)
    return read_annotation_batches(folder)


def fill_in(batch, name, answer, where=None):
    """Fills a sheet in; ``answer`` gives the answer to a key."""
    rows, _ = read_sheet(batch.sheets / f"{name}.csv", ("id", "premise", "hypothesis"))
    path = where or batch.folder / "answers" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    write_sheet(
        path,
        ("id", "premise", "hypothesis", "answer"),
        [(*row.values(), answer(row["id"])) for _, row in rows],
    )
    return path


def problems(error):
    return [(d.file.rpartition("/")[2], d.line, d.where, d.message) for d in error.value.defects]


# ------------------------------------------------------------------------------------ candidates


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop_columns(["domain"]), "no column 'domain'"),
        (lambda t: pa.concat_tables([t, t.slice(0, 1)]), "occurs twice"),
        (
            lambda t: t.set_column(0, "id", pa.array([None] * len(t), pa.string())),
            "'id' has nulls",
        ),
        (lambda t: t.set_column(0, "id", pa.array(range(len(t)))), "not strings"),
        (lambda t: t.set_column(3, "label", pa.array(["maybe"] * len(t))), "'maybe'; expected"),
        (lambda t: t.set_column(5, "split", pa.array(["train"] * len(t))), "'train'; expected"),
    ],
)
def test_candidates_are_checked(change, message):
    table = make_candidates()
    check_candidates(table, LABELS)
    with pytest.raises(SchemaError, match=message):
        check_candidates(change(table), LABELS)


@pytest.mark.parametrize("labels", [(), ("a",), ("a", " A"), ("a", ""), ("a", "Unclear")])
def test_labels_that_nobody_can_choose_among_are_refused(labels):
    with pytest.raises(UsageError):
        check_annotator_labels(labels)


# ------------------------------------------------------------------------------------- drawing


def test_a_draw_is_balanced_and_shared_over_splits():
    candidates = make_candidates(domains=("networks", "security_privacy"))
    draw = draw_batch(candidates, (), missing_of(candidates), 3, seed=5)
    counts = Counter(cells_of(draw.pairs))
    assert draw.short == {}
    assert len(counts) == 2 * 2 * 4
    for cell, n in counts.items():  # quotas of 4 and 2 share 3 as 2 and 1
        assert n == (2 if cell.split == "test" else 1)


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(48)), seed=st.integers(0, 3))
def test_a_draw_does_not_depend_on_the_order_of_rows(order, seed):
    candidates = make_candidates()
    missing = missing_of(candidates)
    drawn = [
        draw_batch(table, (), missing, 3, seed).pairs["id"].to_pylist()
        for table in (candidates, candidates.take(order))
    ]
    assert drawn[0] == drawn[1]


def test_the_order_of_a_batch_depends_on_ids_alone():
    """The same ids under other labels come in the same order, so the order tells no label."""
    candidates = make_candidates()
    others = candidates.set_column(3, "label", candidates["label"].combine_chunks()[::-1])
    orders = []
    for table in (candidates, others):
        draw = draw_batch(table, (), missing_of(table), 100, seed=0)
        assert sum(draw.short.values()) == 4 * 100 - 48
        orders.append(draw.pairs["id"].to_pylist())
    assert orders[0] == orders[1]
    assert orders[0] != candidates["id"].to_pylist()


def test_another_seed_draws_another_batch():
    candidates = make_candidates(per_cell=30)
    missing = missing_of(candidates)
    drawn = [set(draw_batch(candidates, (), missing, 6, s).pairs["id"].to_pylist()) for s in (0, 1)]
    assert drawn[0] != drawn[1]


def test_batches_share_no_pair_and_say_what_is_short():
    candidates = make_candidates(per_cell=6)
    missing = missing_of(candidates)
    done = []
    for n_of_test in (4, 2, 0):  # 4 are asked for, and there are 6
        draw = draw_batch(candidates, done, missing, 6, seed=1)
        counts = Counter(cells_of(draw.pairs))
        for cell in missing:
            expected = n_of_test if cell.split == "test" else 2
            assert counts[cell] == expected
            assert draw.short.get(cell, 0) == (4 - n_of_test if cell.split == "test" else 0)
        done += draw.pairs["id"].to_pylist()
    assert len(done) == len(set(done)) == len(candidates)
    draw = draw_batch(candidates, done, missing, 6, seed=1)
    assert not draw.pairs.num_rows
    assert sum(draw.short.values()) == 6 * 4


def test_a_class_with_its_quota_gets_no_more():
    candidates = make_candidates()
    missing = missing_of(candidates)
    missing[Cell("validation", "acl", "neutral")] = 0
    missing[Cell("test", "acl", "neutral")] = 0
    missing[Cell("test", "acl", "reasoning")] = 0
    draw = draw_batch(candidates, (), missing, 3, seed=1)
    counts = Counter((cell.split, cell.label) for cell in cells_of(draw.pairs))
    assert "neutral" not in {label for _, label in counts}
    assert counts["validation", "reasoning"] == 3
    assert counts["test", "contrasting"] == 2


def test_a_draw_refuses_what_makes_no_sense():
    candidates = make_candidates()
    with pytest.raises(UsageError, match="size_per_class"):
        draw_batch(candidates, (), missing_of(candidates), 0, seed=1)
    with pytest.raises(UsageError, match="no quota"):
        draw_batch(candidates, (), {}, 3, seed=1)


# -------------------------------------------------------------------------------------- sheets


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_sheets_come_back_exactly(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("sheets") / "a.csv"
    write_sheet(path, ("a", "b"), rows)
    found, defects = read_sheet(path, ("a", "b"))
    assert not defects
    assert [tuple(row.values()) for _, row in found] == [row for row in rows if any(row)]


def test_real_pairs_come_back_exactly(scinli_release, tmp_path):
    """Among them line breaks, control characters and blanks at the ends."""
    lines = (scinli_release / "test.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [(row["sentence1"], row["sentence2"]) for row in map(json.loads, lines)]
    write_sheet(tmp_path / "a.csv", ("a", "b"), rows)
    found, defects = read_sheet(tmp_path / "a.csv", ("a", "b"))
    assert not defects
    assert [tuple(row.values()) for _, row in found] == rows


ODD = [
    "=SUM(A1:A9) is a formula",
    "+1 is a number",
    "-- is a dash",
    "@home is a name",
    "  =1+1",
    "\t=cmd()",
    "＝1",  # noqa: RUF001
    "'quoted' from the start",
    'He said "no", then; left',
    "two\nlines\r\nand a\rhalf",
    "key\x02word, naïve, 語",
    " blanks at both ends ",
]


def test_no_cell_is_a_formula(tmp_path):
    (batch,) = export(tmp_path / "x", make_candidates(texts=ODD), size=9)
    assert {pair.premise for pair in batch.pairs.values()} == set(ODD)
    for path in batch.folder.rglob("*.csv"):
        assert path.read_bytes().startswith(b"\xef\xbb\xbf")
        with path.open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if re.match(r"\s*[=+\-@＝＋－＠]", cell)]  # noqa: RUF001


# -------------------------------------------------------------------------------------- export


def content(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_annotators_see_nothing_but_the_pair(tmp_path):
    candidates = make_candidates()
    (batch,) = export(tmp_path / "batches", candidates)
    assert {path.name for path in batch.folder.iterdir()} == {
        "batch.json",
        "key.csv",
        "completions.csv",
        "for_annotators",
    }
    assert {path.name for path in batch.sheets.iterdir()} == {
        "annotator-1.csv",
        "annotator-2.csv",
        "annotator-3.csv",
        "tasks.json",
        "labels.xml",
        "instructions.md",
    }
    orders = []
    for number in (1, 2, 3):
        path = batch.sheets / f"annotator-{number}.csv"
        text = path.read_text(encoding="utf-8-sig")
        header = "id,premise,hypothesis,answer,completed_premise,completed_hypothesis"
        assert text.splitlines()[0] == header
        for secret in (*LABELS, "acl", "validation", "test", "However", "Rand"):
            assert secret not in text
        rows, _ = read_sheet(path, ("id", "premise", "hypothesis", "answer"))
        assert {row["answer"] for _, row in rows} == {""}
        assert all(re.fullmatch(r"b001-\d{4}", row["id"]) for _, row in rows)
        orders.append([row["id"] for _, row in rows])
    assert len({tuple(order) for order in orders}) == 3
    assert len({frozenset(order) for order in orders}) == 1
    tasks = json.loads((batch.sheets / "tasks.json").read_text())
    assert {tuple(task["data"]) for task in tasks} == {("pair", "premise", "hypothesis")}
    assert {tuple(task) for task in tasks} == {("data",)}


def test_a_batch_can_be_read_again(tmp_path):
    candidates = make_candidates(texts=ODD)
    (batch,) = export(tmp_path / "batches", candidates, size=9)
    by_id = {row["id"]: row for row in candidates.to_pylist()}
    assert batch.labels == LABELS
    assert batch.n_annotators == 3
    assert len(batch.pairs) == 36
    for pair in batch.pairs.values():
        assert pair.premise == by_id[pair.id]["premise"]
        assert pair.hypothesis == by_id[pair.id]["hypothesis"]
    check_batches([batch], candidates)
    assert read_annotation_batches(tmp_path / "elsewhere") == []


def test_the_same_pairs_give_the_same_bytes(tmp_path):
    candidates = make_candidates()
    for name in ("a", "b"):
        export(tmp_path / name, candidates)
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_labelling_config(tmp_path):
    (batch,) = export(tmp_path / "batches", make_candidates())
    view = ElementTree.parse(batch.sheets / "labels.xml").getroot()  # noqa: S314
    choices = view.find("Choices")
    assert [choice.get("value") for choice in choices] == [*LABELS, "unclear"]
    assert choices.get("toName") in {text.get("name") for text in view.findall("Text")}
    assert {text.get("value") for text in view.findall("Text")} == {"$premise", "$hypothesis"}


def test_instructions_define_the_classes_of_scinli_only(tmp_path):
    (batch,) = export(tmp_path / "a", make_candidates())
    text = (batch.sheets / "instructions.md").read_text()
    for label in (*LABELS, "unclear"):
        assert re.search(rf"^- `{label}`: ", text, re.MULTILINE)
    (batch,) = export(tmp_path / "b", make_candidates(), labels=("yes", "no"))
    text = (batch.sheets / "instructions.md").read_text()
    assert "- `yes`\n- `no`\n- `unclear`: " in text


def test_export_refuses(tmp_path):
    candidates = make_candidates()
    (batch,) = export(tmp_path, candidates)
    before = content(batch.folder)
    draw = draw_batch(candidates, batch.ids, missing_of(candidates), 4, seed=1)
    with pytest.raises(OutputError, match="another session"):
        export_batch(tmp_path, [], draw.pairs, LABELS, 3)
    with pytest.raises(UsageError, match="another folder"):
        export_batch(tmp_path, [batch], draw.pairs, LABELS, 5)
    with pytest.raises(UsageError, match="another folder"):
        export_batch(tmp_path, [batch], draw.pairs, LABELS[::-1], 3)
    with pytest.raises(UsageError, match="no pairs"):
        export_batch(tmp_path, [batch], draw.pairs.slice(0, 0), LABELS, 3)
    with pytest.raises(UsageError, match="2 or more"):
        export_batch(tmp_path, [batch], draw.pairs, LABELS, 1)
    with pytest.raises(UsageError, match="unclear"):
        export_batch(tmp_path, [], draw.pairs, ("unclear", "clear"), 3)
    assert content(batch.folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["batch-001"]


def test_export_into_what_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    pairs = draw_batch(make_candidates(), (), missing_of(make_candidates()), 1, seed=1).pairs
    with pytest.raises(OutputError):
        export_batch(tmp_path / "file", [], pairs, LABELS, 3)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "batch-001").write_text("")
    with pytest.raises(OutputError, match="exists"):
        export_batch(tmp_path / "folder", [], pairs, LABELS, 3)


def test_of_two_sessions_at_once_one_wins(tmp_path):
    candidates = make_candidates()
    pairs = draw_batch(candidates, (), missing_of(candidates), 2, seed=1).pairs
    barrier = threading.Barrier(4)
    outcomes = []

    def session():
        barrier.wait()
        try:
            export_batch(tmp_path, [], pairs, LABELS, 3)
            outcomes.append("won")
        except OutputError:
            outcomes.append("told")

    threads = [threading.Thread(target=session) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["told"] * 3 + ["won"]
    assert len(read_annotation_batches(tmp_path)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["batch-001"]


# ----------------------------------------------------------------------------- stored batches


@pytest.mark.parametrize(
    ("damage", "file", "message"),
    [
        (lambda b: (b / "key.csv").unlink(), "key.csv", "cannot be read"),
        (lambda b: (b / "key.csv").write_text("key,id\r\n"), "key.csv", "its keys are not"),
        (lambda b: (b / "key.csv").write_text("a,b\r\n"), "key.csv", "no column key, id"),
        (
            lambda b: (b / "for_annotators" / "tasks.json").write_text("[{}]"),
            "batch-002",
            "not as it was exported",
        ),
        (lambda b: (b / "for_annotators" / "tasks.json").write_text("["), "tasks.json", "not JSON"),
        (lambda b: (b / "batch.json").write_text("{}"), "batch-002", "not as it was exported"),
        (
            lambda b: (b / "batch.json").write_text('{"labels": ["a", "b"], "n_annotators": 2}'),
            "batch.json",
            "a, b by 2 annotators; the first batch has contrasting",
        ),
        (lambda b: b.rename(b.with_name("batch-003")), "batch-002", "the batch is missing"),
    ],
)
def test_damaged_batches_are_reported(tmp_path, damage, file, message):
    first = export(tmp_path, make_candidates())
    export(tmp_path, make_candidates(), earlier=first)
    damage(tmp_path / "batch-002")
    with pytest.raises(AnnotationError, match=re.escape(message)) as error:
        read_annotation_batches(tmp_path)
    assert {defect[0] for defect in problems(error)} == {file}


def test_a_pair_in_two_batches_is_reported(tmp_path):
    (first,) = export(tmp_path, make_candidates())
    second = first.folder.with_name("batch-002")
    shutil.copytree(first.folder, second)
    with pytest.raises(AnnotationError, match="occurs twice") as error:
        read_annotation_batches(tmp_path)
    assert len(error.value.defects) == 2 * len(first.pairs)


def test_candidates_that_changed_are_reported(tmp_path):
    candidates = make_candidates()
    batches = export(tmp_path, candidates)
    changed = candidates.set_column(2, "hypothesis", pa.array(["other"] * len(candidates)))
    with pytest.raises(AnnotationError, match="has another text now") as error:
        check_batches(batches, changed)
    assert len(error.value.defects) == 16
    with pytest.raises(AnnotationError, match="is not a candidate"):
        check_batches(batches, candidates.slice(0, 1))


# ------------------------------------------------------------------------------------- answers


def test_answers_are_read_whatever_their_case(tmp_path):
    batches = export(tmp_path, make_candidates(texts=ODD))
    (batch,) = batches
    assert read_answers(batches).by_pair == {id_: {} for id_ in batch.ids}
    keys = sorted(batch.pairs)
    given = {keys[0]: " Entailment\u00a0", keys[1]: "UNCLEAR", keys[2]: "neutral"}
    fill_in(batch, "annotator-2", lambda key: given.get(key, " "))
    answers = read_answers(batches)
    ids = [batch.pairs[key].id for key in keys]
    assert answers.by_pair[ids[0]] == {"annotator-2": "entailment"}
    assert answers.by_pair[ids[1]] == {"annotator-2": "unclear"}
    assert answers.by_pair[ids[2]] == {"annotator-2": "neutral"}
    assert sum(map(len, answers.by_pair.values())) == 3
    assert answers.not_answered == {"annotator-2": 13}


def as_excel(path):
    """Semicolons, blanks trimmed, controls gone, other line ends; no separator before blanks."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    lines = []
    for row in rows:
        cells = [cell.replace("\x02", "").replace("\r", "\n").strip() for cell in row]
        text = ";".join('"' + cell.replace('"', '""') + '"' for cell in cells if cell)
        lines.append(text)
    path.write_bytes(("\ufeff" + "\r\n".join([*lines, ";;;", ""])).encode())


def test_a_sheet_that_a_spreadsheet_saved_is_read(tmp_path):
    batches = export(tmp_path, make_candidates(texts=ODD))
    (batch,) = batches
    answered = sorted(batch.pairs)[::2]
    path = fill_in(batch, "annotator-1", lambda key: "neutral" if key in answered else "")
    as_excel(path)
    answers = read_answers(batches)
    assert answers.not_answered == {"annotator-1": 8}
    assert {id_ for id_, given in answers.by_pair.items() if given} == {
        batch.pairs[key].id for key in answered
    }


def test_all_defects_of_sheets_are_listed_at_once(tmp_path):
    candidates = make_candidates()
    batches = export(tmp_path, candidates)
    batches = export(tmp_path, candidates, earlier=batches)
    first, second = batches
    keys, foreign = sorted(first.pairs), sorted(second.pairs)[0]

    def row(batch, key, answer):
        return (key, batch.pairs[key].premise, batch.pairs[key].hypothesis, answer)

    folder = first.folder / "answers"
    folder.mkdir()
    write_sheet(
        folder / "annotator-1.csv",
        ("id", "premise", "hypothesis", "answer"),
        [
            row(first, keys[0], "neutral"),
            row(first, keys[0], "Neutral"),
            row(first, keys[1], "contradiction"),
            row(second, foreign, "neutral"),
            ("b009-0001", "a", "b", "neutral"),
            (keys[2], first.pairs[keys[3]].premise, first.pairs[keys[3]].hypothesis, "neutral"),
            (*row(first, keys[4], "neutral"), "surplus"),
        ],
    )
    (folder / "annotator-2.csv").write_text("id,premise,hypothesis\r\n")
    (folder / "annotator-3.csv").write_bytes(b"PK\x03\x04\xff\xfe")
    (folder / "annotator-1 (1).csv").write_text("id,premise,hypothesis,answer\r\n")
    (folder / "notes.txt").write_text("hello")
    with pytest.raises(AnnotationError) as error:
        read_answers(batches)
    assert problems(error) == [
        (
            "annotator-1 (1).csv",
            0,
            "",
            "not named after an annotator; "
            "expected annotator-1.csv, annotator-2.csv, annotator-3.csv or completions.csv, "
            "or a CSV export of Label Studio",
        ),
        ("annotator-1.csv", 3, "", f"annotator-1 has already answered the pair '{keys[0]}'"),
        (
            "annotator-1.csv",
            4,
            "",
            "the answer 'contradiction' is unknown; expected contrasting, reasoning, entailment, "
            "neutral, unclear",
        ),
        ("annotator-1.csv", 5, "", f"the pair '{foreign}' is of batch-002, not of batch-001"),
        ("annotator-1.csv", 6, "", "the pair 'b009-0001' is unknown"),
        (
            "annotator-1.csv",
            7,
            "",
            f"the sentences are not those of the pair '{keys[2]}': were they moved or edited?",
        ),
        ("annotator-1.csv", 8, "", "5 cells, expected 4"),
        (
            "annotator-2.csv",
            1,
            "",
            "no column answer; expected id, premise, hypothesis, answer",
        ),
        ("annotator-3.csv", 0, "", "not a CSV in UTF-8; save it as 'CSV UTF-8'"),
        ("notes.txt", 0, "", "neither a .csv sheet nor an export of Label Studio in JSON or CSV"),
    ]
    assert "Nothing was imported" in str(error.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("id,premise,hypothesis,answer,answer\n", 1, "column answer occurs twice"),
        ("", 1, "no column id, premise, hypothesis, answer"),
        ('id,premise,hypothesis,answer\nb001-0001,"open\n', 2, "not CSV from here on"),
    ],
)
def test_a_malformed_sheet(tmp_path, text, line, message):
    batches = export(tmp_path, make_candidates())
    path = batches[0].folder / "answers" / "annotator-1.csv"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(AnnotationError, match=message) as error:
        read_answers(batches)
    assert error.value.defects[0].line == line


def test_answers_are_taken_over_whole_or_not_at_all(tmp_path):
    batches = export(tmp_path / "batches", make_candidates())
    (batch,) = batches
    key = sorted(batch.pairs)[0]
    id_ = batch.pairs[key].id
    sheet = fill_in(batch, "annotator-1", lambda k: "neutral" * (k == key), tmp_path / "x.csv")
    sheet = sheet.rename(tmp_path / "annotator-1.csv")
    (tmp_path / "annotator-2.csv").write_text("nothing")
    with pytest.raises(AnnotationError):
        add_answers(batches, batch, [sheet, tmp_path / "annotator-2.csv"])
    assert batch.answer_files() == []
    assert add_answers(batches, batch, [sheet]).by_pair[id_] == {"annotator-1": "neutral"}
    assert read_answers(batches).by_pair[id_] == {"annotator-1": "neutral"}
    # The annotator corrects the sheet in its place.
    sheet = fill_in(batch, "annotator-1", lambda k: "reasoning" * (k == key), sheet)
    assert add_answers(batches, batch, [sheet]).by_pair[id_] == {"annotator-1": "reasoning"}
    for name in ("export-1.json", "export-2.json"):
        (tmp_path / name).write_text(json.dumps(in_json(batch, {key: {7: "neutral"}})))
    two = [tmp_path / "export-1.json", tmp_path / "export-2.json"]
    with pytest.raises(UsageError, match=r"label-studio\.json"):
        add_answers(batches, batch, two)
    for path in two:  # the later export replaces the earlier one
        answers = add_answers(batches, batch, [path])
    assert answers.by_pair[id_] == {"annotator-1": "reasoning", "7": "neutral"}
    assert [path.name for path in batch.answer_files()] == ["annotator-1.csv", "label-studio.json"]
    with pytest.raises(AnnotationError, match="cannot be read"):
        add_answers(batches, batch, [tmp_path / "gone" / "annotator-3.csv"])


# -------------------------------------------------------------------------------- Label Studio


def annotation(annotator, choice, **more):
    result = [
        {
            "id": "aB3_x",
            "from_name": "answer",
            "to_name": "hypothesis",
            "type": "choices",
            "origin": "manual",
            "value": {"choices": [choice]},
        }
    ]
    return {
        "id": 41,
        "completed_by": annotator,
        "result": result if choice else [],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2025-03-01T10:00:00.000000Z",
        "lead_time": 3.1,
        **more,
    }


def in_json(batch, given):
    tasks = json.loads((batch.sheets / "tasks.json").read_text())
    return [
        {
            "id": 900 + number,
            **task,
            "annotations": [
                annotation(*answer) for answer in given.get(task["data"]["pair"], {}).items()
            ],
            "predictions": [],
            "project": 3,
        }
        for number, task in enumerate(tasks)
    ]


def in_json_min(batch, given):
    return [
        {
            **task["data"],
            "id": 900 + number,
            **({"answer": answer} if answer else {}),
            "annotator": annotator,
            "annotation_id": 41,
            "created_at": "2025-03-01T10:00:00.000000Z",
            "updated_at": "2025-03-01T10:00:00.000000Z",
            "lead_time": 3.1,
        }
        for number, task in enumerate(json.loads((batch.sheets / "tasks.json").read_text()))
        for annotator, answer in given.get(task["data"]["pair"], {}).items()
    ]


@pytest.mark.parametrize("form", [in_json, in_json_min])
def test_exports_of_label_studio_are_read(tmp_path, form):
    batches = export(tmp_path / "batches", make_candidates(texts=ODD))
    (batch,) = batches
    first, second, third = sorted(batch.pairs)[:3]
    given = {
        first: {7: "neutral", 8: "unclear", 12: "neutral"},
        second: {7: "reasoning", 8: ""},
        third: {12: "contrasting"},
    }
    path = tmp_path / "project-3.json"
    path.write_text(json.dumps(form(batch, given)))
    answers = add_answers(batches, batch, [path])
    for key in batch.pairs:
        expected = {str(name): answer for name, answer in given.get(key, {}).items() if answer}
        assert answers.by_pair[batch.pairs[key].id] == expected
    assert answers.not_answered == {"7": 14, "8": 15, "12": 14}


def test_annotators_and_skipped_tasks_of_label_studio(tmp_path):
    task = {"data": {"pair": "k", "premise": "p", "hypothesis": "h"}}
    path = tmp_path / "a.json"
    annotations = [
        annotation({"id": 5, "email": "a@example.org"}, "neutral"),
        annotation({"email": "b@example.org"}, "neutral"),
        annotation(6, "neutral", was_cancelled=True),
    ]
    path.write_text(json.dumps([{**task, "annotations": annotations}]))
    entries, defects = read_label_studio_json(path)
    assert not defects
    assert [(entry.annotator, entry.answer) for entry in entries] == [
        ("5", "neutral"),
        ("b@example.org", "neutral"),
        ("6", ""),
    ]


DATA = {"pair": "k", "premise": "p", "hypothesis": "h"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("{}", "expected a list"),
        ("[3]", "expected an object, got 3"),
        (json.dumps([{"data": DATA}]), "is this the file of tasks"),
        (json.dumps([{"data": 3, "annotations": []}]), "data: expected an object"),
        (json.dumps([{"data": {}, "annotations": []}]), "pair: expected a text, got None"),
        (json.dumps([{"data": DATA, "annotations": [{}]}]), "no annotation with a result"),
        (
            json.dumps([{"data": DATA, "annotations": [annotation(None, "neutral")]}]),
            "no completed_by",
        ),
        (
            json.dumps([{"data": DATA, "annotations": [annotation(True, "neutral")]}]),
            "no completed_by",
        ),
        (
            json.dumps([{"data": DATA, "annotations": [annotation(1, 3)]}]),
            "expected one choice",
        ),
        (
            json.dumps(
                [
                    {
                        "data": DATA,
                        "annotations": [
                            {"completed_by": 1, "result": [{"from_name": "answer", "value": 1}]}
                        ],
                    }
                ]
            ),
            "no list of choices",
        ),
        (
            json.dumps([{**DATA, "annotator": 1, "answer": {"choices": ["a", "b"]}}]),
            "expected one choice",
        ),
        (json.dumps([{**DATA, "answer": "neutral"}]), "no annotator"),
        (json.dumps([{"annotator": 1, "answer": "neutral"}]), "pair: expected a text"),
    ],
)
def test_malformed_exports_of_label_studio(tmp_path, content, message):
    path = tmp_path / "a.json"
    path.write_text(content)
    entries, defects = read_label_studio_json(path)
    assert not entries
    assert len(defects) == 1
    assert message in defects[0].message


def test_defects_of_label_studio_answers_name_the_task(tmp_path):
    batches = export(tmp_path, make_candidates())
    (batch,) = batches
    tasks = json.loads((batch.sheets / "tasks.json").read_text())
    key = tasks[1]["data"]["pair"]
    content = in_json(batch, {key: {7: "maybe"}})
    content[1]["annotations"] += [annotation(8, "neutral"), annotation(8, "neutral")]
    (batch.folder / "answers").mkdir()
    (batch.folder / "answers" / "label-studio.json").write_text(json.dumps(content))
    with pytest.raises(AnnotationError) as error:
        read_answers(batches)
    assert [(where, message[:16]) for _, _, where, message in problems(error)] == [
        ("task 2", "8 has already an"),
        ("task 2", "the answer 'mayb"),
    ]


# -------------------------------------------------------------------------------------- judging


@pytest.mark.parametrize(
    ("answers", "n_annotators", "majority", "outcome"),
    [
        ("", 3, None, "not annotated"),
        ("n", 3, None, "not enough answers"),
        ("ne", 3, None, "not enough answers"),
        ("nn", 3, "n", KEPT),
        ("ee", 3, "e", "gold differs"),
        ("nee", 3, "e", "gold differs"),
        ("nne", 3, "n", KEPT),
        ("nnn", 3, "n", KEPT),
        ("nec", 3, None, "no majority"),
        ("nuu", 3, "unclear", "unclear"),
        ("nue", 3, None, "no majority"),
        ("nne", 5, None, "not enough answers"),
        ("nnee", 5, None, "not enough answers"),
        ("necr", 5, None, "no majority"),
        ("nnnee", 5, "n", KEPT),
        ("nnee", 4, None, "no majority"),
        ("nnne", 4, "n", KEPT),
        ("nn", 2, "n", KEPT),
        ("ne", 2, None, "no majority"),
        ("nnee", 3, None, "no majority"),  # more than were asked
        ("nnne", 3, "n", KEPT),
    ],
)
def test_majority(answers, n_annotators, majority, outcome):
    names = {"u": "unclear"}
    candidates = pa.table({"id": ["x"], "domain": ["acl"], "label": ["n"]})
    given = {str(i): names.get(answer, answer) for i, answer in enumerate(answers)}
    (pair,) = judge_pairs(candidates, {"x": given}, n_annotators)
    assert (pair.majority, pair.outcome) == (majority, outcome)
    assert (pair.id, pair.domain, pair.automatic, pair.answers) == ("x", "acl", "n", given)


@settings(deadline=None)
@given(st.text("nceru", max_size=5))
def test_later_answers_change_nothing_that_was_decided(answers):
    candidates = pa.table({"id": ["x"], "domain": ["acl"], "label": ["n"]})
    seen = []
    for n in range(len(answers) + 1):
        (pair,) = judge_pairs(candidates, {"x": dict(enumerate(answers[:n]))}, 5)
        seen.append(pair.outcome)
    decided = [x for x in seen if x not in ("not annotated", "not enough answers")]
    assert len(set(decided)) <= 1
    assert seen[0] == "not annotated"
    assert len(answers) < 5 or decided


def test_judging_wants_candidates():
    with pytest.raises(UsageError, match="are not candidates"):
        judge_pairs(make_candidates(), {"other": {}}, 3)


# ------------------------------------------------------------------------------------ agreement


def test_fleiss_kappa_by_hand():
    """Four subjects, three raters: P = (1 + 1/3 + 1 + 0) / 4 = 7/12; categories 5/12, 4/12, 3/12.

    So Pe = (25 + 16 + 9) / 144 = 25/72, and kappa = (7/12 - 25/72) / (1 - 25/72) = 17/47.
    """
    counts = [[3, 0, 0], [1, 0, 2], [0, 3, 0], [1, 1, 1]]
    assert fleiss_kappa(counts) == float(Fraction(17, 47))


def slow_kappa(counts):
    """By the pairs of raters of each subject and of all ratings, as Fleiss defines it."""
    subjects = [[c for c, n in enumerate(row) for _ in range(n)] for row in counts]
    agreement = [
        Fraction(sum(a == b for a, b in pairs), len(pairs))
        for pairs in (list(combinations(subject, 2)) for subject in subjects)
    ]
    ratings = [rating for subject in subjects for rating in subject]
    observed = sum(agreement) / len(agreement)
    chance = Fraction(sum(a == b for a in ratings for b in ratings), len(ratings) ** 2)
    return (observed - chance) / (1 - chance)


def float_kappa(counts):
    """In the steps of statsmodels: by the sums of the table and of its squares, in floats."""
    n_raters = sum(counts[0])
    p_cat = [sum(column) / (n_raters * len(counts)) for column in zip(*counts, strict=True)]
    p_rat = [
        (sum(count * count for count in row) - n_raters) / (n_raters * (n_raters - 1.0))
        for row in counts
    ]
    mean, expected = sum(p_rat) / len(p_rat), sum(p * p for p in p_cat)
    return (mean - expected) / (1 - expected)


@settings(deadline=None)
@given(st.data())
def test_fleiss_kappa_is_that_of_slow_references(data):
    n_raters, n_categories = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 5))
    subject = st.lists(st.integers(0, n_categories - 1), min_size=n_raters, max_size=n_raters).map(
        lambda chosen: [chosen.count(c) for c in range(n_categories)]
    )
    counts = data.draw(st.lists(subject, min_size=1, max_size=8))
    found = fleiss_kappa(counts)
    if sum(map(any, zip(*counts, strict=True))) == 1:
        assert found is None
    else:
        assert found == float(slow_kappa(counts))
        assert found == pytest.approx(float_kappa(counts))
        assert fleiss_kappa(counts[::-1]) == fleiss_kappa([row[::-1] for row in counts]) == found


def test_fleiss_kappa_where_it_is_not_defined():
    assert fleiss_kappa([]) is None
    for counts in ([[1, 0]], [[2, 0], [3, 0]], [[2, 0], [1, 1, 0]], [[3, -1]]):
        with pytest.raises(UsageError):
            fleiss_kappa(counts)


def judged_pair(n, automatic, answers, domain="acl"):
    candidates = pa.table({"id": [f"{n:05d}"], "domain": [domain], "label": [automatic]})
    given = {f"annotator-{i}": answer for i, answer in enumerate(answers, 1)}
    return judge_pairs(candidates, {f"{n:05d}": given}, 3)[0]


def test_agreement_by_hand():
    answers = [
        ("a", "aaa", "x"),
        ("a", "aab", "x"),
        ("a", "bba", "y"),
        ("a", "cba", "y"),
        ("b", "bb", "x"),
        ("b", "uub", "x"),
        ("b", "b", "x"),
        ("b", "", "x"),
    ]
    judged = [
        judged_pair(n, automatic, given.replace("u", "?"), domain)
        for n, (automatic, given, domain) in enumerate(answers)
    ]
    judged[5] = judged_pair(5, "b", ["unclear", "unclear", "b"], "x")
    found = measure_agreement(judged, ("a", "b", "c"), 3)
    assert found.outcomes == {
        KEPT: 3,
        "gold differs": 1,
        "unclear": 1,
        "no majority": 1,
        "not enough answers": 1,
        "not annotated": 1,
    }
    assert found.overall == Share(3, 6)
    assert found.by_class == {"a": Share(2, 4), "b": Share(1, 2), "c": Share(0, 0)}
    assert found.by_domain == {"x": Share(3, 4), "y": Share(0, 2)}
    assert found.without_majority == Share(1, 6)
    assert found.confusion["a"] == {"a": 2, "b": 1, "c": 0, "unclear": 0, "no majority": 1}
    assert found.confusion["b"] == {"a": 0, "b": 1, "c": 0, "unclear": 1, "no majority": 0}
    assert (found.n_for_kappa, found.n_left_out_of_kappa) == (5, 3)
    counts = [[3, 0, 0, 0], [2, 1, 0, 0], [1, 2, 0, 0], [1, 1, 1, 0], [0, 1, 0, 2]]
    assert found.kappa == fleiss_kappa(counts)
    assert found.with_majority == {
        "annotator-1": Share(5, 5),
        "annotator-2": Share(5, 5),
        "annotator-3": Share(1, 4),
    }
    as_json = found.as_json()
    assert json.loads(json.dumps(as_json, allow_nan=False)) == as_json
    assert as_json["overall"] == {"n": 3, "of": 6, "value": 0.5}
    assert as_json["by_class"]["c"]["value"] is None


def test_agreement_of_nothing():
    found = measure_agreement([], LABELS, 3).as_json()
    assert found["kappa"] is None
    assert found["overall"] == {"n": 0, "of": 0, "value": None}


@pytest.mark.parametrize(
    ("per_class", "kept", "no_majority", "published"),
    [
        (2011, (1843, 1501, 1655, 1905), 402, (91.6, 74.6, 82.3, 94.7, 85.8)),
        (1748, (1624, 1453, 1385, 1691), 210, (92.9, 83.1, 79.2, 96.7, 88.0)),
    ],
    ids=["scinli", "mscinli"],
)
def test_the_shares_are_those_of_the_papers(per_class, kept, no_majority, published):
    """The published percentages come out only if all annotated pairs of a class are the whole."""
    answers = {}
    for label, n_kept in zip(LABELS, kept, strict=True):
        other = next(x for x in LABELS if x != label)
        answers[label] = [[label, label, other]] * n_kept
        answers[label] += [[other, other, label]] * (per_class - n_kept)
    left = no_majority
    for label in LABELS:  # some of those that are not kept have no majority
        others = [x for x in LABELS if x != label]
        n = min(left, sum(given[0] != label for given in answers[label]))
        answers[label][per_class - n :] = [[label, *others[:2]]] * n
        left -= n
    pairs = [(label, given) for label in LABELS for given in answers[label]]
    judged = [judged_pair(n, *pair) for n, pair in enumerate(pairs)]
    found = measure_agreement(judged, LABELS, 3)
    assert found.overall == Share(sum(kept), 4 * per_class)
    shares = [*found.by_class.values(), found.overall]
    assert [round(100 * share.value, 1) for share in shares] == list(published)
    assert found.without_majority == Share(no_majority, 4 * per_class)
    assert round(100 * found.without_majority.value) == (5 if per_class == 2011 else 3)
    assert sum(sum(row.values()) for row in found.confusion.values()) == 4 * per_class


# ----------------------------------------------------------------------------------------- gold


def test_gold_counts_every_annotated_pair():
    candidates = make_candidates(per_cell=3)
    rows = candidates.to_pylist()
    other = dict(zip(LABELS, (*LABELS[1:], LABELS[0]), strict=True))
    by_pair = {}
    for n, row in enumerate(rows[:-2]):
        label = row["label"]
        kinds = [[label] * 3, [other[label]] * 3, ["unclear"] * 3]
        kinds += [[label, other[label], "unclear"], [label], []]
        by_pair[row["id"]] = {f"annotator-{i}": a for i, a in enumerate(kinds[n % 6], 1)}
    judged = judge_pairs(candidates, by_pair, 3)
    gold = choose_gold(candidates, judged, LABELS, {"validation": 1, "test": 0})
    kept = gold.rows["id"].to_pylist()
    assert kept == [row["id"] for n, row in enumerate(rows[:-2]) if n % 6 == 0]
    assert gold.rows.schema == candidates.schema
    assert sorted([*kept, *gold.dropped]) == sorted(by_pair)
    assert set(gold.dropped.values()) == set(REASONS)
    assert sum(gold.counts.values()) == len(kept)
    assert gold.missing == {
        cell: max(0, (cell.split == "validation") - gold.counts[cell]) for cell in gold.quotas
    }
    assert not gold.is_complete
    assert choose_gold(candidates, judged, LABELS, {"validation": 0, "test": 0}).is_complete


def test_a_class_without_candidates_is_missing():
    candidates = make_candidates().filter(pa.compute.field("label") != "neutral")
    gold = choose_gold(candidates, [], LABELS, QUOTAS)
    assert gold.missing[Cell("test", "acl", "neutral")] == 4
    draw = draw_batch(candidates, (), gold.missing, 3, seed=1)
    assert draw.short == {
        Cell("test", "acl", "neutral"): 2,
        Cell("validation", "acl", "neutral"): 1,
    }


def test_gold_refuses_what_makes_no_sense():
    candidates = make_candidates()
    with pytest.raises(UsageError, match="no quota for the split validation"):
        choose_gold(candidates, [], LABELS, {"test": 3})
    with pytest.raises(UsageError, match="0 or more"):
        choose_gold(candidates, [], LABELS, {"test": -3, "validation": 1})
    with pytest.raises(UsageError, match="no candidates"):
        choose_gold(candidates.slice(0, 0), [], LABELS, QUOTAS)


def test_judged_pairs_are_values():
    assert judged_pair(1, "a", "aaa") == Judged(
        "00001",
        "acl",
        "a",
        dict.fromkeys(("annotator-1", "annotator-2", "annotator-3"), "a"),
        "a",
        KEPT,
    )
