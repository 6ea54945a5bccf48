"""Ids of groups, categories and domains, encoded as integers from 0."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import InputColumn
from .problems import N_SHOWN, Problems


@dataclass(frozen=True, slots=True)
class EncodedIds:
    """Ids, encoded as positions among the distinct ids.

    Attributes:
        codes: Position of each row's id in ``keys``, ``(n,)``.
        keys: The distinct ids; some may have no row.
    """

    codes: np.ndarray
    keys: pa.Array

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: np.ndarray | slice) -> "EncodedIds":
        """Return the ids of some rows, without the keys that none of these rows has."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return EncodedIds(codes.reshape(-1), self.keys.take(pa.array(used)))


def encode_ids(column: InputColumn) -> EncodedIds:
    """Encode n ids, integers or strings; small integers from 0 keep their values."""
    if (ids := encode_ready_ids(column)) is not None:
        return ids
    values = column.values.dictionary_encode()
    return EncodedIds(values.indices.to_numpy(), values.dictionary)


def hash_ids(column: InputColumn) -> InputColumn:
    """Return n ids in a form that ``encode_ids`` takes without hashing them again."""
    if encode_ready_ids(column) is not None:
        return column
    return replace(column, values=column.values.dictionary_encode())


def encode_ready_ids(column: InputColumn) -> EncodedIds | None:
    """Encode n ids without hashing: a dictionary, or integers from 0 that fit a table of counts.

    Other ids, which must be hashed, give None.
    """
    values = column.values
    if pa.types.is_dictionary(values.type):
        return EncodedIds(values.indices.to_numpy(), values.dictionary)
    if not pa.types.is_integer(values.type):
        return None
    found = pc.min_max(values)
    low, high = found["min"].as_py(), found["max"].as_py()
    if low < 0 or high >= 2**16 + len(values) // 8:
        return None
    codes = values.to_numpy()
    if codes.dtype == np.uint64:  # which np.bincount refuses before NumPy 2
        codes = codes.astype(np.int64)
    return EncodedIds(codes, pa.array(np.arange(high + 1)))


def encode_sorted(column: InputColumn) -> EncodedIds:
    """Encode n ids, integers or strings, so that the keys are sorted and each has a row."""
    ids = encode_ids(column)
    used = np.bincount(ids.codes, minlength=len(ids)) > 0
    keys = ids.keys.filter(pa.array(used))
    order = pc.sort_indices(keys).to_numpy()
    rank = np.zeros(len(ids), np.int64)
    rank[np.flatnonzero(used)[order]] = np.arange(len(keys))
    return EncodedIds(rank[ids.codes], keys.take(order))


def check_one_value_per_group(
    ids: EncodedIds, name: str, codes: np.ndarray, names: Sequence[Any], problems: Problems
) -> None:
    """Check that all rows of a group have the same value.

    Args:
        ids: The group of each of the n rows.
        name: Name of the column that must be constant, for the problem.
        codes: Values of that column as positions in ``names``, ``(n,)``.
        names: The values.
        problems: Collects groups with several values.
    """
    first_row = np.full(len(ids), -1)
    first_row[ids.codes[::-1]] = np.arange(len(codes))[::-1]
    first = first_row[ids.codes]
    rows = np.flatnonzero(codes[first] != codes)
    if not len(rows):
        return
    bad, which = np.unique(ids.codes[rows], return_index=True)
    which = np.sort(which)  # in the order of the rows
    shown = [
        f"{ids.keys[ids.codes[row]].as_py()!r} (row {first[row]}: {names[codes[first[row]]]}, "
        f"row {row}: {names[codes[row]]})"
        for row in rows[which][:N_SHOWN].tolist()
    ]
    more = ", ..." if len(bad) > N_SHOWN else ""
    n_groups = len(np.unique(ids.codes))
    problems.add(
        f"{name}: not the same for all rows of a group in {len(bad)} of {n_groups} groups: "
        f"{', '.join(shown)}{more}."
    )
