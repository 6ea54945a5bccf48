"""A digest of rows that depends neither on their order nor on how they are stored."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from datasets import Features


def row_hashes(table: pa.Table, features: Features) -> list[bytes]:
    """The sha256 of each row in its canonical form.

    The canonical form is a JSON array of the row's values in column order, without blanks, in
    UTF-8; the label as its name, a list or a struct as the array of its values.

    Args:
        table: n rows in the features' schema.
        features: The features, for the names of the labels.

    Returns:
        n hashes of 32 bytes.
    """
    columns = [_values(table.column(name).combine_chunks()) for name in features]
    position = list(features).index("label")
    names = features["label"].names
    columns[position] = [names[label] for label in columns[position]]
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    return [hashlib.sha256(encode(row).encode()).digest() for row in zip(*columns, strict=True)]


def digest(hashes: Iterable[bytes]) -> str:
    """The digest of a set of rows: the sha256 of their sorted hashes, as 64 hexadecimal digits."""
    return hashlib.sha256(b"".join(sorted(hashes))).hexdigest()


def _values(array: pa.Array) -> list[Any]:
    """The values as Python objects, structs as tuples; several times faster than to_pylist."""
    if pa.types.is_list(array.type) and not array.null_count:
        items = _values(array.flatten())
        ends = array.value_lengths().to_pylist()
        values, start = [], 0
        for length in ends:
            values.append(items[start : start + length])
            start += length
        return values
    if pa.types.is_struct(array.type) and not array.null_count:
        return list(zip(*(_values(child) for child in array.flatten()), strict=True))
    if pa.types.is_nested(array.type):
        raise TypeError(f"a null list or struct has no canonical form: {array.type}")
    return list(array.to_pylist())
