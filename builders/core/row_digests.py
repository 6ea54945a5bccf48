"""Digests of rows, of a set or in order, that do not depend on how the rows are stored."""

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

#: The hash of a row as an element of an array.
ROW_HASH = np.dtype("S32")
_ROWS_AT_ONCE = 5_000
_BLOCK_BYTES = 1_000_000
_N_PARTS = 64  # each is sorted in memory
_MAX_PART_BYTES = 500_000  # of a part that is in no file


def row_hashes(table: pa.Table, labels: Sequence[str]) -> list[bytes]:
    """Hash each row in its canonical form by sha256, 32 bytes each.

    The canonical form is a JSON array of the row's values in column order, without blanks, in
    UTF-8; the label as its name, a struct as the array of its values.

    Args:
        table: n rows.
        labels: The names of the labels in its column ``label``, by id; an id without a name is
            hashed as a number.
    """
    names = dict(enumerate(labels))
    hashes: list[bytes] = []
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        columns = []
        for field, column in zip(batch.schema, batch.columns, strict=True):
            values = column.to_pylist()
            if field.name == "label":
                values = [names.get(label, label) for label in values]
            elif pa.types.is_floating(field.type):  # JSON has no NaN
                values = [v if v is None or math.isfinite(v) else str(v) for v in values]
            elif pa.types.is_nested(field.type):
                values = _plain(values)
            columns.append(values)
        hashes += [hashlib.sha256(orjson.dumps(row)).digest() for row in zip(*columns, strict=True)]
    return hashes


def _plain(value: Any) -> Any:
    """Return a value with lists in place of structs."""
    if isinstance(value, dict):
        value = list(value.values())
    return [_plain(each) for each in value] if isinstance(value, list) else value


def digest(hashes: Iterable[bytes], beside: Path | None = None) -> str:
    """Return the digest of a set of rows: the sha256 of their sorted hashes in hexadecimal digits.

    Args:
        hashes: The hashes of the rows; one value may join several of them.
        beside: Where they are sorted, in nameless files, if they do not fit into memory; None
            takes the system's folder for temporary files.
    """
    return both_digests(hashes, beside)[0]


def order_digest(hashes: Iterable[bytes]) -> str:
    """Return the digest of rows in their order: the sha256 of their hashes, joined as given."""
    found = hashlib.sha256()
    for some in hashes:
        found.update(some)
    return found.hexdigest()


def both_digests(hashes: Iterable[bytes], beside: Path | None = None) -> tuple[str, str]:
    """Return the digest of rows in any order, and that in their order, reading hashes once.

    Args:
        hashes: The hashes of the rows in order; one value may join several of them.
        beside: As for ``digest``.
    """
    in_order, in_any_order = hashlib.sha256(), hashlib.sha256()
    with ExitStack() as stack:
        parts = [
            stack.enter_context(
                SpooledTemporaryFile(_MAX_PART_BYTES, dir=None if beside is None else str(beside))
            )
            for _ in range(_N_PARTS)
        ]
        for block in _blocks(hashes):
            in_order.update(block)
            rows = np.frombuffer(block, ROW_HASH)
            part_of = np.frombuffer(block, np.uint8)[:: ROW_HASH.itemsize] // (256 // _N_PARTS)
            for number in np.unique(part_of):
                parts[number].write(rows[part_of == number].tobytes())
        for part in parts:
            part.seek(0)
            in_any_order.update(np.sort(np.frombuffer(part.read(), ROW_HASH)).tobytes())
    return in_any_order.hexdigest(), in_order.hexdigest()


def _blocks(hashes: Iterable[bytes]) -> Iterator[bytes]:
    """Join hashes to blocks."""
    waiting = bytearray()
    for some in hashes:
        waiting += some
        if len(waiting) >= _BLOCK_BYTES:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting)
