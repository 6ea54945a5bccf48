"""Scores by the values of any column: each is the score of the rows that have the value."""

import datetime
import decimal

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import reference_metrics as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from nlihub.metrics.functional import MetricInputError, nli_report, pattern_accuracy
from nlihub.metrics.inputs.groups import MAX_VALUES

LABELS = ["entailment", "neutral", "contradiction"]

#: A value, and what it is called in the results.
PLAIN = st.one_of(st.none(), st.sampled_from(["in", "on", "far from", ""]))
LISTS = st.one_of(st.none(), st.lists(st.sampled_from(["in", "on", "at"]), max_size=4))
ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 5), PLAIN, LISTS),
    min_size=1,
    max_size=40,
)


def has_value(row_value, value):
    """Whether a row counts under a value, as the documentation says."""
    if value == "(none)":
        return row_value is None or row_value == []
    return value in row_value if isinstance(row_value, list) else row_value == value


def values_of(column):
    flat = [v for cell in column for v in (cell if isinstance(cell, list) else [cell])]
    empty = any(has_value(cell, "(none)") for cell in column)
    return sorted({v for v in flat if v is not None}) + ["(none)"] * empty


def with_values(plain, lists):
    """The columns that have a value in some row."""
    text = pa.string()
    columns = {"plain": pa.array(plain, text), "lists": pa.array(lists, pa.list_(text))}
    return {name: c for name, c in columns.items() if values_of(c.to_pylist()) != ["(none)"]}


@settings(max_examples=150, deadline=None)
@given(ROWS)
def test_scores_of_a_value_are_those_of_its_rows(rows):
    """Parity of the NLI report with the same function on the rows picked one by one."""
    predictions, references, _, plain, lists = map(list, zip(*rows, strict=True))
    columns = with_values(plain, lists)
    names = [*columns, *(["plain+lists"] if len(columns) == 2 else [])]
    result = nli_report(predictions, references, labels=LABELS, by=names, data=columns)
    assert list(result["by"]) == names
    for name in names:
        parts = [columns[part].to_pylist() for part in name.split("+")]
        expected = {}
        for first in values_of(parts[0]):
            for second in values_of(parts[1]) if len(parts) == 2 else [None]:
                chosen = [
                    i
                    for i in range(len(rows))
                    if has_value(parts[0][i], first)
                    and (second is None or has_value(parts[1][i], second))
                ]
                if chosen:
                    value = first if second is None else f"{first}+{second}"
                    of_rows = nli_report(
                        [predictions[i] for i in chosen],
                        [references[i] for i in chosen],
                        labels=LABELS,
                    )
                    expected[value] = {k: v for k, v in of_rows.items() if k != "signature"}
        assert result["by"][name] == expected
        assert list(result["by"][name]) == list(expected)


@settings(max_examples=150, deadline=None)
@given(ROWS)
def test_patterns_of_a_value_in_exact_arithmetic(rows):
    predictions, golds, groups, plain, lists = map(list, zip(*rows, strict=True))
    references = [(group * 2) % 3 for group in groups]
    predictions = [r if g else p for p, r, g in zip(predictions, references, golds, strict=True)]
    first = {group: i for i, group in reversed(list(enumerate(groups)))}
    plain = [plain[first[group]] for group in groups]  # the same in a pattern; lists may differ
    columns = with_values(plain, lists)
    for ids in (groups, [f"pattern {g}" for g in groups], [g * 10**12 for g in groups]):
        result = pattern_accuracy(
            predictions, references, ids, thresholds=[0.5, 1.0], by=list(columns), data=columns
        )
        for name, column in columns.items():
            cells = column.to_pylist()
            assert list(result["by"][name]) == values_of(cells)
            for value, found in result["by"][name].items():
                chosen = [i for i, cell in enumerate(cells) if has_value(cell, value)]
                args = [[c[i] for i in chosen] for c in (predictions, references, ids)]
                assert found["pattern_accuracy"] == [
                    float(reference.pattern_accuracy(*args, t)) for t in (0.5, 1)
                ]
                assert found["accuracy"] == float(reference.accuracy(*args[:2]))
                assert found["area_under_curve"] == pytest.approx(float(reference.area(*args)))
                assert found["n_samples"] == len(chosen)
                assert found["n_groups"] == len(set(args[2]))


