"""Annotation from the first batch to the gold splits, by annotators who err at given rates."""

import csv
import json
import random
from collections import Counter

import pyarrow as pa
import pytest
from nlihub.builders.annotation.agreement import measure_agreement
from nlihub.builders.annotation.answers import add_answers, read_answers
from nlihub.builders.annotation.batches import check_batches, export_batch, read_annotation_batches
from nlihub.builders.annotation.candidates import cells_of, check_candidates, draw_batch
from nlihub.builders.annotation.gold import choose_gold, judge_pairs
from nlihub.builders.annotation.sheets import SHEET_COLUMNS, read_sheet, write_sheet

LABELS = ("contrasting", "reasoning", "entailment", "neutral")
DOMAINS = ("hardware", "networks")
QUOTAS = {"validation": 10, "test": 20}
#: How often the linking phrase tells the relation, as in SciNLI's Table 3.
SOUND = {"contrasting": 0.92, "reasoning": 0.75, "entailment": 0.82, "neutral": 0.95}
#: How often an annotator does not see it, and how often none is sure.
ERRORS = {"annotator-1": 0.05, "annotator-2": 0.12, "annotator-3": 0.25}
UNCLEAR = 0.03
N_ANNOTATORS = 3


def make_pairs(rng, per_cell):
    rows = [
        {
            "id": f"{domain}/{split}/{label}/{k}",
            "premise": f"Model {rng.randrange(10**9)} is trained.",
            "hypothesis": f"-- it has {rng.randrange(10**9)} weights",
            "label": label,
            "domain": domain,
            "split": split,
        }
        for split in QUOTAS
        for domain in DOMAINS
        for label in LABELS
        for k in range(per_cell)
    ]
    rng.shuffle(rows)
    truth = {
        row["id"]: row["label"]
        if rng.random() < SOUND[row["label"]]
        else rng.choice([label for label in LABELS if label != row["label"]])
        for row in rows
    }
    return pa.Table.from_pylist(rows), truth


def answer(rng, truth, error_rate):
    if rng.random() < UNCLEAR:
        return "Unclear"
    if rng.random() < error_rate:
        return rng.choice([label for label in LABELS if label != truth])
    return truth


def annotate(batch, truth, rng, folder):
    """Fills the batch in, by sheets in odd rounds and in Label Studio in even ones."""
    folder.mkdir()
    if int(batch.folder.name[-3:]) % 2:
        for name, error_rate in ERRORS.items():
            rows, _ = read_sheet(batch.sheets / f"{name}.csv", SHEET_COLUMNS)
            filled = [
                [
                    row["id"],
                    row["premise"],
                    row["hypothesis"],
                    answer(rng, truth[batch.pairs[row["id"]].id], error_rate),
                ]
                for _, row in rows
            ]
            write_sheet(folder / f"{name}.csv", SHEET_COLUMNS, filled)
        return sorted(folder.iterdir())
    tasks = json.loads((batch.sheets / "tasks.json").read_text())
    for task in tasks:
        task["annotations"] = [
            {
                "completed_by": number,
                "was_cancelled": False,
                "result": [
                    {
                        "from_name": "answer",
                        "type": "choices",
                        "value": {
                            "choices": [
                                answer(rng, truth[batch.pairs[task["data"]["pair"]].id], error_rate)
                            ]
                        },
                    }
                ],
            }
            for number, error_rate in enumerate(ERRORS.values(), 1)
        ]
    (folder / "project-1-at-2025.json").write_text(json.dumps(tasks))
    return sorted(folder.iterdir())


def take_stock(candidates, folder):
    batches = read_annotation_batches(folder)
    check_batches(batches, candidates)
    judged = judge_pairs(candidates, read_answers(batches).by_pair, N_ANNOTATORS)
    return batches, judged, choose_gold(candidates, judged, LABELS, QUOTAS)


