"""Bootstrap over clusters: whole groups are drawn, since their samples depend on each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs.problems import Problems

#: Weights that are held at a time.
_MAX_WEIGHTS = 1 << 24

#: Gives scores of shape (resamples,) by name for totals of shape (resamples, m).
Statistic = Callable[[np.ndarray], Mapping[str, np.ndarray]]


@dataclass(frozen=True, slots=True)
class Resampling:
    """How to resample.

    Attributes:
        confidence_level: Share of resamples inside an interval, above 0 and below 1.
        n_resamples: Number of resamples.
        seed: Seed of the draws.
    """

    confidence_level: float
    n_resamples: int
    seed: int

    def __str__(self) -> str:
        return f"resamples:{self.n_resamples}|confidence:{self.confidence_level}|seed:{self.seed}"


def read_resampling(
    confidence_level: Any, n_resamples: Any, seed: Any, problems: Problems
) -> Resampling:
    """The options of a bootstrap, checked.

    Args:
        confidence_level: Above 0 and below 1; None stands for 0.95.
        n_resamples: A whole number from 1.
        seed: A whole number from 0.
        problems: Takes what is wrong.
    """
    level = 0.95 if confidence_level is None else confidence_level
    if not isinstance(level, float | np.floating) or not 0 < level < 1:
        problems.add(f"confidence_level: {level!r}; expected a number above 0 and below 1.")
    for name, value, low in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
            problems.add(f"{name}: {value!r}; expected a whole number from {low}.")
    return Resampling(level, n_resamples, seed)


def resample(
    vectors: np.ndarray,
    statistic: Statistic,
    resampling: Resampling,
    counts: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Scores of resampled data.

    A resample draws as many clusters as there are, with replacement. Clusters with equal vectors
    are drawn together, which changes nothing but the time that it takes.

    Args:
        vectors: Shape ``(clusters, m)``: for each cluster the m numbers whose totals the scores
            depend on.
        statistic: The scores, by totals.
        resampling: How often, and the seed.
        counts: How many clusters have each vector; None means one each.

    Returns:
        For each score its ``n_resamples`` values; none where there is but one cluster.
    """
    vectors, counts = merge(vectors, counts)
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
        else:  # almost every cluster is of its own kind: draw the clusters themselves
            owners = np.repeat(np.arange(n_kinds), counts)
            weights = np.empty((size, n_kinds), np.int64)
            for row in weights:
                drawn = rng.integers(0, n_clusters, n_clusters)
                row[:] = np.bincount(owners[drawn], minlength=n_kinds)
        for name, values in statistic(weights @ vectors).items():
            scores.setdefault(name, []).append(values)
    return {name: np.concatenate(parts) for name, parts in scores.items()}


def merge(vectors: np.ndarray, counts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Equal clusters as one, in an order that does not depend on theirs.

    Args:
        vectors: Shape ``(clusters, m)``.
        counts: How many clusters have each vector; None means one each.

    Returns:
        The different vectors, sorted, and how many clusters have each.
    """
    if counts is not None:
        vectors, counts = vectors[counts > 0], counts[counts > 0]
    distinct, which = np.unique(vectors, axis=0, return_inverse=True)
    weights = None if counts is None else counts.astype(float)
    merged = np.bincount(which.reshape(-1), weights=weights, minlength=len(distinct))
    return distinct.astype(float), merged.astype(np.int64)
