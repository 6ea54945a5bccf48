"""Tests of the differences between systems on a test set, and intervals of their scores."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ...metrics.functional import paired_t_test
from ...metrics.rows import Rows, show_p_value
from ..evaluation.gold import Gold
from ..evaluation.predictions import check_predictions, fill_unanswered, join_predictions
from ..evaluation.scoring import ScoringOptions, score_predictions
from .read_runs import Evaluation, read_columns
from .scores import percent, score_title, signed
from .systems import Benchmark, System

#: Number of pairs of six systems; of more pairs only those with the best system are shown.
_MAX_PAIRS = 15

#: Thresholds of the scores that systems are compared by.
_THRESHOLDS = {"pattern_accuracy": 0.95, "consistency": 1.0}

T_TEST = "t-test: p (Holm)"
BOOTSTRAP = "bootstrap: p (Holm)"
MCNEMAR = "McNemar: p (Holm)"


def difference_table(
    benchmark: Benchmark, gold: Gold | None, level: float | None = None
) -> Rows | None:
    """Test the differences between systems on a test set, pair by pair.

    The paired t-test is over the seeds that both systems have. The tests on rows compare the median
    runs by the first score (see ``Benchmark.middle_run``), since the rows of several seeds are not
    independent: a bootstrap, and McNemar's test where the score is a share of rows, or of the
    patterns or mechanisms that rows belong to. Holm's method corrects all p-values for all pairs.

    Args:
        benchmark: The test set, with its systems.
        gold: The rows of the test set; None leaves the tests on rows out.
        level: Confidence level of the intervals of differences, above 0 and below 1; None leaves
            them out.

    Returns:
        A row for each pair and score; of more than 15 pairs only those with the best system. None
        if nothing can be tested.

    Raises:
        PredictionsError: Predictions cannot be read, or do not match the rows.

    Source: SciNLI, Table 6, and MSciNLI, Table 4: paired t-test over the seeds.
    """
    pairs = list(itertools.combinations(benchmark.ranked, 2))
    on_rows = _test_rows(benchmark, pairs, gold, level) if gold is not None else [{}] * len(pairs)
    tests = {
        score: [
            _test_seeds(benchmark, pair, score) | found.get(score, {})
            for pair, found in zip(pairs, on_rows, strict=True)
        ]
        for score in benchmark.compared
    }
    known = {name for found in tests.values() for cells in found for name in cells}
    on_seeds = ("difference of means", "seeds", T_TEST)
    order = (*on_seeds, "difference on rows", _interval(level), BOOTSTRAP, MCNEMAR)
    columns = [name for name in order if name in known]
    for found, name in itertools.product(tests.values(), (T_TEST, BOOTSTRAP, MCNEMAR)):
        _correct(found, name)
    n_shown = len(pairs) if len(pairs) <= _MAX_PAIRS else len(benchmark.systems) - 1
    rows: Rows = [["system", "against", "score", *columns]]
    for i, (first, second) in enumerate(pairs[:n_shown]):
        for score, found in tests.items():
            cells = [found[i].get(name, "") for name in columns]
            rows.append([first.name, second.name, score_title(score), *cells])
    return rows if known else None


def _interval(level: float | None) -> str:
    return f"{100 * (level or 0):g} % interval"


def _test_seeds(benchmark: Benchmark, pair: tuple[System, System], score: str) -> dict[str, Any]:
    """Return the paired t-test as cells, with the uncorrected p-value."""
    ours, theirs = map(benchmark.evaluations, pair)
    seeds = [seed for seed in ours if seed in theirs]
    if len(seeds) < 2:
        return {}
    found = paired_t_test(*([run[seed].scores[score] for seed in seeds] for run in (ours, theirs)))
    difference = signed(found["difference"])
    return {"difference of means": difference, "seeds": len(seeds), T_TEST: found["p_value"]}


def _test_rows(
    benchmark: Benchmark, pairs: Sequence[tuple[System, System]], gold: Gold, level: float | None
) -> list[dict[str, dict[str, Any]]]:
    """Return for each pair the tests on rows by score, as cells with uncorrected p-values."""
    tables = {s.name: aligned_predictions(benchmark.middle_run(s), gold) for s in benchmark.systems}
    compared = (
        _score_rows(benchmark, gold, level, tables[first.name], tables[second.name])["comparison"]
        for first, second in pairs
    )
    return [{s: _cells(_of(found, s), level) for s in benchmark.compared} for found in compared]


def _score_rows(
    benchmark: Benchmark, gold: Gold, level: float | None, first: pa.Table, *second: pa.Table
) -> Mapping[str, Any]:
    """Compute the metric that systems are compared by, for one system or two."""
    metric = benchmark.metric
    options = ScoringOptions(_THRESHOLDS.get(metric), level)
    return score_predictions(gold.rows, gold.labels, [metric], first, options, *second)[metric]


def _of(found: Mapping[str, Any], score: str) -> Any:
    """Return the entry of a score; entries at a threshold are lists, here of length one."""
    name, _, threshold = score.partition(" ")
    return found[name][0] if threshold else found[name]


def _cells(found: Mapping[str, Any], level: float | None) -> dict[str, Any]:
    cells = {"difference on rows": signed(found["difference"]), BOOTSTRAP: found["p_value"]}
    if level is not None:
        cells[_interval(level)] = " to ".join(map(signed, found["interval"] or ()))
    if "mcnemar" in found:
        cells[MCNEMAR] = found["mcnemar"]["p_value"]
    return cells


def aligned_predictions(evaluation: Evaluation, gold: Gold) -> pa.Table:
    """Read a run's predictions in the order of the rows; a missing one becomes a wrong label.

    Args:
        evaluation: The run on the test set.
        gold: The rows of the test set.

    Raises:
        PredictionsError: The predictions cannot be read, are malformed, or do not match the rows.
    """
    name = str(evaluation.file)
    predictions = read_columns(evaluation.file, "id", "prediction")
    predictions = join_predictions(gold.rows, predictions, name)
    predictions, _ = fill_unanswered(gold, predictions)
    check_predictions(predictions, gold.labels, name)
    return predictions


def _correct(cells: Sequence[dict[str, Any]], name: str) -> None:
    """Replace p-values by texts: the value, and its correction by Holm's method."""
    values = [found.get(name) for found in cells]
    n_tests = sum(value is not None for value in values)
    for found, p_value, corrected in zip(cells, values, holm(values), strict=True):
        found[name] = show_p_value(p_value)
        if p_value is not None and n_tests > 1:
            found[name] += f" ({show_p_value(corrected)})"


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for several tests by Holm's method.

    Args:
        p_values: A value a test, from 0 to 1; None where nothing could be tested, which does not
            count as a test.

    Returns:
        The corrected values, from 0 to 1, in the same order; None stays None.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).

    Example:
        >>> holm([0.01, 0.04, None, 0.03])
        [0.03, 0.06, None, 0.06]
    """
    order = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p_value, i) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_value))
        corrected[i] = highest
    return corrected


def interval_table(benchmark: Benchmark, gold: Gold, level: float) -> Rows:
    """Tabulate bootstrap intervals of the systems' scores, each of the system's median run.

    Args:
        benchmark: The test set, with its systems.
        gold: The rows of the test set.
        level: Confidence level, above 0 and below 1.

    Raises:
        PredictionsError: Predictions cannot be read, or do not match the rows.
    """
    rows: Rows = [["system", "seed", "score", "value", _interval(level)]]
    for system in benchmark.ranked:
        run = benchmark.middle_run(system)
        [seed] = [s for s, found in benchmark.evaluations(system).items() if found is run]
        found = _score_rows(benchmark, gold, level, aligned_predictions(run, gold))
        for score in benchmark.compared:
            ends = " to ".join(map(percent, _of(found["confidence_intervals"], score) or ()))
            value = percent(run.scores[score])
            rows.append([system.name, seed, score_title(score), value, ends])
    return rows
