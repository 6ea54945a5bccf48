"""Count rows and groups by columns of one's choice, beside the papers' counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ...loaders.errors import UnknownNameError
from ..core.spec import DatasetSpec, PublishedCounts
from ..versions.row_tables import RowTables, open_rows
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
    opened: RowTables | None = None,
) -> tuple[ValueCount, ...]:
    """Count a version's rows and groups by columns, with no more memory for more rows.

    Args:
        version: The version.
        config: The config.
        by: The columns; ``A+B`` crosses two.
        published: Counts of a paper by split; None takes those of the version's dataset.
        opened: The rows of the version, where they are open already.

    Returns:
        A count for each split, name in ``by`` and value, in the order of the declared labels,
        categories and domains, otherwise of the values. Values that only the paper counts have 0
        rows.

    Raises:
        OutputError: Memory or the disk is full.
        UnknownNameError: The dataset has no such column.
        VerificationError: A file is missing or malformed.

    Source: BioNLI, Tables 2 and 3 (``category``); SpaceNLI, Table 2 (``category+expressions``) and
        Table 3; SciNLI, Table 3 (``label``); MSciNLI, Table 2 (``domain``).
    """
    spec = version.builder.SPEC
    if published is None:
        published = spec.published.get(config, {})
    crossed = {name: name.split("+") for name in by}
    for column in (column for columns in crossed.values() for column in columns):
        if column not in spec.columns:
            raise UnknownNameError.of("column", column, spec.columns)
    found: list[ValueCount] = []
    if not crossed:
        return ()
    with open_rows(version, opened) as tables:
        for name, columns in crossed.items():
            for number, split in enumerate(version.manifest.configs[config]):
                expected = _expected(published.get(split, {}), columns)
                counts = _count(tables, spec, config, number, columns)
                for value in _in_order([*counts, *expected], expected, spec):
                    rows, groups = counts.get(value, (0, 0))
                    found.append(ValueCount(split, name, value, rows, groups, expected.get(value)))
    return tuple(found)


def _count(
    tables: RowTables, spec: DatasetSpec, config: str, split: int, columns: Sequence[str]
) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Return the number of rows and of groups by value."""
    schema = spec.features.arrow_schema
    rows, values = f"{tables.rows(config)} AS rows", []
    for number, column in enumerate(columns):
        values.append(f'rows."{column}" AS value_{number}')
        if pa.types.is_list(kind := schema.field(column).type) or pa.types.is_large_list(kind):
            rows += f', unnest(rows."{column}") AS items_{number}(value_{number})'
            values[-1] = f"items_{number}.value_{number}"
    named = ", ".join(f"value_{number}" for number in range(len(columns)))
    counted = tables.execute(
        f"""
        SELECT {named}, sum(n)::BIGINT, count(key) FROM (
            SELECT {", ".join(values)}, rows."group" AS key, count(*) AS n
            FROM {rows} WHERE rows.split = {split} GROUP BY ALL
        ) GROUP BY {named}
        """
    )
    counts = {}
    for *value, n_rows, n_groups in counted:
        names = (spec.labels[v] if c == "label" else v for c, v in zip(columns, value, strict=True))
        counts[tuple(names)] = (n_rows, n_groups)
    return counts


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
