"""The scores of a task, with standard errors; the same in every harness."""

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ..builders.core.spec import DatasetSpec
from ..metrics.functional import MetricInputError, consistency, nli_report, pattern_accuracy

_LOGGER = logging.getLogger(__name__)
#: Thresholds of pattern accuracy. Source: SpaceNLI, Table 5.
THRESHOLDS = (0.95, 1.0)
_FUNCTIONS: Mapping[str, Callable[..., Mapping[str, Any]]] = {
    "nli_report": nli_report,
    "pattern_accuracy": pattern_accuracy,
    "consistency": consistency,
}
#: The share of answers that cannot be read, which are wrong.
UNREAD = "unread"
#: Ends the name of a score's standard error.
STDERR = "_stderr"


class Score(NamedTuple):
    """A score from 0 to 1 and its standard error; NaN where it is not defined."""

    value: float
    error: float


_UNDEFINED = Score(math.nan, math.nan)


class JudgedRow(NamedTuple):
    """The ids of the gold label and of the predicted one, None if it cannot be read; the group."""

    reference: int
    prediction: int | None
    group: str | None


def score_names(spec: DatasetSpec, thresholds: Sequence[float] = THRESHOLDS) -> list[str]:
    """Return the names of the scores of a dataset's tasks, the main one first.

    Args:
        spec: What the dataset declares.
        thresholds: Thresholds of pattern accuracy, from 0 to 1, for datasets with patterns.
    """
    keys = (_keys(metric, thresholds) for metric in spec.metrics)
    return [name for found in keys for names in found.values() for name in names] + [UNREAD]


def compute_scores(
    spec: DatasetSpec, rows: Sequence[JudgedRow], thresholds: Sequence[float] = THRESHOLDS
) -> dict[str, Score]:
    """Compute the scores of a dataset's tasks; never fail, since a run of hours hangs on it.

    An answer that cannot be read is wrong. Standard errors are by the jackknife over groups where
    there are some, else over rows; NaN with fewer than five.

    Args:
        spec: What the dataset declares.
        rows: n rows, in any order; fewer than the test set's where a harness has a limit.
        thresholds: Thresholds of pattern accuracy, from 0 to 1.

    Returns:
        The scores by the names of ``score_names``.
    """
    return dict(_compute(spec.labels, spec.metrics, tuple(rows), tuple(thresholds)))


def flat_scores(
    spec: DatasetSpec, rows: Sequence[JudgedRow], thresholds: Sequence[float] = THRESHOLDS
) -> dict[str, float]:
    """Return the scores by name, then their standard errors by ``NAME_stderr``."""
    found = compute_scores(spec, rows, thresholds)
    errors = {f"{name}{STDERR}": score.error for name, score in found.items()}
    return {name: score.value for name, score in found.items()} | errors


def _keys(metric: str, thresholds: Sequence[float]) -> Mapping[str, Sequence[str]]:
    """Return the scores that are taken of a metric: for each its names here."""
    if metric == "nli_report":
        return {"accuracy": ["accuracy"], "macro_f1": ["macro_f1"]}
    if metric == "pattern_accuracy":
        return {
            "pattern_accuracy": [f"pattern_accuracy_{threshold}" for threshold in thresholds],
            "area_under_curve": ["pattern_accuracy_area"],
        }
    return {"consistency": ["consistency"]} if metric == "consistency" else {}


@lru_cache(maxsize=4)  # a harness asks for each score by itself, with the same rows
def _compute(
    labels: Sequence[str],
    metrics: Sequence[str],
    rows: Sequence[JudgedRow],
    thresholds: Sequence[float],
) -> Mapping[str, Score]:
    found: dict[str, Score] = {}
    if not rows:  # Inspect asks before there is one
        known = [one for metric in metrics for one in _keys(metric, thresholds).values()]
        return {name: _UNDEFINED for one in (*known, [UNREAD]) for name in one}
    for metric in metrics:
        if keys := _keys(metric, thresholds):
            result = _run(metric, labels, rows, thresholds)
            for key, names in keys.items():
                found |= dict(zip(names, _scores_of(result, key), strict=False))
                found |= {name: _UNDEFINED for name in names if name not in found}
    n_unread = sum(row.prediction is None for row in rows)
    share = n_unread / len(rows)
    return found | {UNREAD: Score(share, math.sqrt(share * (1 - share) / len(rows)))}


def _run(
    metric: str, labels: Sequence[str], rows: Sequence[JudgedRow], thresholds: Sequence[float]
) -> Mapping[str, Any]:
    references = [row.reference for row in rows]
    predictions = [row.prediction for row in rows]
    groups = [row.group for row in rows]
    options: dict[str, Any] = {"confidence_level": 0.95}
    if groups[:1] != [None]:
        options["groups"] = groups
    if metric == "pattern_accuracy":
        options["thresholds"] = list(thresholds)
    try:
        return _FUNCTIONS[metric](predictions, references, labels=list(labels), **options)
    except MetricInputError as error:  # of a few rows, where no group has both labels
        _LOGGER.warning("%s is not defined for these %d rows: %s", metric, len(rows), error)
        return {}


def _scores_of(result: Mapping[str, Any], key: str) -> Iterator[Score]:
    """Yield the scores of a metric's result under a key: one, or one a threshold."""
    values, errors = result.get(key), result.get("standard_errors", {}).get(key)
    if not isinstance(values, list):
        values, errors = [values], [errors]
    for found in zip(values, errors, strict=True):
        yield Score(*(math.nan if one is None else one for one in found))