def test_domains_and_categories_are_broken_down_by_the_same_rule():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 30, 600)
    references = groups % 3
    predictions = np.where(rng.random(600) < 0.7, references, 0)
    kinds = np.array(["a", "b", "c"])[groups // 10]
    options = {"labels": LABELS, "confidence_level": 0.9, "n_resamples": 99, "by": {"kind": kinds}}
    report = nli_report(predictions, references, domains=kinds, **options)
    assert report["by"]["kind"] == report["by_domain"]
    patterns = pattern_accuracy(predictions, references, groups, categories=kinds, **options)
    assert patterns["by"]["kind"] == patterns["by_category"]
    assert patterns["by"]["kind"]["a"]["n_groups"] == 10
    for result in (report, patterns):
        assert result["by"]["kind"]["a"]["confidence_intervals"]["accuracy"]
        assert "|by:kind|" in result["signature"]
    assert "|by:" not in nli_report(predictions, references, labels=LABELS)["signature"]


VALUES = {
    "truth values": ([True, False, None, True], ["false", "true", "(none)"]),
    "numbers in their order": ([10, 9, 10, 2], ["2", "9", "10"]),
    "fractions": ([0.5, 0.25, 0.5, 0.5], ["0.25", "0.5"]),
    "decimals": ([decimal.Decimal("1.5")] * 4, ["1.5"]),
    "dates": ([datetime.date(2020, 1, 2)] * 4, ["2020-01-02"]),
    "lists of numbers": ([[10, 9], [9], [], [None]], ["9", "10", "(none)"]),
    "fixed lists": (pa.array([["b", "a"]] * 4, pa.list_(pa.string(), 2)), ["a", "b"]),
    "dictionary": (pa.array(["b", None, "a", "b"]).dictionary_encode(), ["a", "b", "(none)"]),
    "unused in the dictionary": (
        pa.DictionaryArray.from_arrays(pa.array([1, 1, 0, 1], pa.int8()), ["b", "a", "c"]),
        ["a", "b"],
    ),
    "pandas with lists": (pd.Series([["b"], ["a", "b"], [], None]), ["a", "b", "(none)"]),
    "polars": (pl.Series(["b", None, "a", "b"]), ["a", "b", "(none)"]),
    "polars with lists": (pl.Series([["b"], ["a", "b"], [], None]), ["a", "b", "(none)"]),
    "NumPy": (np.array([2, 1, 2, 2], np.uint8), ["1", "2"]),
    "chunks": (pa.chunked_array([["b"], ["a", "b", "a"]]), ["a", "b"]),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_every_kind_are_shown_as_text(kind):
    column, expected = VALUES[kind]
    result = nli_report([0, 1, 1, 0], [0, 1, 0, 0], labels=LABELS, by={"x": column})
    assert list(result["by"]["x"]) == expected


def test_classes_of_a_dataset_are_shown_in_their_order():
    features = datasets.Features(
        {
            "gold": datasets.ClassLabel(names=["yes", "no"]),
            "words": datasets.List(datasets.Value("string")),
        }
    )
    rows = {"gold": [1, 0, 1], "words": [["in"], [], ["in", "on"]]}
    data = datasets.Dataset.from_dict(rows, features=features)
    found = nli_report([1, 1, 1], "gold", by=["gold", "words+gold"], data=data)["by"]
    assert {value: part["accuracy"] for value, part in found["gold"].items()} == {"yes": 0, "no": 1}
    assert list(found["words+gold"]) == ["in+no", "on+no", "(none)+yes"]
    unlabelled = data.map(lambda row: {"gold": -1 if row["gold"] else 0})
    found = nli_report([1, 1, 1], [1, 1, 1], labels=["yes", "no"], by="gold", data=unlabelled)["by"]
    assert list(found["gold"]) == ["yes", "(none)"]


def test_a_column_may_have_a_plus_and_another_name():
    data = {"a+b": ["x", "y"], "a": [1, 2]}
    found = nli_report([0, 1], [0, 0], labels=LABELS, by={"n": "a+b", "m": "a"}, data=data)["by"]
    assert {name: list(parts) for name, parts in found.items()} == {
        "n": ["x", "y"],
        "m": ["1", "2"],
    }


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("kind", "by: 'kind' names a column, and there is no data"),
        (["a", "b"], "by: 'a' names a column, and there is no data"),
        ([1, 2], "by: is a list; expected names of columns of data, or a mapping"),
        (np.array([1, 2]), "by: is a ndarray"),
        ({1: [1, 2]}, "by: is a dict"),
        ({"x": [1, 2, 3]}, "by x: has 3 rows, references has 2"),
        ({"x": [None, None]}, "by x: has no value in any row"),
        ({"x": [[], None]}, "by x: has no value in any row"),
        (
            {"x": [{"y": 1}, {"y": 2}]},
            r"by x: holds values of type struct<y: int64>; expected text",
        ),
        ({"x": [[[1]], [[2]]]}, r"by x: holds values of type list"),
        ({"x": ["(none)", None]}, r"by x: has different values that are both shown as '\(none\)'"),
        ({"x": 7}, "by x: is 7, a int, not a column"),
    ],
)
def test_what_cannot_be_broken_down_by_is_refused(by, message):
    for metric, columns in ((nli_report, ([0, 1], [0, 1])), (pattern_accuracy, ([0, 1],) * 3)):
        with pytest.raises(MetricInputError, match=message):
            metric(*columns, labels=LABELS, by=by)