def test_three_rounds_fill_the_quotas(tmp_path):
    rng = random.Random(4)
    candidates, truth = make_pairs(rng, per_cell=60)
    check_candidates(candidates, LABELS)
    folder = tmp_path / "batches"
    n_kept = []
    for round_ in range(1, 4):
        batches, judged, gold = take_stock(candidates, folder)
        assert len(batches) == round_ - 1
        assert not gold.is_complete
        done = [id_ for batch in batches for id_ in batch.ids]
        draw = draw_batch(candidates, done, gold.missing, 20, seed=11)
        assert not draw.short
        drawn = Counter((cell.domain, cell.label) for cell in cells_of(draw.pairs))
        needed = {(cell.domain, cell.label) for cell, n in gold.missing.items() if n}
        assert drawn == dict.fromkeys(needed, 20)
        batch = export_batch(folder, batches, draw.pairs, LABELS, N_ANNOTATORS)
        files = annotate(batch, truth, rng, tmp_path / f"back-{round_}")
        answers = add_answers(read_annotation_batches(folder), batch, files)
        assert not any(answers.not_answered.values())
        n_kept.append(len(gold.rows))
    batches, judged, gold = take_stock(candidates, folder)
    assert gold.is_complete
    n_annotated = sum(len(batch.pairs) for batch in batches)
    assert len(gold.rows) + len(gold.dropped) == len(judged) == n_annotated
    assert n_kept == sorted(n_kept)
    assert all(gold.counts[cell] >= quota for cell, quota in gold.quotas.items())
    # The kept are nearly all sound, though a fifth of the automatic labels is not.
    ids, labels = gold.rows["id"].to_pylist(), gold.rows["label"].to_pylist()
    sound = sum(truth[id_] == label for id_, label in zip(ids, labels, strict=True))
    assert sound / len(ids) > 0.98
    found = measure_agreement(judged, LABELS, N_ANNOTATORS)
    assert found.n_for_kappa == n_annotated
    assert 0.5 < found.kappa < 0.85
    assert found.by_class["reasoning"].value < found.by_class["neutral"].value
    by_sheet = [found.with_majority[name].value for name in ERRORS]
    assert by_sheet == sorted(by_sheet, reverse=True)
    assert set(found.with_majority) == {*ERRORS, "1", "2", "3"}


def test_what_is_left_is_said_when_candidates_run_out(tmp_path):
    candidates, truth = make_pairs(random.Random(0), per_cell=12)
    rng = random.Random(1)
    for round_ in range(10):
        batches, _, gold = take_stock(candidates, tmp_path / "batches")
        done = [id_ for batch in batches for id_ in batch.ids]
        draw = draw_batch(candidates, done, gold.missing, 15, seed=0)
        if not draw.pairs.num_rows:
            break
        batch = export_batch(tmp_path / "batches", batches, draw.pairs, LABELS, N_ANNOTATORS)
        files = annotate(batch, truth, rng, tmp_path / f"back-{round_}")
        add_answers(read_annotation_batches(tmp_path / "batches"), batch, files)
    assert not gold.is_complete
    assert draw.short
    assert set(draw.short) <= {cell for cell, n in gold.missing.items() if n}


@pytest.mark.parametrize("n_batches", [1, 2])
def test_a_later_session_needs_the_folder_alone(tmp_path, n_batches):
    """The folder can be moved, and what it held is read again, row by row."""
    candidates, truth = make_pairs(random.Random(0), per_cell=30)
    rng = random.Random(1)
    for round_ in range(n_batches):
        batches, _, gold = take_stock(candidates, tmp_path / "here")
        done = [id_ for batch in batches for id_ in batch.ids]
        pairs = draw_batch(candidates, done, gold.missing, 6, seed=0).pairs
        batch = export_batch(tmp_path / "here", batches, pairs, LABELS, N_ANNOTATORS)
        files = annotate(batch, truth, rng, tmp_path / f"back-{round_}")
        add_answers(read_annotation_batches(tmp_path / "here"), batch, files)
    before = take_stock(candidates, tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    after = take_stock(candidates, tmp_path / "there")
    assert after[1] == before[1]
    assert after[2].rows == before[2].rows
    with (tmp_path / "there" / "batch-001" / "key.csv").open(encoding="utf-8-sig") as file:
        assert {row["id"] for row in csv.DictReader(file)} == after[0][0].ids
