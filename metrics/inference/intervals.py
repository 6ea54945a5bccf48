"""Confidence intervals, and comparisons of two systems, by bootstrap over clusters."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .bootstrap import Resampling, Statistic, merge, resample

#: A difference of two sums of the same numbers, however they were added up.
_NO_DIFFERENCE = 1e-12


def confidence_intervals(
    vectors: np.ndarray,
    statistic: Statistic,
    resampling: Resampling,
    counts: np.ndarray | None = None,
) -> dict[str, list[float] | None]:
    """Percentile intervals of scores.

    Args:
        vectors: Shape ``(clusters, m)``, as for ``resample``.
        statistic: The scores, by totals.
        resampling: Confidence level, number of resamples, seed.
        counts: How many clusters have each vector; None means one each.

    Returns:
        Low and high end of each score; None where there is one cluster, which says nothing of
        others.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 13.3.
    """
    scores = resample(vectors, statistic, resampling, counts)
    return {name: _interval(values, resampling) for name, values in scores.items()}


def compare_systems(
    systems: Sequence[np.ndarray],
    statistic: Statistic,
    resampling: Resampling,
    counts: np.ndarray | None = None,
) -> dict[str, dict[str, Any]]:
    """Compares two systems on the same clusters: a paired bootstrap.

    Args:
        systems: The vectors of each, shape ``(clusters, m)``, as for ``resample``, of the same
            clusters.
        statistic: The scores, by totals.
        resampling: Confidence level, number of resamples, seed.
        counts: How many clusters have each pair of vectors; None means one each.

    Returns:
        For each score the ``other`` system's, the ``difference`` (first minus other), its
        percentile ``interval`` and a two-sided ``p_value``: how often resampled differences fall
        on the other side of 0. The last two are None where there is one cluster.

    Source: Efron and Tibshirani (1993), sections 13.3 and 15.4; the observed data count as one
        resample more, so that no p-value is 0.
    """
    both, counts = merge(np.hstack(systems), counts)
    m = systems[0].shape[1]

    def differences(totals: np.ndarray) -> dict[str, np.ndarray]:
        other = statistic(totals[:, m:])
        found = {}
        for name, values in statistic(totals[:, :m]).items():
            difference = values - other[name]
            found[name] = np.where(np.abs(difference) < _NO_DIFFERENCE, 0.0, difference)
        return found

    totals = (counts @ both)[None]
    other = statistic(totals[:, m:])
    observed = differences(totals)
    return {
        name: {
            "other": float(other[name][0]),
            "difference": float(observed[name][0]),
            "interval": _interval(values, resampling),
            "p_value": _p_value(values),
        }
        for name, values in resample(both, differences, resampling, counts).items()
    }


def _interval(values: np.ndarray, resampling: Resampling) -> list[float] | None:
    if not len(values):
        return None
    tail = (1 - resampling.confidence_level) / 2
    ends: list[float] = np.quantile(values, [tail, 1 - tail]).tolist()
    return ends


def _p_value(differences: np.ndarray) -> float | None:
    if not len(differences):
        return None
    smaller_side = min(np.sum(differences <= 0), np.sum(differences >= 0)) + 1
    return min(1.0, 2 * float(smaller_side) / (len(differences) + 1))
