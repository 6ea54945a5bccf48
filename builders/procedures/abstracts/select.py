"""Take each mechanism of a corpus once, by SQL over what the shards hold.

Of several abstracts of one pmid the first is read, in the order of the files. Of the mechanisms
with the same supporting set, however it is cut into sentences, that with the least pmid is taken:
no premise is in two splits, and none has a sentence for a positive and for a negative.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ....loaders.atomic_write import whole_folder
from ....loaders.corpora.abstracts.abstract import SkippedAbstract
from ....loaders.corpora.papers.files import printable
from ...core.sql import Database, SQLEngine, Statement, Tables, open_database, run_statements
from ..shards import CorpusShard
from .extract import read_line_counts, shard_number
from .mechanisms.mechanism import NoMechanism
from .tables import ENTITIES, MECHANISMS, PARTS, UNITS, read_records, table_path

#: Why a mechanism is not taken.
SAME_TEXTS = "another abstract has the same supporting set"
_TWICE = "pmid twice"
_SHARDS = "shards"

# A number that orders the units of a corpus: a shard has fewer than 2^40.
_NUMBERED = f"""(
    SELECT s.number * {1 << 40} + u.seq AS place, s.number, u.seq, u.pmid, u.was_read, u.reason,
        u.unit, u.file, u.member, u.line, u.digest
    FROM {UNITS} u JOIN {_SHARDS} s ON s.shard = u.shard
)"""

_STATEMENTS = (
    Statement(
        "twice",
        f"""
        SELECT pmid, MIN(place) AS place FROM {_NUMBERED} u WHERE was_read
        GROUP BY pmid HAVING COUNT(*) > 1
        """,
    ),
    Statement(
        "again",
        f"""
        SELECT u.place, u.number, u.seq, f.number AS first_number, f.file, f.member, f.line
        FROM {_NUMBERED} u
        JOIN twice t ON t.pmid = u.pmid AND t.place < u.place
        JOIN {_NUMBERED} f ON f.place = t.place
        WHERE u.was_read
        """,
    ),
    Statement(
        "positives",
        f"""
        SELECT place, number, seq, pmid, digest FROM {_NUMBERED} u
        WHERE was_read AND reason IS NULL
            AND NOT EXISTS (SELECT 1 FROM again a WHERE a.place = u.place)
        """,
    ),
    Statement(
        "same",
        """
        SELECT digest, MIN(pmid) AS pmid FROM positives GROUP BY digest HAVING COUNT(*) > 1
        """,
    ),
    Statement(
        "doubles",
        """
        SELECT p.number, p.seq, p.place, p.pmid, s.pmid AS taken
        FROM positives p JOIN same s ON s.digest = p.digest WHERE p.pmid <> s.pmid
        """,
    ),
    Statement(
        "taken",
        """
        SELECT number, seq, pmid FROM positives p
        WHERE NOT EXISTS (SELECT 1 FROM doubles d WHERE d.place = p.place)
        """,
    ),
    Statement(
        "reasons",
        f"""
        SELECT reason, COUNT(*) AS n, MIN(place) AS place
        FROM (
            SELECT u.place, CASE WHEN a.place IS NULL THEN u.reason ELSE '{_TWICE}' END AS reason
            FROM {_NUMBERED} u LEFT JOIN again a ON a.place = u.place
        ) r
        WHERE reason IS NOT NULL GROUP BY reason
        """,
    ),
    Statement(
        "left_out",
        f"""
        SELECT p.unit, p.reason, COUNT(*) AS n
        FROM {PARTS} p JOIN {_SHARDS} s ON s.shard = p.shard
        LEFT JOIN again a ON a.number = s.number AND a.seq = p.seq
        WHERE a.seq IS NULL GROUP BY p.unit, p.reason
        """,
    ),
)

#: The mechanisms that are taken, by pmid.
_CONTENT = f"""
    SELECT m.json FROM {MECHANISMS} m JOIN {_SHARDS} s ON s.shard = m.shard
    JOIN taken t ON t.number = s.number AND t.seq = m.seq ORDER BY m.pmid
