"""Columns of any kind as Arrow arrays: lists, NumPy, Arrow, pandas, Polars, tensors, Datasets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .problems import Problems, show_rows

EXPECTED = "expected integers or strings"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of integers or strings without nulls.

    Attributes:
        name: Its name among the inputs, e.g. ``"predictions"``.
        values: Integers, strings, or a dictionary of one of them.
        class_names: The names of a ``ClassLabel`` column of a ``Dataset``, else None.
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
        columns[name] = Column(name, _plain(values), class_names)
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
    if data is not None and isinstance(given, str):
        given, class_names = take_column(data, given)
    else:
        class_names = None
    if hasattr(given, "source") and hasattr(given, "column_name"):  # a column of a Dataset
        if not hasattr(given.source, "select_columns"):
            given = list(given)
        else:
            given, class_names = take_column(given.source, given.column_name)
    values = _convert(given)
    if isinstance(values, pa.ChunkedArray):
        if pa.types.is_dictionary(values.type):
            values = values.unify_dictionaries()
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    return values, class_names


def take_column(data: Any, name: str) -> tuple[Any, tuple[str, ...] | None]:
    """A column by name, and its class names if it is a ``ClassLabel``.

    Args:
        data: A ``Dataset``, Arrow table, data frame or mapping.
        name: The column.

    Raises:
        UnreadableError: There is no such column.
    """
    names = _column_names(data)
    if name not in names:
        raise UnreadableError(f"there is no column {name!r} in data; it has {', '.join(names)}")
    features = getattr(data, "features", None)
    if features is not None:
        column = data.select_columns([name]).with_format("arrow")[:].column(0)
        class_names = getattr(features[name], "names", None)
        return column, tuple(class_names) if class_names is not None else None
    return data[name], None


def _column_names(data: Any) -> list[str]:
    if isinstance(data, Mapping) and not all(isinstance(key, str) for key in data):
        raise UnreadableError("the names of the columns of data are no strings")
    if isinstance(data, Mapping) and not hasattr(data, "column_names"):
        return list(data)
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if names is None or isinstance(names, Mapping):
        raise UnreadableError(
            f"data is a {type(data).__name__}; expected a Dataset (one split), an Arrow table, "
            "a data frame or a mapping of columns"
        )
    return list(names)


def _convert(given: Any) -> pa.Array | pa.ChunkedArray:
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return given
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__len__"):
        raise UnreadableError(f"is {_short(given)}, a {type(given).__name__}, and no column")
    if hasattr(given, "to_arrow"):  # Polars
        return given.to_arrow()
    if type(given).__module__.split(".")[0] != "pandas" and hasattr(given, "__array__"):
        given = np.asarray(given)
    if isinstance(given, np.ndarray) and given.ndim != 1:
        raise UnreadableError(f"has the shape {given.shape}; expected one value a row")
    if not isinstance(given, np.ndarray | Sequence) and not hasattr(given, "iloc"):
        given = list(given)
    try:
        return pa.array(given)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise UnreadableError(_mixed(list(given))) from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _mixed(values: list[Any]) -> str:
    """What is wrong with values that have no common type: those that are no strings or ints."""
    n_strings = sum(isinstance(value, str) for value in values)
    n_integers = sum(_is_integer(value) for value in values)
    usual = _is_integer if n_integers >= n_strings else lambda value: isinstance(value, str)
    odd = np.flatnonzero([not usual(value) for value in values])
    if not len(odd):
        return f"holds integers beyond 64 bits; {EXPECTED}"
    noun = "integers" if usual is _is_integer else "strings"
    return f"{show_rows(odd, values)}; expected {noun} like the other rows"


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check(values: pa.Array) -> str | None:
    if not len(values):
        return f"is empty; {EXPECTED}"
    nulls = values.is_null()  # also of a dictionary whose values have a null
    if values.null_count or (pa.types.is_dictionary(values.type) and values.dictionary.null_count):
        if pa.types.is_dictionary(values.type):
            nulls = values.dictionary_decode().is_null()
        rows = np.flatnonzero(nulls.to_numpy(zero_copy_only=False))
        return f"nothing in {show_rows(rows, values)}; {EXPECTED}"
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_integer(kind) or _is_string(kind):
        return None
    rows = np.arange(len(values))
    if pa.types.is_floating(kind):  # of integers and floats, name the floats
        numbers = values.to_numpy(zero_copy_only=False)
        fractions = np.flatnonzero(~(np.floor(numbers) == numbers))  # NaN among them
        rows = fractions if len(fractions) else rows
    return f"holds values of type {kind} in {show_rows(rows, values)}; {EXPECTED}"


def _is_string(kind: pa.DataType) -> bool:
    is_view = getattr(pa.types, "is_string_view", lambda _: False)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or is_view(kind)


def _plain(values: pa.Array) -> pa.Array:
    """The values in a type that every compute function of Arrow takes."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        keys = _plain(values.dictionary)
        if len(pc.unique(keys)) < len(keys):  # a dictionary may repeat a value
            return _plain(values.dictionary_decode())
        return pa.DictionaryArray.from_arrays(values.indices, keys)
    if _is_string(kind) and not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        try:
            return values.cast(pa.large_string())
        except pa.ArrowNotImplementedError:  # a view, in Arrow before 17
            return pa.array(values.to_pylist(), pa.large_string())
    return values
