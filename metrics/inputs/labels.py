"""Labels as the numbers of a label set."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import LABEL_COLUMNS, Column, read_columns
from .problems import Problems, show_rows

#: More different labels than this are no labels, but ids passed in their place.
MAX_LABELS = 1000

#: Rows from which threads are worth starting.
_MIN_PARALLEL = 100_000

#: Below this, numbers stand for themselves; above, only those that occur are labels.
_MAX_DENSE = 64


@dataclass(frozen=True, slots=True)
class EncodedLabels:
    """Columns of labels as positions in one label set.

    Attributes:
        names: The label set: names, or numbers where only numbers are known.
        codes: For every column its n positions in ``names``.
        is_given: Whether the set was given; otherwise it is what the columns hold.
    """

    names: tuple[str | int, ...]
    codes: dict[str, np.ndarray]
    is_given: bool

    def __str__(self) -> str:
        return ",".join(map(str, self.names)) + ("" if self.is_given else " (as observed)")


def read_judged_columns(
    required: Mapping[str, Any],
    optional: Mapping[str, Any],
    labels: Any,
    data: Any,
    problems: Problems,
) -> tuple[dict[str, Column], EncodedLabels]:
    """Reads the columns of a metric, and encodes those that are labels.

    Args:
        required: As for ``read_columns``.
        optional: As for ``read_columns``.
        labels: As for ``encode_labels``.
        data: As for ``read_columns``.
        problems: Takes what is wrong with any of them.

    Returns:
        The columns, and the labels: ``references`` first, then those predicted.
    """
    columns = read_columns(required, optional, data, problems)
    judged = [columns[name] for name in LABEL_COLUMNS if name in columns]
    return columns, encode_labels(judged, labels, problems)


def check_label_set(labels: Any, problems: Problems) -> tuple[str, ...] | None:
    """The label set as a tuple of names, or None where none is given."""
    if labels is None:
        return None
    if isinstance(labels, str) or not isinstance(labels, Sequence | np.ndarray):
        problems.add(f"labels: {labels!r} is no list of names.")
        return None
    names = tuple(labels)
    if not all(isinstance(name, str) for name in names):
        problems.add(f"labels: {list(names)!r} are not all strings; a label's id is its position.")
    elif len(names) > MAX_LABELS:
        problems.add(f"labels: {len(names):,} names; expected a few.")
    elif len(set(names)) != len(names) or len(names) < 2:
        problems.add(f"labels: {list(names)!r} must be two or more, all different.")
    else:
        return names
    return None


def encode_labels(
    columns: Sequence[Column], labels: Sequence[str] | None, problems: Problems
) -> EncodedLabels:
    """Encodes columns of labels, all over the same label set.

    Args:
        columns: The columns; integers are positions in the label set, strings its names.
        labels: The label set; None takes the class names of a ``Dataset`` column, or else
            whatever labels the columns hold.
        problems: Takes labels outside the set, and columns that do not fit together.

    Returns:
        The encoded columns; those with problems are not among them.
    """
    columns = _hash_texts(columns)
    names = check_label_set(labels, problems)
    if names is None:
        declared = {column.class_names for column in columns if column.class_names}
        if len(declared) > 1:
            problems.add(f"The columns have different label sets: {sorted(declared)}.")
        names = next(iter(declared), None)
    if names is not None:
        encoded = {
            column.name: _encode(column, names, problems)
            for column in columns
            if _fits(column, names, problems)
        }
        return EncodedLabels(
            names, {name: codes for name, codes in encoded.items() if codes is not None}, True
        )
    kinds = {column.name: pa.types.is_integer(column.values.type) for column in columns}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{name} {'integers' if k else 'strings'}" for name, k in kinds.items())
        problems.add(f"Labels of two kinds: {listed}. Name the label set: labels=[...].")
        return EncodedLabels((), {}, False)
    return _encode_observed(columns, problems)


def _fits(column: Column, names: tuple[str, ...], problems: Problems) -> bool:
    declared = column.class_names
    if declared is None or declared == names:
        return True
    problems.add(f"{column.name}: its class labels are {list(declared)}, expected {list(names)}.")
    return False


def _encode(column: Column, names: tuple[str, ...], problems: Problems) -> np.ndarray | None:
    values = column.values
    if pa.types.is_integer(values.type):
        low, high = _range(values)
        codes: np.ndarray = values.to_numpy()
        if low >= 0 and high < len(names):
            return codes
        wrong = pc.or_(pc.less(values, 0), pc.greater_equal(values, len(names)))
        listed = ", ".join(f"{i} {name}" for i, name in enumerate(names))
        expected = f"expected the number of a label: {listed}"
    else:
        dictionary = _as_dictionary(values)
        known = {name: i for i, name in enumerate(names)}
        positions = [known.get(value, -1) for value in dictionary.dictionary.to_pylist()]
        codes = np.array(positions, np.int16)[dictionary.indices.to_numpy()]
        if min(positions) >= 0 or codes.min() >= 0:  # a dictionary may hold unused values
            return codes
        wrong = pa.array(codes < 0)
        expected = f"expected one of {', '.join(names)}"
    rows = np.flatnonzero(wrong.to_numpy(zero_copy_only=False))
    problems.add(f"{column.name}: outside the label set in {show_rows(rows, values)}; {expected}.")
    return None


def _encode_observed(columns: Sequence[Column], problems: Problems) -> EncodedLabels:
    values: set[Any] = set()
    dictionaries = {}
    top = -1
    for column in columns:
        if pa.types.is_integer(column.values.type):
            low, high = _range(column.values)
            if low < 0:
                rows = np.flatnonzero(pc.less(column.values, 0).to_numpy(zero_copy_only=False))
                problems.add(
                    f"{column.name}: negative in {show_rows(rows, column.values)}; "
                    "expected labels from 0 (-1 stands for no label)."
                )
                continue
            if high < _MAX_DENSE:
                top = max(top, high)
                continue
        found = dictionaries[column.name] = _as_dictionary(column.values)
        used = np.bincount(found.indices.to_numpy(), minlength=len(found.dictionary)) > 0
        values.update(found.dictionary.filter(pa.array(used)).to_pylist())
    names = tuple(sorted(values | set(range(top + 1))))
    if len(names) > MAX_LABELS:
        problems.add(f"There are {len(names):,} different labels; expected a few.")
        return EncodedLabels((), {}, False)
    position = {name: i for i, name in enumerate(names)}
    codes = {}
    for column in columns:
        if column.name in dictionaries:
            found = dictionaries[column.name]
            mapped = [position.get(value, -1) for value in found.dictionary.to_pylist()]
            codes[column.name] = np.array(mapped, np.int16)[found.indices.to_numpy()]
        else:
            codes[column.name] = column.values.to_numpy()
    return EncodedLabels(names, codes, False)


def _hash_texts(columns: Sequence[Column]) -> list[Column]:
    """Long columns of texts as dictionaries, each made by a thread of its own."""
    texts = [c for c in columns if not pa.types.is_integer(c.values.type)]
    if len(texts) < 2 or len(texts[0].values) < _MIN_PARALLEL:
        return list(columns)
    with ThreadPoolExecutor(len(texts)) as pool:
        hashed = pool.map(lambda column: _as_dictionary(column.values), texts)
        found = {c.name: replace(c, values=v) for c, v in zip(texts, hashed, strict=True)}
    return [found.get(column.name, column) for column in columns]


def _as_dictionary(values: pa.Array) -> pa.DictionaryArray:
    return values if pa.types.is_dictionary(values.type) else values.dictionary_encode()


def _range(values: pa.Array) -> tuple[int, int]:
    found = pc.min_max(values)
    return found["min"].as_py(), found["max"].as_py()