def test_texts_and_ids_have_too_many_values():
    n = MAX_VALUES + 1
    labels = [0] * n
    message = f"by x: has {n} different values; expected {MAX_VALUES} at most"
    for column in (range(n), [[str(i)] for i in range(n)]):
        with pytest.raises(MetricInputError, match=message):
            nli_report(labels, labels, labels=LABELS, by={"x": list(column)})
    nearly = [min(i, n - 2) for i in range(n)]
    assert len(nli_report(labels, labels, labels=LABELS, by={"x": nearly})["by"]["x"]) == MAX_VALUES
    columns = {"a": [i % 300 for i in range(n)], "b": [i // 300 for i in range(n)]}
    with pytest.raises(MetricInputError, match=r"by a\+b: has 501 different"):
        nli_report(labels, labels, labels=LABELS, by="a+b", data=columns)
    with pytest.raises(MetricInputError, match="by c: there is no column 'c' in data; it has a, b"):
        nli_report(labels, labels, labels=LABELS, by=["a", "c"], data=columns)


def test_pairs_that_are_shown_alike_are_refused():
    data = {"x": ["a+b", "a"], "y": ["c", "b+c"]}
    with pytest.raises(MetricInputError, match=r"both shown as 'a\+b\+c'"):
        nli_report([0, 0], [0, 0], labels=LABELS, by="x+y", data=data)


def test_a_pattern_has_one_value_unless_it_is_a_list():
    labels, groups = [0, 0, 0, 0], ["p", "p", "q", "q"]
    with pytest.raises(
        MetricInputError, match=r"by kind: not the same .* 'p' \(row 0: a, row 1: b\)"
    ):
        pattern_accuracy(labels, labels, groups, by={"kind": ["a", "b", "a", "a"]})
    words = [["in"], ["in", "on"], ["in"], ["in"]]
    found = pattern_accuracy([0, 1, 0, 0], labels, groups, thresholds=0.5, by={"words": words})[
        "by"
    ]
    assert {
        value: (part["n_groups"], part["n_samples"]) for value, part in found["words"].items()
    } == {
        "in": (2, 4),
        "on": (1, 1),
    }
    assert found["words"]["on"]["pattern_accuracy"] == 0.0
