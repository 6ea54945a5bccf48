"""Digests of rows, of a set or in order, that do not depend on how the rows are stored."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

#: The hash of a row as an element of an array.
ROW_HASH = np.dtype("S32")
_ROWS_AT_ONCE = 5_000


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


def both_digests(hashes: Iterable[bytes], beside: Path | None = None) -> tuple[str, str]:
    """Return the digest of a set of rows, and that of the rows in their order.

    A digest is the sha256 of the rows' hashes in hexadecimal digits: for a set of rows sorted,
    otherwise as they are given.

    Args:
        hashes: The hashes of the rows in order; one value may join several of them.
        beside: The folder for the nameless file in which they are sorted, since they may not fit
            into memory; None takes the system's folder for temporary files.
    """
    in_order = hashlib.sha256()
    with TemporaryFile(dir=beside) as file:
        for some in hashes:
            in_order.update(some)
            file.write(some)
        n_bytes = file.tell()
        file.flush()
        rows = np.memmap(file, ROW_HASH, "r+") if n_bytes else np.empty(0, ROW_HASH)
        rows.sort()
        return hashlib.sha256(rows.data).hexdigest(), in_order.hexdigest()
