"""Put the rows of shards into configs and splits, and count them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ....loaders.atomic_write import whole_folder
from ...core.schema import SPLITS
from ...core.sql import Database
from .declaration import POSITIVE
from .distributions import FULL, VALIDATION, Distribution
from .tables import MEMBERS, ROWS, TableWriter, read_records

#: A key and a pmid; of what is kept in their order, the last.
Threshold = tuple[int, str]


@dataclass(frozen=True)
class RowsShard:
    """The rows of a shard, and the folder for where they belong."""

    rows: Path
    target: Path


@dataclass(frozen=True)
class DistributingJob:
    """Puts the rows of a shard into configs and splits; it can be sent to another process.

    Attributes:
        distribution: The rule.
        first_left_out: Place of the first negated ``VNeg`` that is left out, in their keyed order;
            None keeps all.
    """

    distribution: Distribution
    first_left_out: Threshold | None

    def run(self, shard: RowsShard) -> None:
        """Write where each row belongs; see ``tables``.

        Raises:
            OutputError: The folder cannot be written.
        """
        columns = ["pmid", "kind", "category", "balance"]
        with (
            whole_folder(shard.target, lambda _: True) as work,
            TableWriter(work, MEMBERS) as members,
        ):
            rows = read_records(shard.rows, ROWS, columns)
            for pmid, found in groupby(rows, key=itemgetter("pmid")):
                self._add(pmid, list(found), members)

    def _add(self, pmid: str, rows: Sequence[Mapping[str, Any]], members: TableWriter) -> None:
        is_kept = [self._is_kept(row) for row in rows]
        kept = zip(rows, is_kept, strict=True)
        kinds = [(row["category"], row["kind"]) for row, keeps in kept if keeps]
        full, balanced = self.distribution.place(pmid, kinds)
        limited = self.distribution.limited_category(balanced)
        order = None
        if limited is not None:
            order = self.distribution.limit_order(pmid) - (1 << 63)
        for row, keeps in zip(rows, is_kept, strict=True):
            kind = row["kind"]
            members.add(
                pmid,
                kind,
                row["category"],
                keeps,
                *(
                    value
                    for one in (full, balanced)
                    for value in (split_number(one.split), keeps and one.has_kind(kind))
                ),
                limited,
                order,
            )

    def _is_kept(self, row: Mapping[str, Any]) -> bool:
        last = self.first_left_out
        return last is None or row["balance"] is None or (row["balance"], row["pmid"]) < last


def split_number(split: str | None) -> int:
    """Return the number of a split in the tables; -1 for none."""
    return -1 if split is None else SPLITS.index(split)


def find_limits(
    members: Sequence[Path], max_per_category: int, database: Database
) -> dict[str, Threshold]:
    """Return for each category that has more mechanisms than it may have the last that is taken.

    Args:
        members: The tables of members of all shards.
        max_per_category: How many mechanisms of a category ``balanced`` trains on.
        database: A database.
    """
    database.add({MEMBERS: members})
    found = database.read(
        f"""
        SELECT limited, limit_order, pmid FROM (
            SELECT limited, limit_order, pmid,
                ROW_NUMBER() OVER (PARTITION BY limited ORDER BY limit_order, pmid) AS n
            FROM {MEMBERS} WHERE limited IS NOT NULL AND kind = '{POSITIVE}'
        ) WHERE n = {max_per_category}
        """
    )
    return {row["limited"]: (row["limit_order"], row["pmid"]) for row in found.to_pylist()}


def is_above(row: Mapping[str, Any], limits: Mapping[str, Threshold]) -> bool:
    """Return whether the mechanism of a row of the table of members is above its limit."""
    last = limits.get(row["limited"])
    return last is not None and (row["limit_order"], row["pmid"]) > last


def place_above(full: int, is_kept: bool) -> tuple[int, bool]:
    """Return where a row is in ``balanced`` whose mechanism is above its limit: not in training.

    Args:
        full: The number of the mechanism's split in ``full``.
        is_kept: Whether the row is in the dataset at all.

    Returns:
        The number of the mechanism's split, and whether the row is there.
    """
    validation = split_number(VALIDATION)
    return (validation, is_kept) if full == validation else (-1, False)


class RowGroup(NamedTuple):
    """Rows that belong to the same splits.

    Attributes:
        category: Their category.
        is_positive: Whether they are the positives, one for each mechanism.
        full: The number of their mechanisms' split in ``full``; -1 for none.
        in_full: Whether they are there.
        balanced: The same in ``balanced``.
        in_balanced: The same.
    """

    category: str
    is_positive: bool
    full: int
    in_full: bool
    balanced: int
    in_balanced: bool

    def place(self, config: str) -> tuple[int, bool]:
        """Return the number of their mechanisms' split in a config, and whether they are there."""
        if config == FULL:
            return self.full, self.in_full
        return self.balanced, self.in_balanced


def count_members(
    members: Sequence[Path], limits: Mapping[str, Threshold]
) -> Mapping[RowGroup, int]:
    """Count rows by category and split, the limits of categories applied.

    Args:
        members: The tables of members of all shards.
        limits: See ``find_limits``.
    """
    found: Counter[RowGroup] = Counter()
    names = ["category", "is_positive", "full", "in_full", "balanced", "in_balanced", "is_kept"]
    for path in members:
        table = pq.read_table(path)
        table = table.append_column("is_positive", pc.equal(table["kind"], POSITIVE))
        table = table.append_column("is_above", _are_above(table, limits))
        for row in table.group_by([*names, "is_above"]).aggregate([([], "count_all")]).to_pylist():
            group = RowGroup(*(row[name] for name in names[:-1]))
            if row["is_above"]:
                balanced, in_balanced = place_above(group.full, row["is_kept"])
                group = group._replace(balanced=balanced, in_balanced=in_balanced)
            found[group] += row["count_all"]
    return found


def _are_above(members: pa.Table, limits: Mapping[str, Threshold]) -> pa.Array:
    above = pa.chunked_array([pa.repeat(False, len(members))])
    for category, (order, pmid) in limits.items():
        behind = pc.or_(
            pc.greater(members["limit_order"], order),
            pc.and_(pc.equal(members["limit_order"], order), pc.greater(members["pmid"], pmid)),
        )
        here = pc.and_(pc.equal(members["limited"], category), behind)
        above = pc.or_(above, pc.fill_null(here, False))
    return above
