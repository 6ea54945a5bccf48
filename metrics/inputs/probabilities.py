"""Probabilities: of every label, or of the gold label alone."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import UnreadableError, as_arrow, take_column
from .problems import Problems, show_rows

#: How far the probabilities of a sample may sum up beside 1: half-precision models come this far.
SUM_TOLERANCE = 1e-3

_EXPECTED = "expected one number a sample, or one for every label"


def read_probabilities(
    given: Any, data: Any, problems: Problems, name: str = "probabilities"
) -> np.ndarray | None:
    """Reads a column of probabilities.

    Args:
        given: Probabilities of the gold label, n, or of all labels, ``(n, L)``: nested lists,
            arrays, tensors, columns of lists; or, where there is ``data``, the column's name.
        data: What has the column, or None.
        problems: Takes what is wrong: nulls, NaN, values outside [0, 1], rows of different
            lengths, rows that do not sum to 1.
        name: Name of the column.

    Returns:
        Floats of shape ``(n,)`` or ``(n, L)``; None where there are problems.
    """
    if given is None:
        problems.add(f"{name}: missing; {_EXPECTED}.")
        return None
    try:
        values = _as_floats(given, data)
    except UnreadableError as error:
        problems.add(f"{name}: {error}; {_EXPECTED}.")
        return None
    if not values.size or values.ndim > 2 or values.shape[-1] < (2 if values.ndim == 2 else 1):
        problems.add(f"{name}: has the shape {values.shape}; {_EXPECTED}.")
        return None
    rows = values if values.ndim == 2 else values[:, None]
    outside = ~((rows >= 0) & (rows <= 1)).all(axis=1)  # NaN is neither
    if outside.any():
        found = show_rows(np.flatnonzero(outside), values.tolist())
        problems.add(f"{name}: not from 0 to 1 in {found}.")
        return None
    if values.ndim == 2:
        sums = rows.sum(axis=1)
        wrong = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
        if len(wrong):
            problems.add(f"{name}: not a sum of 1 in {show_rows(wrong, sums)}.")
            return None
    return values


def _as_floats(given: Any, data: Any) -> np.ndarray:
    if data is not None and isinstance(given, str):
        given = take_column(data, given)[0]
    if isinstance(given, np.ndarray) or (
        hasattr(given, "__array__") and not hasattr(given, "to_arrow") and len(np.shape(given)) == 2
    ):
        return _checked(np.asarray(given))
    values, _ = as_arrow(given)
    kind = values.type
    if values.null_count:
        rows = np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))
        raise UnreadableError(f"nothing in {show_rows(rows, values)}")
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or _is_fixed_list(kind)):
        return _checked(values.to_numpy(zero_copy_only=False))
    lengths = np.asarray(pc.list_value_length(values))
    odd = np.flatnonzero(lengths != lengths[0])
    if len(odd):
        raise UnreadableError(f"rows of different lengths: {show_rows(odd, lengths)}")
    flat = values.flatten()
    if flat.null_count:
        rows = np.flatnonzero(flat.is_null().to_numpy(zero_copy_only=False)) // lengths[0]
        raise UnreadableError(f"nothing in {show_rows(np.unique(rows), values)}")
    return _checked(flat.to_numpy(zero_copy_only=False)).reshape(len(values), -1)


def _is_fixed_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_fixed_size_list(kind))


def _checked(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "fiu":
        raise UnreadableError(f"holds values of type {values.dtype}")
    return values.astype(np.float64, copy=False)
