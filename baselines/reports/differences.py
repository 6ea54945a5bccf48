"""Systems on a test set compared two at a time, and intervals of their scores."""

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

#: Of more pairs than six systems have, those with the best one are shown.
_MAX_PAIRS = 15

#: Of the scores that systems are compared by.
_THRESHOLDS = {"pattern_accuracy": 0.95, "consistency": 1.0}

T_TEST = "t-test: p (Holm)"
BOOTSTRAP = "bootstrap: p (Holm)"
MCNEMAR = "McNemar: p (Holm)"


def difference_table(
    benchmark: Benchmark, gold: Gold | None, level: float | None = None
) -> Rows | None:
    """Tests for the systems on a test set, two at a time.

    The paired t-test is over the seeds that both have. The tests on rows compare the runs that are
    in the middle by the first score (see ``Benchmark.middle_run``), since the rows of several seeds
    are no independent rows: a bootstrap, and McNemar's test where the score is a share of rows, or
    of the patterns or mechanisms that rows belong to. All p-values are corrected by Holm's method
    for all pairs.

    Args:
        benchmark: The test set.
        gold: Its rows; None leaves the tests on rows out.
        level: Of the intervals of differences on the rows; None shows none.

    Returns:
        A row a pair and score; only pairs with the best system where there are more than 15. None
        where nothing can be tested.

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
    told = {name for found in tests.values() for cells in found for name in cells}
    on_seeds = ("difference of means", "seeds", T_TEST)
    order = (*on_seeds, "difference on rows", _interval(level), BOOTSTRAP, MCNEMAR)
    columns = [name for name in order if name in told]
    for found, name in itertools.product(tests.values(), (T_TEST, BOOTSTRAP, MCNEMAR)):
        _correct(found, name)
    n_shown = len(pairs) if len(pairs) <= _MAX_PAIRS else len(benchmark.systems) - 1
    rows: Rows = [["system", "against", "score", *columns]]
    for i, (first, second) in enumerate(pairs[:n_shown]):
        for score, found in tests.items():
            cells = [found[i].get(name, "") for name in columns]
            rows.append([first.name, second.name, score_title(score), *cells])
    return rows if told else None


def _interval(level: float | None) -> str:
    return f"{100 * (level or 0):g} % interval"


def _test_seeds(benchmark: Benchmark, pair: tuple[System, System], score: str) -> dict[str, Any]:
    """The paired t-test as cells, the p-value not yet corrected."""
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
    """For each pair the tests on rows by score, as cells, the p-values not yet corrected."""
    tables = {s.name: aligned_predictions(benchmark.middle_run(s), gold) for s in benchmark.systems}
    compared = (
        _score_rows(benchmark, gold, level, tables[first.name], tables[second.name])["comparison"]
        for first, second in pairs
    )
    return [{s: _cells(_of(found, s), level) for s in benchmark.compared} for found in compared]


def _score_rows(
    benchmark: Benchmark, gold: Gold, level: float | None, first: pa.Table, *second: pa.Table
) -> Mapping[str, Any]:
    """What the metric that systems are compared by says of one, or of two."""
    metric = benchmark.metric
    options = ScoringOptions(_THRESHOLDS.get(metric), level)
    return score_predictions(gold.rows, gold.labels, [metric], first, options, *second)[metric]


def _of(found: Mapping[str, Any], score: str) -> Any:
    """What is said of a score; those at a threshold are lists, here of one."""
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
    """A run's predictions in the order of the rows; what is unanswered is a wrong label.

    Raises:
        PredictionsError: They cannot be read, are malformed, or are not of these rows.
    """
    name = str(evaluation.file)
    predictions = read_columns(evaluation.file, "id", "prediction")
    predictions = join_predictions(gold.rows, predictions, name)
    predictions, _ = fill_unanswered(gold, predictions)
    check_predictions(predictions, gold.labels, name)
    return predictions


def _correct(cells: Sequence[dict[str, Any]], name: str) -> None:
    """Puts texts in the place of p-values: each, and what Holm's method makes of it."""
    values = [found.get(name) for found in cells]
    n_tests = sum(value is not None for value in values)
    for found, p_value, corrected in zip(cells, values, holm(values), strict=True):
        found[name] = show_p_value(p_value)
        if p_value is not None and n_tests > 1:
            found[name] += f" ({show_p_value(corrected)})"


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's correction for several tests.

    Args:
        p_values: A value a test; None where nothing could be tested, which counts as no test.

    Returns:
        The corrected values, from 0 to 1, in the same order.

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
    """Bootstrap intervals of the systems' scores, each of the run in the middle."""
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
