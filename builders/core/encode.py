"""Encode the columns of a dataset into tables of the uniform schema."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import SchemaError
from .schema import REQUIRED

if TYPE_CHECKING:
    from datasets import Features


def encode(
    columns: Mapping[str, Any], features: "Features", schema: pa.Schema | None = None
) -> pa.Table:
    """Encode columns as a table of the uniform schema: nothing is dropped, filled in or coerced.

    Args:
        columns: For every feature its values, n of each; the labels as strings.
        features: Those of ``uniform_features``.
        schema: Their Arrow schema, where it is at hand: making it takes long for a small batch.

    Raises:
        SchemaError: A column is missing, unknown or of another length, a label is not of the
            label set, a value is null where it may not be, or of another type.
    """
    if list(columns) != list(features):
        raise SchemaError(f"The columns are {list(columns)}, expected {list(features)}.")
    schema = schema or features.arrow_schema
    arrays = []
    for name, values in columns.items():
        if name == "label":
            values = _label_ids(values, features["label"].names)
        arrays.append(_array(name, values, schema.field(name).type))
    lengths = {name: len(array) for name, array in zip(columns, arrays, strict=True)}
    if len(set(lengths.values())) > 1:
        raise SchemaError(f"The columns differ in length: {lengths}.")
    table = pa.Table.from_arrays(arrays, schema=schema)
    check_required(table)
    return table


def check_required(table: pa.Table) -> None:
    """Check that the columns of the uniform schema hold a value wherever they must.

    Raises:
        SchemaError: A required column has a null or an empty text; names the first row.
    """
    for name in REQUIRED:
        missing = pc.is_null(table.column(name))
        if name != "label":
            missing = pc.or_kleene(missing, pc.equal(table.column(name), ""))
        row = pc.index(missing, True).as_py()
        if row >= 0:
            raise SchemaError(f"Column {name!r} has no value in row {row}.")


def _array(name: str, values: Any, expected: pa.DataType) -> pa.Array:
    """Return values as an array of the expected type, if they are of that type.

    ``pa.array(values, type)`` alone would turn 2.5 into 2 and True into 1.
    """
    try:
        array = values if isinstance(values, pa.Array) else pa.array(values)
        if not _is_same_kind(array.type, expected):
            raise SchemaError(f"Column {name!r} has values of type {array.type}, not {expected}.")
        return array.cast(expected)
    except pa.ArrowException as error:
        raise SchemaError(f"Column {name!r}: {error}") from None


def _is_same_kind(found: pa.DataType, expected: pa.DataType) -> bool:
    if pa.types.is_null(found) or found == expected:
        return True
    if pa.types.is_list(found) and pa.types.is_list(expected):
        return _is_same_kind(found.value_type, expected.value_type)
    return bool(pa.types.is_integer(found) and pa.types.is_integer(expected))


def _label_ids(labels: Any, names: Sequence[str]) -> pa.Array:
    found = _array("label", labels, pa.string())
    ids = pc.index_in(found, pa.array(names, pa.string()))
    row = pc.index(pc.is_null(ids), True).as_py()
    if row >= 0:
        label = found[row].as_py()
        raise SchemaError(f"Label {label!r} in row {row} is not one of {', '.join(names)}.")
    return ids