"""


@dataclass(frozen=True)
class SelectedMechanisms:
    """The mechanisms of a corpus of abstracts that are taken.

    Attributes:
        shards: The shards of the corpus, in the order of the files.
        tables: The tables of the shards and of the selection, by name.
        folder: Where the tables of the selection are.
    """

    shards: Sequence[CorpusShard]
    tables: Tables
    folder: Path

    @cached_property
    def n_taken(self) -> int:
        """The number of mechanisms that are taken."""
        return self._count("taken")

    @property
    def n_read(self) -> int:
        """The number of abstracts and records found, whether they could be read or not.

        A file that is not read at all counts as one.
        """
        return self.n_taken + sum(self.dropped.values())

    @cached_property
    def dropped(self) -> Mapping[str, int]:
        """The number of abstracts that are not taken by reason, the most frequent first."""
        found = sorted(self._read("reasons"), key=lambda row: (-row["n"], row["place"]))
        dropped = {row["reason"]: row["n"] for row in found}
        if n_doubles := self._count("doubles"):
            dropped[SAME_TEXTS] = n_doubles  # in the order of the report the last
        return dict(sorted(dropped.items(), key=lambda item: -item[1]))

    @cached_property
    def left_out_counts(self) -> Mapping[str, int]:
        """The number of entities, relations and lines left out of abstracts, by kind and reason."""
        found = {f"{row['unit']}: {row['reason']}": row["n"] for row in self._read("left_out")}
        return dict(sorted(found.items()))

    @cached_property
    def not_taken(self) -> "Collection[SkippedAbstract | NoMechanism]":
        """Why the others give no mechanism, in the order of the files; then duplicates, by pmid."""
        return _Streamed(self._not_taken, sum(self.dropped.values()))

    @cached_property
    def left_out(self) -> "Collection[SkippedAbstract]":
        """Entities, relations and lines left out of abstracts that were read."""
        return _Streamed(self._left_out, sum(self.left_out_counts.values()))

    def read_pmids(self, database: Database) -> Iterator[str]:
        """Read the pmids of the mechanisms that are taken, in no order."""
        for batch in database.batches("SELECT pmid FROM taken"):
            yield from batch["pmid"].to_pylist()

    def read_content(self, database: Database) -> Iterator[bytes]:
        """Read the mechanisms that are taken as JSON, by pmid."""
        for batch in database.batches(_CONTENT):
            yield from batch["json"].to_pylist()

    def read_places(self, database: Database) -> Iterator[tuple[int, int]]:
        """Read the number of the shard, and the place in it, of those that are taken, by pmid."""
        for batch in database.batches("SELECT number, seq FROM taken ORDER BY pmid"):
            yield from zip(batch["number"].to_pylist(), batch["seq"].to_pylist(), strict=True)

    def hash(self, database: Database) -> str:
        """Return the sha256 of the mechanisms that are taken, by pmid."""
        digest = hashlib.sha256()
        for content in self.read_content(database):
            digest.update(content)
        return digest.hexdigest()

    def taken_of_shards(self) -> list[npt.NDArray[np.int64]]:
        """Return for each shard the places of the mechanisms that are taken, in order."""
        table = pq.read_table(self.tables["taken"], columns=["number", "seq"])
        number, seq = (table[name].to_numpy() for name in ("number", "seq"))
        order = np.lexsort((seq, number))
        bounds = np.searchsorted(number[order], np.arange(1, len(self.shards)))
        return np.split(seq[order], bounds)

    def _count(self, table: str) -> int:
        return sum(pq.read_metadata(path).num_rows for path in self.tables[table])

    def _read(self, table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = pq.read_table(self.tables[table]).to_pylist()
        return found

    def _sorted(self, stack: ExitStack, table: str, order: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table in an order; a database is opened where there are any."""
        if self._count(table):
            database = stack.enter_context(open_database(self.folder))
            database.add({table: self.tables[table]})
            for batch in database.batches(f"SELECT * FROM {table} ORDER BY {order}"):
                yield from batch.to_pylist()

    def _not_taken(self) -> Iterator[SkippedAbstract | NoMechanism]:
        columns = [name for name in _UNIT_COLUMNS if name != "digest"]
        with ExitStack() as stack:
            again = self._sorted(stack, "again", "place")
            known = next(again, None)
            for number, shard in enumerate(self.shards):
                for row in read_records(shard.folder, UNITS, columns):
                    if known and (known["number"], known["seq"]) == (number, row["seq"]):
                        file, line = self._where(known["first_number"], known)
                        first = f"{file}:{line}" if line else file
                        place = *self._where(number, row), row["pmid"]
                        detail = f"first read from {first}"
                        yield SkippedAbstract(*place, row["unit"], _TWICE, detail)
                        known = next(again, None)
                    elif row["reason"] is not None:
                        yield self._show(number, row)
            for row in self._sorted(stack, "doubles", "pmid"):
                detail = f"that of {row['taken']} is taken"
                yield NoMechanism("", 0, row["pmid"], SAME_TEXTS, detail)

    def _left_out(self) -> Iterator[SkippedAbstract]:
        with ExitStack() as stack:
            again = self._sorted(stack, "again", "place")
            known = next(again, None)
            for number, shard in enumerate(self.shards):
                for row in read_records(shard.folder, PARTS):
                    here = number, -1 if row["seq"] is None else row["seq"]
                    while known and (known["number"], known["seq"]) < here:
                        known = next(again, None)
                    if not known or (known["number"], known["seq"]) != here:
                        reason = row["reason"], row["detail"]
                        yield SkippedAbstract(
                            *self._where(number, row), row["pmid"], row["unit"], *reason
                        )

    def _show(self, number: int, row: Mapping[str, Any]) -> SkippedAbstract | NoMechanism:
        place = *self._where(number, row), row["pmid"]
        reason = row["reason"], row["detail"]
        if row["was_read"]:
            return NoMechanism(*place, *reason)
        return SkippedAbstract(*place, row["unit"], *reason)

    def _where(self, number: int, row: Mapping[str, Any]) -> tuple[str, int]:
        """Return the file, as the user named it, and the line of a unit in a shard."""
        path = printable(str(self.shards[number].files[row["file"]].path))
        member, line = row["member"], row["line"]
        if line:
            line += self._lines_before[number][row["file"]]
        return f"{path}/{member}" if member else path, line

    @cached_property
    def _lines_before(self) -> list[list[int]]:
        """For each shard and file, the number of lines of the file's parts before."""
        counts = [read_line_counts(shard.folder) for shard in self.shards]
        files = [file for shard in self.shards for file in shard.files]
        before: list[int] = []
        n_lines = 0
        for file, n in zip(files, chain.from_iterable(counts), strict=True):
            before.append(n_lines if file.start else 0)
            n_lines = before[-1] + n
        ends = list(accumulate(map(len, counts)))
        return [before[end - len(some) : end] for some, end in zip(counts, ends, strict=True)]


