"""Columns of any kind as Arrow arrays: lists, NumPy, Arrow, pandas, Polars, tensors, Datasets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .problems import Problems, show_rows

EXPECTED = "expected integers or strings"

#: Texts that the type string can hold in one array.
_MAX_STRING_BYTES = 2**31 - 1

#: Columns whose values are labels; the values of all others are ids.
LABEL_COLUMNS = ("references", "predictions", "other_predictions", "prediction")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of integers or strings without nulls.

    Attributes:
        name: Its name among the inputs, e.g. ``"predictions"``.
        values: Integers, strings, or a dictionary of one of them.
        class_names: The names of labels that are a ``ClassLabel`` column of a ``Dataset``, else
            None; ids that are one have become those names.
    """

    name: str
    values: pa.Array
    class_names: tuple[str, ...] | None = None


def read_columns(
    required: Mapping[str, Any], optional: Mapping[str, Any], data: Any, problems: Problems
) -> dict[str, Column]:
    """Reads columns of labels or ids, all of the same length.

    Args:
        required: The columns by name, or, where there is ``data``, their names in it.
        optional: More of them; None leaves a column out.
        data: A ``Dataset``, Arrow table, data frame or mapping that has the columns, or None.
        problems: Takes what is wrong, columns that differ in length among it: a result never
            rests on fewer rows than were given.

    Returns:
        The columns without problems.
    """
    columns = {}
    for name, given in {**required, **optional}.items():
        if given is None:
            if name in required:
                problems.add(f"{name}: missing; {EXPECTED}.")
            continue
        try:
            values, class_names = as_arrow(given, data)
        except UnreadableError as error:
            problems.add(f"{name}: {error}.")
            continue
        if problem := _check(values):
            problems.add(f"{name}: {problem}.")
            continue
        values = _plain(values)
        if class_names is not None and name not in LABEL_COLUMNS:
            values, class_names = name_classes(name, values, class_names, problems), None
        columns[name] = Column(name, values, class_names)
    check_lengths({name: len(column.values) for name, column in columns.items()}, problems)
    return columns


def check_lengths(lengths: Mapping[str, int], problems: Problems) -> None:
    """Notes columns that differ in length."""
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        problems.add(f"The columns differ in their number of rows: {listed}.")


class UnreadableError(Exception):
    """What was given is no column; the message says why."""


def as_arrow(given: Any, data: Any = None) -> tuple[pa.Array, tuple[str, ...] | None]:
    """A column as one Arrow array, and its class names if it is a ``ClassLabel``.

    Args:
        given: The column, or its name in ``data``.
        data: What has the column, or None.

    Raises:
        UnreadableError: It is no column.
    """
    class_names = None
    if data is not None and isinstance(given, str):
        given, class_names = take_column(data, given)
    elif _is_from("datasets", given) and hasattr(given, "column_name"):
        if _is_dataset(given.source):
            given, class_names = take_column(given.source, given.column_name)
        else:  # a field of a nested column
            given = list(given)
    values = _convert(given)
    if isinstance(values, pa.ChunkedArray):
        values = _join_chunks(values)
    return values, class_names


def take_column(data: Any, name: str) -> tuple[Any, tuple[str, ...] | None]:
    """A column by name, and its class names if it is a ``ClassLabel``.

    Args:
        data: A ``Dataset``, Arrow table, data frame or mapping.
        name: The column.

    Raises:
        UnreadableError: There is no such column, or there are two.
    """
    names = _column_names(data)
    if names.count(name) != 1:
        what = "more than one" if name in names else "no"
        raise UnreadableError(f"there is {what} column {name!r} in data; it has {_listed(names)}")
    if _is_dataset(data):
        column = data.select_columns([name]).with_format("arrow")[:].column(0)
        class_names = getattr(data.features[name], "names", None)
        return column, tuple(class_names) if class_names is not None else None
    return data[name], None


def _column_names(data: Any) -> list[Any]:
    if isinstance(data, Mapping) and not _is_from("datasets", data):
        return list(data)
    if _is_dataset(data) or isinstance(data, pa.Table):
        return list(data.column_names)
    is_frame = _is_from("pandas", data) or _is_from("polars", data)
    if is_frame and hasattr(data, "__len__") and hasattr(data, "columns"):  # and not a lazy one
        return list(data.columns)
    raise UnreadableError(
        f"data is a {type(data).__name__}; expected a Dataset (one split), an Arrow table, "
        "a data frame or a mapping of columns"
    )


def _listed(names: list[Any]) -> str:
    return ", ".join(map(str, names))


def _is_from(library: str, value: Any) -> bool:
    """Whether a value is of a class of a library, which need not be there."""
    return any(base.__module__.split(".")[0] == library for base in type(value).__mro__)


def _is_dataset(data: Any) -> bool:
    """Whether it is a ``Dataset``, and no ``DatasetDict`` or ``IterableDataset``."""
    is_table = hasattr(data, "select_columns") and hasattr(data, "__len__")
    return _is_from("datasets", data) and is_table and not isinstance(data, Mapping)


