"""Consistency thresholds as exact fractions."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .problems import Problems


def as_fraction(threshold: Any) -> Fraction:
    """Return the fraction that a number stands for: 19/20 for 0.95, 5/6 for ``5 / 6``.

    For a float it is the simplest of the fractions that round to it.

    Args:
        threshold: A finite number of any type.

    Returns:
        The fraction.

    Raises:
        ValueError: The number is NaN.
        OverflowError: The number is infinite.

    Example:
        >>> as_fraction(0.95), as_fraction(5 / 6)
        (Fraction(19, 20), Fraction(5, 6))
    """
    if not isinstance(threshold, float | np.floating):
        return Fraction(threshold)
    value = float(str(threshold))  # a float32 of 0.95 means 0.95
    exact = Fraction(value)
    limits = (exact.limit_denominator(10**digits) for digits in range(1, 18))
    return next((simple for simple in limits if float(simple) == value), exact)


def read_thresholds(thresholds: Any, problems: Problems) -> list[Fraction]:
    """Return thresholds as fractions.

    Args:
        thresholds: One number from 0 to 1, or a list of them.
        problems: Collects the values that are not numbers from 0 to 1.

    Returns:
        One fraction per valid threshold.
    """
    is_list = is_many(thresholds)
    values = list(thresholds) if is_list else [thresholds]
    if not values:
        problems.add("thresholds: is empty; expected a number from 0 to 1, or a list of them.")
    fractions = []
    for place, value in enumerate(values):
        fraction = _read_number(value)
        if fraction is None or not 0 <= fraction <= 1:
            where = f" at position {place}" if is_list else ""
            problems.add(f"thresholds: {value!r}{where}; expected a number from 0 to 1.")
        else:
            fractions.append(fraction)
    return fractions


def _read_number(value: Any) -> Fraction | None:
    if isinstance(value, bool | np.bool_ | np.timedelta64):
        return None
    if isinstance(value, np.integer):
        value = int(value)
    is_number = isinstance(value, int | float | np.floating | Fraction | Decimal)
    try:
        return as_fraction(value) if is_number and math.isfinite(value) else None
    except (ValueError, OverflowError):  # a signalling NaN, a number that no float holds
        return None


def is_many(thresholds: Any) -> bool:
    """Return whether thresholds are a list, so that the scores are lists too."""
    if isinstance(thresholds, np.ndarray):
        return thresholds.ndim > 0
    return isinstance(thresholds, Sequence) and not isinstance(thresholds, str | bytes)


def reaches(n_correct: np.ndarray, n_samples: np.ndarray, threshold: Fraction) -> np.ndarray:
    """Return which groups have at least a given share of their samples right, exactly.

    Args:
        n_correct: Correct samples of each group, ``(groups,)``, from 0.
        n_samples: Samples of each group, ``(groups,)``, from 1.
        threshold: The share, from 0 to 1.

    Returns:
        One boolean per group, ``(groups,)``.
    """
    sizes, which = np.unique(n_samples, return_inverse=True)
    least = [-(-threshold.numerator * size // threshold.denominator) for size in sizes.tolist()]
    return n_correct >= np.array(least, np.int64)[which]