_UNIT_COLUMNS = ("seq", "pmid", "was_read", "reason", "detail", "unit", "file", "member", "line")


@dataclass(frozen=True)
class _Streamed(Collection[Any]):
    """Entries that are read from the shards whenever they are asked for."""

    entries: Callable[[], Iterator[Any]]
    n_entries: int

    def __iter__(self) -> Iterator[Any]:
        return self.entries()

    def __len__(self) -> int:
        return self.n_entries

    def __contains__(self, one: object) -> bool:
        return any(one == other for other in self)


def select_mechanisms(
    shards: Sequence[CorpusShard], folder: Path, database: Database, sql: SQLEngine
) -> SelectedMechanisms:
    """Take each mechanism of a corpus once.

    Args:
        shards: The shards of the corpus, in the order of the files.
        folder: Where the tables of the selection are kept, of these shards alone.
        database: A database, which then has the tables of the shards and of the selection.
        sql: What runs the statements.
    """
    given = folder / _SHARDS
    if not given.is_dir():
        with whole_folder(given, lambda _: True) as work:
            names = [shard_number(shard.folder) for shard in shards]
            columns = {"shard": pa.array(names, pa.int64()), "number": range(len(shards))}
            pq.write_table(pa.table(columns), work / "shards.parquet")
    tables = {
        name: [table_path(shard.folder, name) for shard in shards]
        for name in (UNITS, PARTS, MECHANISMS, ENTITIES)
    }
    tables[_SHARDS] = [given / "shards.parquet"]
    found = run_statements(_STATEMENTS, tables, folder, folder.name, sql)
    database.add(found)
    return SelectedMechanisms(shards, found, folder)
