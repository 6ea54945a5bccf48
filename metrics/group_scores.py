"""Scores of groups: which share of them is solved to a given extent."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .inputs.thresholds import reaches

#: Below this size, different shares of a group's samples are different floats.
_MAX_EXACT_SIZE = 2**26


def share_solved(n_correct: np.ndarray, n_samples: np.ndarray, threshold: Fraction) -> float:
    """Share of the groups that have at least a share of their samples right.

    Args:
        n_correct: Samples right, by group.
        n_samples: Samples, by group; 1 or more.
        threshold: The share of samples.

    Returns:
        From 0 to 1.
    """
    return int(reaches(n_correct, n_samples, threshold).sum()) / len(n_samples)


def solved_curve(n_correct: np.ndarray, n_samples: np.ndarray) -> tuple[list[float], list[float]]:
    """The share of groups solved, for every threshold: a step function.

    Args:
        n_correct: Samples right, by group.
        n_samples: Samples, by group; 1 or more.

    Returns:
        Thresholds, ascending from 0 to 1, and the share at each of them. Between two of them the
        share is that of the upper one.
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
        # a/b and c/d differ by 1/(b*d) > 2**-52 at least, so as floats they differ too.
        shares: np.ndarray = n_correct / n_samples
        return shares
    pairs = zip(n_correct.tolist(), n_samples.tolist(), strict=True)
    return np.array([float(Fraction(*pair)) for pair in pairs])


def area_under_curve(n_correct: np.ndarray, n_samples: np.ndarray) -> float:
    """Area under the curve of shares solved: the mean of the groups' accuracies.

    Equal to the plain accuracy where all groups have the same size; otherwise every group counts
    the same, whatever its size.

    Args:
        n_correct: Samples right, by group.
        n_samples: Samples, by group; 1 or more.

    Returns:
        From 0 to 1.

    Source: SpaceNLI, Figure 6.
    """
    sizes, which = np.unique(n_samples, return_inverse=True)
    correct = np.zeros(len(sizes), np.int64)
    np.add.at(correct, which, n_correct)
    # Summed as whole numbers, so that it is exact, and a perfect system has 1.
    terms = list(zip(correct.tolist(), sizes.tolist(), strict=True))
    while len(terms) > 1:
        pairs = zip(terms[::2], [*terms[1::2], (0, 1)], strict=False)
        terms = [(a * d + c * b, b * d) for (a, b), (c, d) in pairs]
    part, whole = terms[0]
    area: float = part / (whole * len(n_samples))
    return area


def as_asked(values: list[Any], is_list: bool) -> Any:
    """A list where thresholds were a list, else the one value."""
    return values if is_list else values[0]


def rename_thresholds(
    found: dict[str, Any], name: str, thresholds: Sequence[Fraction], is_list: bool
) -> dict[str, Any]:
    """What was found by score, with that of each threshold, ``"0"``, ``"1"``..., under one name.

    Args:
        found: By score; those of the thresholds are taken out.
        name: Name of the score that has thresholds.
        thresholds: The thresholds.
        is_list: Whether they were a list.
    """
    values = [found.pop(str(i)) for i in range(len(thresholds))]
    return {name: as_asked(values, is_list), **found}
