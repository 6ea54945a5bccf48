"""Rows that repeat the values of earlier rows, found without a Python object for each row.

Long texts are compared by their digests (``outline``), so that all rows fit into memory.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

#: The columns of which an outline has digests.
TEXTS = ("premise", "hypothesis")
_DIGEST_BYTES = 16
RowNumbers = npt.NDArray[np.int64]


def outline(batches: Iterable[pa.Table]) -> pa.Table:
    """Replace each premise and hypothesis of a dataset's rows by a digest of 16 bytes.

    The digest of an empty text is empty, and null stays null, so that a value missing in the rows
    is missing in their outline.

    Args:
        batches: One or more parts of the rows, read one at a time.
    """
    return pa.concat_tables(map(_outline, batches)).combine_chunks()


def first_rows(rows: pa.Table, columns: Sequence[str]) -> RowNumbers:
    """Return, for each row, the number of the first row with the same values, its own if none.

    Args:
        rows: n rows, long texts as digests (see ``outline``).
        columns: The columns whose values are compared; null equals null.
    """
    # A stable sort: rows with the same values stand together, the first of them in front.
    order = pc.sort_indices(rows, [(name, "ascending") for name in columns])
    is_new = np.zeros(len(rows), bool)
    for name in columns:
        values = rows[name].take(order)
        is_new[1:] |= _differ(values[1:], values[:-1])
    numbers: RowNumbers = order.to_numpy().astype(np.int64)
    starts = np.maximum.accumulate(np.where(is_new, np.arange(len(rows)), 0))
    first = np.empty_like(numbers)
    first[numbers] = numbers[starts]
    return first


def contradicting_rows(first: RowNumbers, values: pa.ChunkedArray) -> RowNumbers:
    """Return the numbers of the rows that equal an earlier row, but not in a value, in order.

    Args:
        first: For each of n rows the first row that equals it (see ``first_rows``).
        values: The n values.
    """
    return np.flatnonzero(_differ(values, values.take(pa.array(first))))


def _outline(rows: pa.Table) -> pa.Table:
    for number, name in enumerate(rows.column_names):
        if name in TEXTS:
            rows = rows.set_column(number, name, _digests(rows[name]))
    return rows


def _digests(texts: pa.ChunkedArray) -> pa.Array:
    values = texts.cast(pa.binary()).to_pylist()
    digests = (value and blake2b(value, digest_size=_DIGEST_BYTES).digest() for value in values)
    return pa.array(digests, pa.binary())


def _differ(some: pa.ChunkedArray, others: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Tell where values differ; null equals null."""
    is_one_null = pc.xor(pc.is_null(some), pc.is_null(others))
    return np.asarray(pc.coalesce(pc.not_equal(some, others), is_one_null))
