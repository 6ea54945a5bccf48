"""Count rows and groups by columns of one's choice, beside the papers' counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import UnknownNameError
from ..core.spec import DatasetSpec, PublishedCounts
from ..versions.version import BuiltVersion


@dataclass(frozen=True)
class ValueCount:
    """The rows of a split that have some values in some columns.

    Attributes:
        split: The split.
        by: The columns, ``category`` or ``category+label``.
        value: Their values, a label by its name; a list counts under each of its items.
        rows: Number of rows.
        groups: Number of different groups among them, such as patterns; 0 without groups.
        published: The paper's number of rows; None where it publishes none.
    """

    split: str
    by: str
    value: tuple[Any, ...]
    rows: int
    groups: int
    published: int | None


def count_values(
    version: BuiltVersion,
    config: str,
    by: Sequence[str],
    published: Mapping[str, PublishedCounts] | None = None,
) -> tuple[ValueCount, ...]:
    """Count a version's rows and groups by columns, reading rows in batches.

    Args:
        version: The version.
        config: The config.
        by: The columns; ``A+B`` crosses two.
        published: Counts of a paper by split; None takes those of the version's dataset.

    Returns:
        A count for each split, name in ``by`` and value, in the order of the declared labels,
        categories and domains, otherwise of the values. Values that only the paper counts have 0
        rows.

    Raises:
        UnknownNameError: The dataset has no such column.
        VerificationError: A file is missing or malformed.

    Source: BioNLI, Tables 2 and 3 (``category``); SpaceNLI, Table 2 (``category+expressions``) and
        Table 3; SciNLI, Table 3 (``label``); MSciNLI, Table 2 (``domain``).
    """
    spec = version.builder.SPEC
    if published is None:
        published = spec.published.get(config, {})
    found: list[ValueCount] = []
    for name in dict.fromkeys(by):
        columns = name.split("+")
        for column in columns:
            if column not in spec.columns:
                raise UnknownNameError.of("column", column, spec.columns)
        for split in version.manifest.configs[config]:
            expected = _expected(published.get(split, {}), columns)
            counts = _count(version, config, split, columns)
            for value in _in_order([*counts, *expected], expected, spec):
                rows, groups = counts.get(value, (0, 0))
                found.append(ValueCount(split, name, value, rows, groups, expected.get(value)))
    return tuple(found)


def _count(
    version: BuiltVersion, config: str, split: str, columns: Sequence[str]
) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Return the number of rows and of groups by value."""
    labels = version.builder.SPEC.labels
    keys = [*columns, "group"] if "group" not in columns else list(columns)
    tables = []
    for batch in version.batches(config, split, keys):
        for column in columns:
            batch = _flat(batch, column)
        tables.append(batch.group_by(keys).aggregate([([], "count_all")]))
    merged = pa.concat_tables(tables).group_by(keys).aggregate([("count_all", "sum")])
    counts: dict[tuple[Any, ...], tuple[int, int]] = {}
    for row in merged.to_pylist():
        value = tuple(labels[row[c]] if c == "label" else row[c] for c in columns)
        rows, groups = counts.get(value, (0, 0))
        counts[value] = (rows + row["count_all_sum"], groups + (row["group"] is not None))
    return counts


def _flat(table: pa.Table, column: str) -> pa.Table:
    """Return a table with a row for each item of a column of lists; others stay as they are."""
    values = table[column].combine_chunks()
    if not pa.types.is_list(values.type) and not pa.types.is_large_list(values.type):
        return table
    repeated = table.take(pc.list_parent_indices(values))
    return repeated.set_column(table.column_names.index(column), column, pc.list_flatten(values))


def _expected(published: PublishedCounts, columns: Sequence[str]) -> dict[tuple[Any, ...], int]:
    counts = published.get(", ".join(columns))
    if counts is None or isinstance(counts, int):
        return {}
    return {(key if len(columns) > 1 else (key,)): number for key, number in counts.items()}


def _in_order(
    values: Iterable[tuple[Any, ...]], published: Iterable[tuple[Any, ...]], spec: DatasetSpec
) -> list[tuple[Any, ...]]:
    """Sort distinct values: those that are declared or published first, in their order."""
    names = [*spec.labels, *spec.categories, *spec.domains]
    names += [part for value in published for part in value if isinstance(part, str)]
    declared = {name: place for place, name in enumerate(dict.fromkeys(names))}

    def place(value: Any) -> tuple[int, float, str]:
        is_number = isinstance(value, int | float) and value is not None
        return declared.get(value, len(declared)), float(value) if is_number else 0.0, str(value)

    return sorted(set(values), key=lambda value: [place(part) for part in value])
