"""Digests of rows, of a set or in order, that do not depend on how the rows are stored."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

import numpy as np
import pyarrow as pa

#: The hash of a row as an element of an array.
ROW_HASH = np.dtype("S32")
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def row_hashes(table: pa.Table, labels: Sequence[str]) -> list[bytes]:
    """Hash each row in its canonical form by sha256, 32 bytes each.

    The canonical form is a JSON array of the row's values in column order, without blanks, in
    UTF-8; the label as its name, a list or a struct as the array of its values.

    Args:
        table: n rows.
        labels: The names of the labels in its column ``label``, by id.

    Raises:
        TypeError: A list or struct is null, which has no canonical form.
    """
    names = [_encode(name) for name in labels]
    columns = [
        [names[label] for label in table.column(name).to_pylist()]
        if name == "label"
        else _json_texts(table.column(name).combine_chunks())
        for name in table.column_names
    ]
    return [hashlib.sha256(_array(row).encode()).digest() for row in zip(*columns, strict=True)]


def digest(hashes: Iterable[bytes]) -> str:
    """Return the digest of a set of rows: the sha256 of their sorted hashes in hexadecimal digits.

    Args:
        hashes: The hashes of the rows; one value may join several of them.
    """
    return hashlib.sha256(np.sort(np.frombuffer(b"".join(hashes), ROW_HASH)).data).hexdigest()


def order_digest(hashes: Iterable[bytes]) -> str:
    """Return the digest of rows in their order: the sha256 of their hashes, joined as given."""
    joined = hashlib.sha256()
    for some in hashes:
        joined.update(some)
    return joined.hexdigest()


def _array(texts: Iterable[str]) -> str:
    return f"[{','.join(texts)}]"


def _json_texts(array: pa.Array) -> list[str]:
    """Return the values of a column as JSON, each distinct value encoded once."""
    if pa.types.is_list(array.type) and not array.null_count:
        items = _json_texts(array.flatten())
        ends = accumulate(array.value_lengths().to_pylist(), initial=0)
        return [_array(items[start:end]) for start, end in pairwise(ends)]
    if pa.types.is_struct(array.type) and not array.null_count:
        return [_array(row) for row in zip(*map(_json_texts, array.flatten()), strict=True)]
    if pa.types.is_nested(array.type):
        raise TypeError(f"a null list or struct has no canonical form: column of {array.type}")
    encoded = array.dictionary_encode(null_encoding="encode")
    texts = [_encode(value) for value in encoded.dictionary.to_pylist()]
    return [texts[index] for index in encoded.indices.to_pylist()]
