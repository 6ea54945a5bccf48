"""Predictions that are null stand for no readable answer: wrong, counted, and no label."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference_metrics as slow
from hypothesis import given, settings
from hypothesis import strategies as st
from nlihub.metrics import app_of
from nlihub.metrics.functional import (
    MetricInputError,
    agreement,
    consistency,
    nli_report,
    pattern_accuracy,
)

LABELS = ["a", "b", "c"]
THRESHOLDS = [0.0, 0.5, 0.95, 1.0]

#: Group, gold label, predicted label and that of another system: rows of one label a group.
ANSWERS = st.none() | st.integers(0, 2)
ROWS = st.lists(st.tuples(st.integers(0, 4), ANSWERS, ANSWERS), min_size=1, max_size=30)
#: Rows of groups with two labels, as in BioNLI.
BINARY = st.none() | st.integers(0, 1)
BINARY_ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 1), BINARY, BINARY), min_size=1, max_size=30
)


def exactly(value):
    return pytest.approx(float(value), abs=1e-12)


def named(codes):
    return [None if code is None else LABELS[code] for code in codes]


def recall(predictions, references, label):
    found = [p == label for p, r in zip(predictions, references, strict=True) if r == label]
    return Fraction(sum(found), len(found)) if found else Fraction(0)


def precision(predictions, references, label):
    found = [r == label for p, r in zip(predictions, references, strict=True) if p == label]
    return Fraction(sum(found), len(found)) if found else Fraction(0)


def only_right(first, second, references):
    rows = list(zip(first, second, references, strict=True))
    return sum(a == r != b for a, b, r in rows), sum(b == r != a for a, b, r in rows)


@settings(max_examples=150, deadline=None)
@given(ROWS, st.booleans())
def test_nli_report(rows, as_names):
    groups, predictions, other = map(list, zip(*rows, strict=True))
    references = [group % 3 for group in groups]
    form = named if as_names else list
    found = nli_report(
        form(predictions),
        form(references),
        labels=LABELS,
        by={"g": groups},
        other_predictions=form(other),
        n_resamples=20,
    )
    assert found["n_unanswered"] == predictions.count(None)
    assert found["n_other_unanswered"] == other.count(None)
    assert found["accuracy"] == exactly(slow.accuracy(predictions, references))
    f1 = [slow.f1(predictions, references, label) for label in range(3)]
    assert found["macro_f1"] == exactly(sum(f1) / 3)
    for label, name in enumerate(LABELS):
        of_class = found["per_class"][name]
        assert of_class["f1"] == exactly(f1[label])
        assert of_class["recall"] == exactly(recall(predictions, references, label))
        assert of_class["precision"] == exactly(precision(predictions, references, label))
        assert of_class["n_predictions"] == predictions.count(label)
        assert of_class["n_references"] == references.count(label)
    matrix = np.array(found["confusion_matrix"])
    assert matrix.shape == (3, 3)
    assert matrix.sum() == len(rows) - predictions.count(None)
    for value, part in found["by"]["g"].items():
        few = [row for row in rows if row[0] == int(value)]
        assert part["n_unanswered"] == sum(row[1] is None for row in few)
        assert part["accuracy"] == exactly(
            slow.accuracy([row[1] for row in few], [row[0] % 3 for row in few])
        )
    compared = found["comparison"]
    other_f1 = [slow.f1(other, references, label) for label in range(3)]
    assert compared["macro_f1"]["other"] == exactly(sum(other_f1) / 3)
    assert compared["accuracy"]["other"] == exactly(slow.accuracy(other, references))
    n_only = (compared["accuracy"]["n_only_first"], compared["accuracy"]["n_only_second"])
    assert n_only == only_right(predictions, other, references)


@settings(max_examples=150, deadline=None)
@given(ROWS, st.sampled_from([1, 10**15]), st.booleans())
def test_pattern_accuracy(rows, factor, as_names):
    groups, predictions, other = map(list, zip(*rows, strict=True))
    references = [group % 3 for group in groups]
    form = named if as_names else list
    found = pattern_accuracy(
        form(predictions),
        form(references),
        [group * factor for group in groups],
        labels=LABELS,
        thresholds=THRESHOLDS,
        categories=[group % 2 for group in groups],
        by={"words": [["w", "v"][: 2 - group % 2] for group in groups]},
        other_predictions=form(other),
        per_group=True,
        n_resamples=20,
    )
    expected = [slow.pattern_accuracy(predictions, references, groups, t) for t in THRESHOLDS]
    assert found["pattern_accuracy"] == list(map(exactly, expected))
    assert found["area_under_curve"] == exactly(slow.area(predictions, references, groups))
    assert found["n_unanswered"] == predictions.count(None)
    assert found["n_other_unanswered"] == other.count(None)
    of_groups = slow.group_accuracies(predictions, references, groups)
    assert found["groups"]["accuracy"] == list(map(exactly, of_groups.values()))
    for category, part in found["by_category"].items():
        few = [row for row in rows if row[0] % 2 == category]
        columns = [row[1] for row in few], [row[0] % 3 for row in few], [row[0] for row in few]
        assert part["accuracy"] == exactly(slow.accuracy(*columns[:2]))
        assert part["area_under_curve"] == exactly(slow.area(*columns))
        if category == 0:  # the groups with both words
            assert found["by"]["words"]["v"] == part
    of_other = slow.group_accuracies(other, references, groups)
    compared = found["comparison"]["pattern_accuracy"][-1]
    assert compared["other"] == exactly(slow.pattern_accuracy(other, references, groups, 1))
    only_first = sum(of_groups[group] == 1 != of_other[group] for group in of_groups)
    assert compared["n_only_first"] == only_first


@settings(max_examples=150, deadline=None)
@given(BINARY_ROWS)
def test_consistency(rows):
    groups, references, predictions, other = map(list, zip(*rows, strict=True))
    found = consistency(
        predictions,
        references,
        groups,
        thresholds=THRESHOLDS,
        categories=[["no", "yes"][r] for r in references],
        other_predictions=other,
        per_group=True,
        n_resamples=20,
    )
    expected = [slow.pattern_accuracy(predictions, references, groups, t) for t in THRESHOLDS]
    assert found["consistency"] == list(map(exactly, expected))
    assert found["accuracy"] == exactly(slow.accuracy(predictions, references))
    assert found["f1_positive"] == exactly(slow.f1(predictions, references, 1))
    assert found["f1_negative"] == exactly(slow.f1(predictions, references, 0))
    assert found["n_unanswered"] == predictions.count(None)
    assert found["n_other_unanswered"] == other.count(None)
    of_groups = slow.group_accuracies(predictions, references, groups)
    assert found["groups"]["accuracy"] == list(map(exactly, of_groups.values()))
    assert found["n_wholly_solved"] == sum(share == 1 for share in of_groups.values())
    pairs = slow.by_group(groups, predictions, references).values()
    for label, key in ((1, "n_positive_right"), (0, "n_negatives_right")):
        of_label = [[p == r for p, r in pair if r == label] for pair in pairs]
        assert found[key] == sum(bool(right) and all(right) for right in of_label)
    for label, category in enumerate(("no", "yes")):
        if label in references:
            share = found["recall_by_category"][category]["recall"]
            assert share == exactly(recall(predictions, references, label))
    sides, perfect = slow.larger_sides(predictions, references, groups)
    larger = found["larger_side"]
    assert larger["consistency"] == [exactly(slow.share_reached(sides, t)) for t in THRESHOLDS]
    assert larger["perfect"]["area_under_curve"] == exactly(sum(perfect) / len(perfect))
    compared = found["comparison"]["macro_f1"]["other"]
    assert compared == exactly(sum(slow.f1(other, references, i) for i in (0, 1)) / 2)
    # Every answer that is missing differs from all others of its group.
    distinct = [i + 10 if p is None else p for i, p in enumerate(predictions)]
    pairwise = slow.pairwise_agreement(distinct, groups)
    agreed = found["agreement"]
    assert agreed["pairwise"] == (None if pairwise is None else exactly(pairwise))
    alone = agreement(predictions, groups)
    assert alone == agreed | {"n_unanswered": predictions.count(None)}


KINDS = {
    "list": list,
    "arrow": pa.array,
    "chunked": lambda values: pa.chunked_array([values[:2], values[2:]], pa.string()),
    "dictionary": lambda values: pa.array(values).dictionary_encode(),
    "null in the dictionary": lambda values: pa.DictionaryArray.from_arrays(
        pa.array([["a", "b", None].index(value) for value in values]), ["a", "b", None]
    ),
    "objects": lambda values: np.array(values, object),
    "pandas": pd.Series,
    "pandas NaN": lambda values: pd.Series(values, dtype=object).fillna(np.nan),
    "pandas category": lambda values: pd.Series(values, dtype="category"),
    "polars": pl.Series,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [None, LABELS])
def test_every_kind_of_null(kind, labels):
    answers = KINDS[kind](["a", None, "b", None])
    found = pattern_accuracy(answers, list("aabb"), [1, 1, 2, 2], labels=labels)
    assert (found["accuracy"], found["n_unanswered"]) == (0.5, 2)
    assert found["signature"].endswith("|groups:2|samples:4|unanswered:2")


@pytest.mark.parametrize(
    "answers",
    [
        [0, None, 1, None],
        pa.array([0, None, 1, None], pa.int8()),
        pa.array([0, None, 1, None], pa.uint64()),
        pd.Series([0, None, 1, None], dtype="Int64"),
        pl.Series([0, None, 1, None]),
        np.ma.array([0, 9, 1, 9], mask=[0, 1, 0, 1]),
        [np.int8(0), None, np.uint64(1), None],
        np.array([0, None, 1, None], object),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("labels", [None, [str(i) for i in range(200)]])
def test_nulls_among_numbers(answers, labels):
    found = pattern_accuracy(answers, [0, 0, 1, 1], [1, 1, 2, 2], labels=labels)
    assert (found["accuracy"], found["n_unanswered"]) == (0.5, 2)


NO_ANSWERS = {
    "list": [None] * 4,
    "integers": pa.nulls(4, pa.int64()),
    "strings": pa.nulls(4, pa.string()),
    "floats": pd.Series([np.nan] * 4),
    "objects": pd.Series([None] * 4, dtype=object),
    "dictionary": pa.nulls(4).cast(pa.string()).dictionary_encode(),
}


@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_a_system_that_answers_nothing(kind):
    answers, groups = NO_ANSWERS[kind], [1, 1, 2, 2]
    for references in ([0, 0, 1, 1], [700, 700, 99, 99], list("bbaa")):
        found = pattern_accuracy(answers, references, groups, confidence_level=0.9)
        assert (found["accuracy"], found["n_unanswered"]) == (0.0, 4)
        assert found["confidence_intervals"]["pattern_accuracy"] is None
    found = nli_report(answers, [0, 0, 1, 1], labels=LABELS)
    assert (found["macro_f1"], found["confusion_matrix"]) == (0.0, [[0] * 3] * 3)
    found = consistency(answers, [0, 1, 0, 1], groups)
    assert (found["consistency"], found["f1_negative"]) == (0.0, 0.0)
    found = agreement(answers, groups)
    assert (found["pairwise"], found["majority"], found["unanimous"]) == (0.0, 0.0, 0.0)


def test_labels_outside_the_set_are_listed_without_the_nulls():
    message = r"predictions: outside the label set in 1 of 4 rows: 2 \({}\)"
    for answers, shown in (([0, None, 7, None], "7"), (["a", None, "x", None], "'x'")):
        with pytest.raises(MetricInputError, match=message.format(shown)):
            nli_report(answers, [0, 0, 0, 0], labels=LABELS)
    with pytest.raises(MetricInputError, match=r"negative in 1 of 3 rows: 2 \(-1\)"):
        agreement([0, None, -1], [1, 1, 1])
    with pytest.raises(MetricInputError, match=r"1 of 3 rows: 2 \(True\)"):
        agreement([0, None, True], [1, 1, 1])
    with pytest.raises(MetricInputError, match=r"type double in 1 of 3 rows: 1 .* type Int64"):
        agreement(pd.Series([0, None, 1]), [1, 1, 1])


def test_tables_show_them_only_where_there_are_some():
    app, gold = app_of("nli_report"), ["a", "b"]
    shown = app.scores(nli_report(["a", None], gold, labels=LABELS, other_predictions=gold))
    head, *_, last = shown
    assert last[:2] == ["without an answer", 1]
    assert last[head.index("other")] == 0
    assert len(last) == len(head)
    shown = app.scores(nli_report(gold, gold, labels=LABELS, other_predictions=["a", None]))
    assert shown[-1][:2] == ["without an answer", 0]
    shown = app.scores(nli_report(gold, gold, labels=LABELS))
    assert [row[0] for row in shown] == ["score", "macro-F1", "accuracy", "samples"]


def test_signatures_count_them():
    gold = ["a", "b"]
    found = nli_report(gold, gold, labels=LABELS, other_predictions=["a", None], n_resamples=5)
    assert "|samples:2|other_unanswered:1|test" in found["signature"]
    assert json.loads(json.dumps(found)) == found
