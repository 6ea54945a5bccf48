"""Count rows, groups and mechanisms with negatives, beside the papers' counts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ...loaders.errors import UnknownNameError
from ...loaders.releases.bionli import LABELS
from ..core.spec import DatasetSpec, PublishedCounts
from ..versions.row_tables import RowTables


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


def count_rows(
    tables: RowTables,
    config: str,
    by: Sequence[str],
    published: Mapping[str, PublishedCounts] | None = None,
) -> tuple[ValueCount, ...]:
    """Count a version's rows and groups by columns, with no more memory for more rows.

    Args:
        tables: The rows of the version.
        config: The config.
        by: The columns; ``A+B`` crosses two.
        published: Counts of a paper by split; None takes those of the version's dataset.

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
    spec = tables.version.builder.SPEC
    if published is None:
        published = spec.published.get(config, {})
    counts: list[ValueCount] = []
    for name in by:
        columns = name.split("+")
        for column in columns:
            if column not in spec.columns:
                raise UnknownNameError.of("column", column, spec.columns)
        found = _count(tables, spec, config, columns)
        for number, split in enumerate(tables.version.manifest.configs[config]):
            theirs = published.get(split, {}).get(", ".join(columns), {})
            expected = {
                (value if len(columns) > 1 else (value,)): n
                for value, n in (theirs.items() if isinstance(theirs, Mapping) else ())
            }
            for value in _sort({*found[number], *expected}, expected, spec):
                rows, groups = found[number].get(value, (0, 0))
                counts.append(ValueCount(split, name, value, rows, groups, expected.get(value)))
    return tuple(counts)


def _count(
    tables: RowTables, spec: DatasetSpec, config: str, columns: Sequence[str]
) -> Mapping[int, dict[tuple[Any, ...], tuple[int, int]]]:
    """Return the number of rows and of groups by number of the split and value."""
    rows = tables.rows(config)
    for name in columns:
        if pa.types.is_list(spec.features.arrow_schema.field(name).type):
            rows = f'(SELECT * REPLACE (unnest("{name}") AS "{name}") FROM {rows})'
    named = ", ".join(f'"{name}"' for name in columns)
    counted = tables.execute(
        f"""
        SELECT split, {named}, sum(n_alike)::BIGINT, count(unit) FROM (
            SELECT split, {named}, "group" AS unit, count(*) AS n_alike FROM {rows} GROUP BY ALL
        ) GROUP BY ALL
        """
    )
    counts: defaultdict[int, dict[tuple[Any, ...], tuple[int, int]]] = defaultdict(dict)
    for split, *value, n_rows, n_groups in counted:
        names = (spec.labels[v] if c == "label" else v for c, v in zip(columns, value, strict=True))
        counts[split][tuple(names)] = (n_rows, n_groups)
    return counts


def _sort(
    values: Iterable[tuple[Any, ...]], published: Iterable[tuple[Any, ...]], spec: DatasetSpec
) -> list[tuple[Any, ...]]:
    """Sort values: those that are declared or published first, in their order."""
    declared = [*spec.labels, *spec.categories, *spec.domains]
    declared += [part for value in published for part in value if isinstance(part, str)]

    def place(value: Any) -> tuple[int, float, str]:
        number = float(value) if isinstance(value, int | float) else 0.0
        return declared.index(value) if value in declared else len(declared), number, str(value)

    return sorted(values, key=lambda value: [place(part) for part in value])


# ---- the negatives of mechanisms ---------------------------------------------------------------

#: Share of the mechanisms of a split, in percent, that have negatives of so many categories, by
#: dataset, config and split (BioNLI, section 3.4, on its Figure 1; 39 is "about 39 %").
PUBLISHED_CATEGORIES = {
    ("bionli", "full", "validation"): {2: 5.7, 3: 35.1, 4: 39.0, 8: 0.1, 9: 0.0}
}


@dataclass(frozen=True)
class PossibleNegatives:
    """The mechanisms of a split that have negatives of so many categories.

    Attributes:
        split: The split.
        n_categories: Number of different categories of negatives.
        mechanisms: Number of mechanisms that have them.
        share: Their share of the mechanisms of the split, in percent.
        published: The share in the paper; None where it states none.
    """

    split: str
    n_categories: int
    mechanisms: int
    share: float
    published: float | None


def count_possible_negatives(tables: RowTables, config: str) -> tuple[PossibleNegatives, ...]:
    """Count the mechanisms by the number of categories that they have negatives of.

    The training set is left out, as its mechanisms have some of their negatives at most.

    Args:
        tables: The rows of the version.
        config: The config.

    Returns:
        For each other split that has mechanisms, every number of categories from 0 to all. Nothing
        where the labels are not those of BioNLI.

    Raises:
        VerificationError: A file is missing or malformed.

    Source:
        BioNLI, section 3.4 and Figure 1, of the validation set.
    """
    spec = tables.version.builder.SPEC
    if tuple(spec.labels) != LABELS:
        return ()
    found = tables.execute(
        f"""
        SELECT split, n, count(*) FROM (
            SELECT split, count(DISTINCT category) FILTER (label = 0) AS n
            FROM {tables.rows(config)} WHERE "group" IS NOT NULL GROUP BY split, "group"
        ) GROUP BY split, n
        """
    )
    counts = []
    for place, split in enumerate(tables.version.manifest.configs[config]):
        mechanisms = {n: n_mechanisms for number, n, n_mechanisms in found if number == place}
        if split == "train" or not mechanisms:
            continue
        published = PUBLISHED_CATEGORIES.get((spec.name, config, split), {})
        for number in range(len(spec.categories)):
            n = mechanisms.get(number, 0)
            share = round(100 * n / sum(mechanisms.values()), 1)
            counts.append(PossibleNegatives(split, number, n, share, published.get(number)))
    return tuple(counts)
