"""The outline of rows: all that long texts are compared by, small enough to be held in memory."""

from collections.abc import Iterable
from hashlib import blake2b

import pyarrow as pa

#: The columns of which an outline has digests.
TEXTS = ("premise", "hypothesis")
_DIGEST_BYTES = 16


def outline(batches: Iterable[pa.Table]) -> pa.Table:
    """Puts a digest in place of each premise and hypothesis.

    A digest has 16 bytes, but that of an empty text is empty, and null stays null: a value that is
    missing in the rows is missing in their outline.

    Args:
        batches: One or more parts of n rows, which are read one at a time.

    Returns:
        n rows with the same columns, the texts as binary.
    """
    return pa.concat_tables(map(_outline, batches)).combine_chunks()


def _outline(rows: pa.Table) -> pa.Table:
    for number, name in enumerate(rows.column_names):
        if name in TEXTS:
            rows = rows.set_column(number, name, _digests(rows[name]))
    return rows


def _digests(texts: pa.ChunkedArray) -> pa.Array:
    values = texts.cast(pa.binary()).to_pylist()
    digests = (value and blake2b(value, digest_size=_DIGEST_BYTES).digest() for value in values)
    return pa.array(digests, pa.binary())