def _convert(given: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return given
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__len__"):
        raise UnreadableError(f"is {_short(given)}, a {type(given).__name__}, and no column")
    if (_is_from("pandas", given) or _is_from("polars", given)) and hasattr(given, "shape"):
        if len(given.shape) != 1:
            raise UnreadableError(f"has the shape {given.shape}; expected one value a row")
        return given.to_arrow() if _is_from("polars", given) else _to_array(given)
    if not isinstance(given, np.ndarray) and hasattr(given, "__array__"):
        given = np.asarray(given)
    if isinstance(given, np.ndarray):
        if given.ndim != 1:
            raise UnreadableError(f"has the shape {given.shape}; expected one value a row")
        if not given.dtype.isnative:
            given = given.astype(given.dtype.newbyteorder("="))
        return _to_array(given)
    if not isinstance(given, Sequence):
        raise UnreadableError(f"is {_short(given)}, a {type(given).__name__}, and no column")
    return _to_array(given if isinstance(given, list | tuple) else list(given))


def _to_array(values: Any) -> pa.Array | pa.ChunkedArray:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        values = list(values)
    if all(map(_is_integer, values)):  # of several types
        try:
            return pa.array([int(value) for value in values])
        except OverflowError:
            raise UnreadableError(f"holds integers beyond 64 bits; {EXPECTED}") from None
    raise UnreadableError(_mixed(values))


def _join_chunks(values: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(values.type):
        try:
            values = values.unify_dictionaries()
        except pa.ArrowInvalid:  # more values together than the type of the indices can count
            chunks = [chunk.dictionary_decode() for chunk in values.chunks]
            values = pa.chunked_array(chunks, values.type.value_type)
    if pa.types.is_string(values.type) and values.nbytes > _MAX_STRING_BYTES:
        values = values.cast(pa.large_string())
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _mixed(values: list[Any]) -> str:
    """What is wrong with values that have no common type: those unlike most of the others."""
    n_strings = sum(isinstance(value, str) for value in values)
    n_integers = sum(map(_is_integer, values))
    noun, usual = "integers", _is_integer
    if n_strings > n_integers:
        noun, usual = "strings", _is_string
    odd = np.flatnonzero([not usual(value) for value in values])
    return f"{show_rows(odd, values)}; expected {noun} like the other rows"


def _is_integer(value: Any) -> bool:
    is_number = isinstance(value, int | np.integer) and not isinstance(value, np.timedelta64)
    return is_number and not isinstance(value, bool)


def _is_string(value: Any) -> bool:
    return isinstance(value, str)


def _check(values: pa.Array) -> str | None:
    if not len(values):
        return f"is empty; {EXPECTED}"
    kind = values.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        if values.dictionary.null_count:  # used or not
            values = values.dictionary_decode()
    if values.null_count:
        rows = np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))
        return f"nothing in {show_rows(rows, values)}; {EXPECTED}"
    if pa.types.is_integer(kind) or _is_text(kind):
        return None
    rows = np.arange(len(values))
    if pa.types.is_floating(kind):  # of integers and floats, name the floats
        numbers = values.to_numpy(zero_copy_only=False)
        fractions = np.flatnonzero(~(np.floor(numbers) == numbers))  # NaN among them
        rows = fractions if len(fractions) else rows
    return f"holds values of type {kind} in {show_rows(rows, values)}; {EXPECTED}"


def _is_text(kind: pa.DataType) -> bool:
    is_view = getattr(pa.types, "is_string_view", lambda _: False)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_view(kind)


def _plain(values: pa.Array) -> pa.Array:
    """The values as integers, strings or a dictionary of different strings."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        keys = values.dictionary
        is_proper = _is_text(keys.type) and not keys.null_count
        if not is_proper or len(pc.unique(_plain(keys))) < len(keys):
            return _plain(values.dictionary_decode())
        indices = values.indices
        if pa.types.is_uint64(indices.type):  # which NumPy before 2 does not count
            indices = indices.cast(pa.int64())
        return pa.DictionaryArray.from_arrays(indices, _plain(keys))
    if _is_text(kind) and not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        try:
            return values.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # a view, in Arrow before 17
            return pa.array(values.to_pylist(), pa.large_string())
    return values


def name_classes(
    name: str, values: pa.Array, class_names: tuple[str, ...], problems: Problems
) -> pa.Array:
    """Numbers of classes as the classes' names.

    Args:
        name: Name of the column.
        values: The numbers.
        class_names: The names.
        problems: Takes numbers that no class has.
    """
    numbers = values.to_numpy()
    rows = np.flatnonzero((numbers < 0) | (numbers >= len(class_names)))
    if len(rows):
        problems.add(f"{name}: no class in {show_rows(rows, values)}.")
        return values
    return pa.DictionaryArray.from_arrays(values.cast(pa.int64()), list(class_names))
