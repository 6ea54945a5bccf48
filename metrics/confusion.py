"""Counts of rows by several columns, and the scores of a confusion matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .inference import Ratio

#: What an absent class scores; signatures quote it.
ABSENT_CLASS_POLICY = "0"

#: Smallest number of rows counted at a time: their cells fit the processor's cache.
_BLOCK = 1 << 16


def joint_counts(*columns: tuple[np.ndarray, int]) -> np.ndarray:
    """Count the combinations of references, predictions and further columns of a metric.

    Args:
        *columns: The n integers of each column, and their bound: they are from 0 to bound - 1.

    Returns:
        Counts of shape ``(bound, bound, ...)``, one axis per column; they sum to n.
    """
    shape = tuple(bound for _, bound in columns)
    n_cells = int(np.prod(shape, dtype=object))
    # Keep the width of the columns: adding integers of two widths is slow.
    is_wide = n_cells >= 2**31 or any(codes.itemsize == 8 for codes, _ in columns)
    kind = np.int64 if is_wide else np.int32
    first, *others = columns
    counts = np.zeros(n_cells, np.int64)
    n_rows = max(_BLOCK, n_cells)
    for start in range(0, len(first[0]), n_rows):
        block = slice(start, start + n_rows)
        cells = first[0][block].astype(kind)
        for codes, bound in others:
            np.multiply(cells, bound, out=cells)
            np.add(cells, codes[block], out=cells, casting="unsafe")
        found = np.bincount(cells)
        counts[: len(found)] += found
    return counts.reshape(shape)


def distinct_rows(columns: Sequence[np.ndarray], bound: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the combinations of values that occur, and how often each does.

    Args:
        columns: The n integers of each column, from 0 to bound - 1.
        bound: One more than the largest possible integer.

    Returns:
        The sorted combinations, ``(len(columns), combinations)``, and counts, ``(combinations,)``.
    """
    n_cells = bound ** len(columns)
    if n_cells <= max(_BLOCK, len(columns[0])):
        counts = joint_counts(*((codes, bound) for codes in columns)).ravel()
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    else:
        packed = columns[0].astype(np.int64)
        for codes in columns[1:]:
            packed = packed * bound + codes.astype(np.int64)
        cells, counts = np.unique(packed, return_counts=True)
    return np.array(np.unravel_index(cells, (bound,) * len(columns))), counts


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return ``part / whole`` of counts whose shapes broadcast, and 0 where the whole is 0."""
    zeros = np.zeros(np.broadcast(part, whole).shape)
    found: np.ndarray = np.divide(part, whole, out=zeros, where=whole > 0)
    return found


def class_scores(confusion: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return precision, recall and F1 of every class from a confusion matrix.

    Args:
        confusion: Counts of samples by gold label, then by predicted label, ``(..., L, L + 1)``;
            the last ones have no answer, which is no label.

    Returns:
        Three times ``(..., L)``, from 0 to 1, higher is better; 0 where the denominator is 0, so
        an absent class scores 0.
    """
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    n_predictions, n_references = confusion.sum(axis=-2)[..., :-1], confusion.sum(axis=-1)
    f1 = ratio(*f1_parts(confusion))
    return ratio(right, n_predictions), ratio(right, n_references), f1


def f1_parts(confusion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return numerator and denominator of every class's F1, ``(..., L)`` each.

    Args:
        confusion: Counts of samples by gold label, then by predicted label, ``(..., L, L + 1)``;
            the last ones have no answer.
    """
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    return 2 * right, confusion.sum(axis=-2)[..., :-1] + confusion.sum(axis=-1)


def class_ratios(
    units: np.ndarray, names: Sequence[str | int], *, are_samples: bool = False
) -> dict[str, Any]:
    """Return ``macro_f1``, ``accuracy`` and the F1 of each class as ratios over units.

    Args:
        units: Samples of each unit by gold label, then by predicted label or no answer,
            ``(units, L, L + 1)``.
        names: The L labels.
        are_samples: Whether each unit is a sample.
    """
    f1 = f1_parts(units)
    n_right = np.trace(units, axis1=1, axis2=2)[:, None]
    return {
        "macro_f1": Ratio(*f1),
        "accuracy": Ratio(n_right, units.sum(axis=(1, 2))[:, None], are_samples),
        "per_class": {
            name: {"f1": Ratio(f1[0][:, i : i + 1], f1[1][:, i : i + 1])}
            for i, name in enumerate(names)
        },
    }
