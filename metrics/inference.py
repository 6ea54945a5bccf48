"""Statistical inference for scores: bootstrap, paired tests, and the signature of a result.

The bootstrap draws whole clusters (groups of samples), since the samples of a group are dependent.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from .inputs.columns import UnreadableError
from .inputs.probabilities import as_numbers
from .inputs.problems import MetricInputError, Problems, show_rows

#: Largest number of resamples: it takes minutes, and an interval no longer moves.
MAX_RESAMPLES = 1_000_000
#: Largest number of bootstrap weights in memory at a time.
_MAX_WEIGHTS = 1 << 24
#: Largest score of a test: its square, and the sum of many, are still numbers.
_MAX_SCORE = 1e100

#: Up to so many tosses, probabilities are summed in whole numbers, 0.2 seconds at most.
_MOST_TOSSES = 50_000

#: Below this, a difference of two scores is rounding.
_NO_DIFFERENCE = 1e-12

#: Computes scores of shape ``(resamples,)``, by name, from totals of shape ``(resamples, m)``.
Statistic = Callable[[np.ndarray], Mapping[str, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Resampling:
    """The options of a bootstrap.

    Attributes:
        confidence_level: Share of resamples inside an interval, above 0 and below 1.
        n_resamples: Number of resamples, from 1.
        seed: Seed of the draws, from 0.
    """

    confidence_level: float
    n_resamples: int
    seed: int

    def __str__(self) -> str:
        return f"resamples:{self.n_resamples}|confidence:{self.confidence_level}|seed:{self.seed}"


def read_resampling(
    confidence_level: Any, n_resamples: Any, seed: Any, problems: Problems
) -> Resampling:
    """Validate the options of a bootstrap; do not use them if problems were added.

    Args:
        confidence_level: A number above 0 and below 1; None stands for 0.95.
        n_resamples: A whole number from 1 to ``MAX_RESAMPLES``.
        seed: A whole number from 0.
        problems: Collects the options that are out of range.
    """
    level = 0.95 if confidence_level is None else confidence_level
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        problems.add(f"confidence_level: {level!r}; expected a number above 0 and below 1.")
    for name, value, low in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
            problems.add(f"{name}: {value!r}; expected a whole number from {low}.")
        elif name == "n_resamples" and value > MAX_RESAMPLES:
            problems.add(f"{name}: {value:,}; expected {MAX_RESAMPLES:,} at most.")
    return Resampling(level, n_resamples, seed)


def sign(
    result: dict[str, Any], name: str, version: str, resampling: Resampling, **facts: Any
) -> dict[str, Any]:
    """Add its signature to a metric's result, and the confidence level if it was resampled.

    Args:
        result: The scores, with ``n_samples`` and perhaps ``n_groups``.
        name: Name of the metric.
        version: Version of the metric, ``X.Y.Z``.
        resampling: Options of the bootstrap, if there are intervals or a comparison.
        **facts: Facts that the scores depend on, in the order to show; None leaves a fact out.

    Returns:
        A copy that ends with ``signature``, such as ``pattern_accuracy|version:1.0.0|labels:...``:
        one line with all that the scores depend on, to reproduce them.
    """
    facts |= {"groups": result.get("n_groups"), "samples": result["n_samples"]}
    facts |= {  # which are wrong, and may be an accident
        name: result.get(f"n_{name}") or None for name in ("unanswered", "other_unanswered")
    }
    parts = [name, f"version:{version}"]
    parts += [f"{key}:{value}" for key, value in facts.items() if value is not None]
    signed = dict(result)
    if "confidence_intervals" in result or "comparison" in result:
        parts.append(f"bootstrap:{resampling}")
        signed["confidence_level"] = resampling.confidence_level
    return signed | {"signature": "|".join(parts)}


def resample(
    vectors: np.ndarray,
    statistic: Statistic,
    resampling: Resampling,
    counts: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Compute a metric's scores of bootstrap resamples.

    A resample draws as many clusters as there are, with replacement. Clusters with equal vectors
    are drawn together, which is faster and changes no score.

    Args:
        vectors: The m numbers of each cluster whose totals the scores depend on, ``(clusters, m)``.
        statistic: Computes the scores from totals.
        resampling: Number of resamples and seed; the confidence level is not used.
        counts: Number of clusters with each vector, ``(clusters,)``; None means one each.

    Returns:
        Each score as ``(n_resamples,)``; empty if there is only one cluster.
    """
    vectors, counts = _merge(vectors, counts)
    n_clusters = int(counts.sum())
    rng = np.random.default_rng(resampling.seed)
    if n_clusters < 2:
        return {name: values[:0] for name, values in statistic(vectors[:1]).items()}
    n_kinds = len(vectors)
    batch = max(1, _MAX_WEIGHTS // n_kinds)
    scores: dict[str, list[np.ndarray]] = {}
    for start in range(0, resampling.n_resamples, batch):
        size = min(batch, resampling.n_resamples - start)
        if n_kinds * 8 < n_clusters:
            weights = rng.multinomial(n_clusters, counts / n_clusters, size=size)
        else:  # almost every cluster has its own vector: draw the clusters themselves
            owners = np.repeat(np.arange(n_kinds), counts)
            weights = np.empty((size, n_kinds), np.int64)
            for row in weights:
                drawn = rng.integers(0, n_clusters, n_clusters)
                row[:] = np.bincount(owners[drawn], minlength=n_kinds)
        for name, values in statistic(weights @ vectors).items():
            scores.setdefault(name, []).append(values)
    return {name: np.concatenate(parts) for name, parts in scores.items()}


def _merge(vectors: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct vectors, sorted, and the number of clusters with each.

    So the order of the clusters has no effect.
    """
    if counts is not None:
        vectors, counts = vectors[counts > 0], counts[counts > 0]
    distinct, which = np.unique(vectors, axis=0, return_inverse=True)
    weights = None if counts is None else counts.astype(float)
    merged = np.bincount(which.reshape(-1), weights=weights, minlength=len(distinct))
    return distinct.astype(float), merged.astype(np.int64)


def confidence_intervals(
    vectors: np.ndarray,
    statistic: Statistic,
    resampling: Resampling,
    counts: np.ndarray | None = None,
) -> dict[str, list[float] | None]:
    """Compute bootstrap percentile intervals of a metric's scores.

    Args:
        vectors: The m numbers of each cluster whose totals the scores depend on, ``(clusters, m)``.
        statistic: Computes the scores from totals.
        resampling: Confidence level, number of resamples and seed.
        counts: Number of clusters with each vector, ``(clusters,)``; None means one each.

    Returns:
        Low and high end of each score; None if there is only one cluster.

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
    """Compare two systems on the same clusters by a paired bootstrap.

    Args:
        systems: The vectors of the two systems, ``(clusters, m)``, clusters in the same order.
        statistic: Computes the scores of one system from totals.
        resampling: Confidence level, number of resamples and seed.
        counts: Number of clusters with each pair of vectors, ``(clusters,)``; None: one each.

    Returns:
        For each score: ``other``, the score of the second system; ``difference``, first minus
        second; its percentile ``interval``; and a two-sided ``p_value``, from 0 to 1, from how
        often resampled differences are on the other side of 0. The last two are None if there is
        only one cluster.

    Source: Efron and Tibshirani (1993), sections 13.3 and 15.4; the observed data count as one
        more resample, so that no p-value is 0.
    """
    both, counts = _merge(np.hstack(systems), counts)
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


def mcnemar(first_right: np.ndarray, second_right: np.ndarray) -> dict[str, Any]:
    """Test by McNemar's exact test whether one of two systems is right more often.

    Args:
        first_right: For each of n units (samples or groups) whether the first system is right.
        second_right: For each of the same n units whether the second system is right.

    Returns:
        ``n_only_first`` and ``n_only_second``, the units that only one system has right, and the
        two-sided ``p_value``, from 0 to 1.

    Source: McNemar, Psychometrika 12 (1947); the exact form is the sign test.
    """
    n_only_first = int(np.sum(first_right & ~second_right))
    n_only_second = int(np.sum(second_right & ~first_right))
    return {
        "n_only_first": n_only_first,
        "n_only_second": n_only_second,
        "p_value": _sign_test(n_only_first, n_only_second),
    }


def _sign_test(n_heads: int, n_tails: int) -> float:
    """Return the two-sided p-value of the counts of the two sides of a fair coin."""
    n, least = n_heads + n_tails, min(n_heads, n_tails)
    if n <= _MOST_TOSSES:  # in whole numbers: exact
        counts = accumulate(range(least), lambda count, k: count * (n - k) // (k + 1), initial=1)
        return min(1.0, float(2 * sum(counts) / 2**n))
    half, odd = divmod(n, 2)
    middle = _central_binomial(half) * (n / (n + 1) if odd else 1.0)  # of half heads
    heads = np.arange(half, 0, -1)
    probabilities = middle * np.cumprod(np.append(1.0, heads / (n - heads + 1)))  # half, ..., 0
    return min(1.0, 2 * float(probabilities[half - least :].sum()))


def _central_binomial(half: int) -> float:
    """Return the probability of ``half`` heads in ``2 * half`` tosses of a fair coin."""
    return float(np.prod(1 - 0.5 / np.arange(1, half + 1)))


def paired_t_test(scores: Sequence[float], other_scores: Sequence[float]) -> dict[str, Any]:
    """Test by a paired t-test over seeds whether two systems differ.

    Args:
        scores: One score of the first system per seed; two or more.
        other_scores: One score of the second system per seed, the seeds in the same order.

    Returns:
        ``mean`` and ``other_mean``, their ``difference`` (first minus second), ``t``,
        ``degrees_of_freedom`` and the two-sided ``p_value``, from 0 to 1. ``t`` and ``p_value``
        are None if all differences are equal, for example because the seed has no effect.

    Raises:
        MetricInputError: There are fewer than two scores, the numbers of scores differ, or a
            score is not a finite number of at most 1e100.

    Source: SciNLI, Table 6; MSciNLI, Table 4.

    Example:
        >>> paired_t_test([78.0, 78.4, 77.9], [75.1, 75.6, 75.0])["p_value"] < 0.001
        True
    """
    first, second = _read_scores(scores, "scores"), _read_scores(other_scores, "other_scores")
    if len(first) != len(second) or len(first) < 2:
        raise MetricInputError(
            [
                f"scores has {len(first)} numbers, other_scores has {len(second)}; expected the "
                "same number of both, two or more."
            ]
        )
    differences = first - second
    n = len(differences)
    mean = statistics.fmean(differences)
    error = statistics.stdev(differences) / math.sqrt(n)
    result: dict[str, Any] = {
        "mean": statistics.fmean(first),
        "other_mean": statistics.fmean(second),
        "difference": mean,
        "t": None,
        "degrees_of_freedom": n - 1,
        "p_value": None,
    }
    if error > 1e-12 * abs(mean):  # more than rounding
        result["t"] = mean / error
        result["p_value"] = _student_p_value(mean / error, n - 1)
    return result


def _student_p_value(t: float, freedom: int) -> float:
    """Return the two-sided p-value of Student's t with ``freedom`` degrees, from 1.

    It is the regularized incomplete beta function of ``freedom / (freedom + t**2)`` with the
    parameters ``freedom / 2`` and 1/2, here by its power series, whose terms are all positive:
    from its own end for the tail, which so keeps its digits, from the other end for small t.

    Source: Abramowitz and Stegun (1964), formulae 26.5.4 and 26.7.1.
    """
    square, half, odd = t * t, freedom // 2, freedom % 2
    central = _central_binomial(half)
    scale = 1 / (math.pi * central) if odd else half * central  # 1 / B(freedom / 2, 1/2)
    share = square / (freedom + square)
    is_tail = square > 1
    step = freedom / (freedom + square) if is_tail else share
    start = freedom / 2 if is_tail else 0.5
    power = math.exp(-freedom / 2 * math.log1p(square / freedom))
    term = total = scale * power * math.sqrt(share) / start
    n_terms = 0
    while term > 1e-17 * total:
        term *= step * ((freedom + 1) / 2 + n_terms) / (start + 1 + n_terms)
        total += term
        n_terms += 1
    return total if is_tail else 1 - total


def correct_by_holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for several tests by Holm's method.

    Args:
        p_values: A value a test, from 0 to 1; None where nothing was tested, which does not count.

    Returns:
        The corrected values, from 0 to 1, in the same order; None stays None.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979).

    Example:
        >>> correct_by_holm([0.01, 0.04, None, 0.03])
        [0.03, 0.06, None, 0.06]
    """
    order = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p_value, i) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_value))
        corrected[i] = highest
    return corrected


def _read_scores(scores: Any, name: str) -> np.ndarray:
    problems = Problems()
    values = np.asarray([])
    try:
        values = as_numbers(scores)
    except UnreadableError as error:
        problems.add(f"{name}: {error}; expected one number per seed.")
    if values.ndim != 1:
        problems.add(f"{name}: has the shape {values.shape}; expected one number per seed.")
    elif len(bad := np.flatnonzero(~np.isfinite(values))):
        problems.add(f"{name}: not finite in {show_rows(bad, values)}.")
    elif len(bad := np.flatnonzero(np.abs(values) > _MAX_SCORE)):
        problems.add(f"{name}: beyond {_MAX_SCORE:g} in {show_rows(bad, values)}.")
    problems.check()
    return values
