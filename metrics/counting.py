"""Counts rows by several columns at once."""

from collections.abc import Sequence

import numpy as np

#: Rows that are counted at a time, at least: their cells stay in the processor's cache.
_BLOCK = 1 << 16


def joint_counts(*columns: tuple[np.ndarray, int]) -> np.ndarray:
    """How often each combination of values occurs.

    Args:
        *columns: Each n integers and a bound: every integer is from 0 to below it.

    Returns:
        Counts of shape ``(bound, bound, ...)``, one axis a column; they sum to n.
    """
    shape = tuple(bound for _, bound in columns)
    n_cells = int(np.prod(shape, dtype=object))
    # The columns' own width, since a sum of two widths is slow.
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
    """The combinations of values that occur, and how often each does.

    Args:
        columns: Each n integers from 0 to below the bound.
        bound: The bound.

    Returns:
        Shape ``(len(columns), combinations)``, sorted, and the counts.
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
