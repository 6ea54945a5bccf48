"""Scores of groups: the share that is solved at a threshold, its curve and the area under it."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .inputs.thresholds import reaches

#: In groups smaller than this, different shares of samples are different floats.
_MAX_EXACT_SIZE = 2**26


def share_solved(n_correct: np.ndarray, n_samples: np.ndarray, threshold: Fraction) -> float:
    """Return the share of groups of which at least a given share of the samples is right.

    Args:
        n_correct: Correct samples of each group, ``(groups,)``, from 0.
        n_samples: Samples of each group, ``(groups,)``, from 1.
        threshold: The share of samples, from 0 to 1.

    Returns:
        From 0 to 1, higher is better.
    """
    return int(reaches(n_correct, n_samples, threshold).sum()) / len(n_samples)


def solved_curve(n_correct: np.ndarray, n_samples: np.ndarray) -> tuple[list[float], list[float]]:
    """Return the share of groups solved as a step function of the threshold.

    Args:
        n_correct: Correct samples of each group, ``(groups,)``, from 0.
        n_samples: Samples of each group, ``(groups,)``, from 1.

    Returns:
        Thresholds, ascending from 0 to 1, and the share of groups at each, from 0 to 1. Between
        two thresholds the share is that of the upper one.
    """
    shares = _shares(n_correct, n_samples)
    values, counts = np.unique(shares, return_counts=True)
    at_least = np.cumsum(counts[::-1])[::-1]
    thresholds, n_solved = values.tolist(), at_least.tolist()
    if thresholds[0] != 0:
        thresholds, n_solved = [0.0, *thresholds], [len(n_samples), *n_solved]
    if thresholds[-1] != 1:
        thresholds, n_solved = [*thresholds, 1.0], [*n_solved, 0]
    return thresholds, [n / len(n_samples) for n in n_solved]


def _shares(n_correct: np.ndarray, n_samples: np.ndarray) -> np.ndarray:
    if n_samples.max() < _MAX_EXACT_SIZE:
        # a/b and c/d differ by at least 1/(b*d) > 2**-52, so they differ as floats too.
        shares: np.ndarray = n_correct / n_samples
        return shares
    pairs = zip(n_correct.tolist(), n_samples.tolist(), strict=True)
    return np.array([float(Fraction(*pair)) for pair in pairs])


def area_under_curve(n_correct: np.ndarray, n_samples: np.ndarray) -> float:
    """Return the area under the curve of groups solved: the mean accuracy of the groups.

    Every group has the same weight, whatever its size; if all groups have the same size, the area
    equals the plain accuracy.

    Args:
        n_correct: Correct samples of each group, ``(groups,)``, from 0.
        n_samples: Samples of each group, ``(groups,)``, from 1.

    Returns:
        From 0 to 1, higher is better.

    Source: SpaceNLI, Figure 6.
    """
    sizes, which = np.unique(n_samples, return_inverse=True)
    correct = np.zeros(len(sizes), np.int64)
    np.add.at(correct, which, n_correct)
    # Sum as integers, which is exact: a perfect system scores 1.
    terms = list(zip(correct.tolist(), sizes.tolist(), strict=True))
    while len(terms) > 1:
        pairs = zip(terms[::2], [*terms[1::2], (0, 1)], strict=False)
        terms = [(a * d + c * b, b * d) for (a, b), (c, d) in pairs]
    part, whole = terms[0]
    area: float = part / (whole * len(n_samples))
    return area


def as_asked(values: list[Any], is_list: bool) -> Any:
    """Return the values if the thresholds were given as a list, else the only value."""
    return values if is_list else values[0]


def rename_thresholds(
    found: dict[str, Any], name: str, thresholds: Sequence[Fraction], is_list: bool
) -> dict[str, Any]:
    """Collect the entries ``"0"``, ``"1"``, ... of the thresholds under the name of their score.

    Args:
        found: Entries by score; those of the thresholds are removed.
        name: Name of the score that has thresholds.
        thresholds: The n thresholds.
        is_list: Whether the thresholds were given as a list.

    Returns:
        The entries by score; under ``name`` a list of n, or the only one.
    """
    values = [found.pop(str(i)) for i in range(len(thresholds))]
    return {name: as_asked(values, is_list), **found}
