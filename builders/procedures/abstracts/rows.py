"""Rows of the uniform schema from mechanisms and their negatives, by configs and splits.

They are in the order of a keyed hash. A pass over the shards writes them into runs, of which each
has a batch for every part of the order; a part is then read from all runs, and sorted in memory.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from ....loaders.atomic_write import whole_folder
from ....loaders.errors import CorpusError
from ....loaders.releases import Oddities
from ....loaders.releases.bionli import LABELS
from ...core.base import Batch, Result, RowsPart
from ...core.encode import encode
from ...core.keyed import keyed_number
from ...core.options import Key
from ...core.schema import SPLITS, uniform_features
from ..shards import Engine, do_missing
from .declaration import EXTRA, POSITIVE
from .distributions import BALANCED, FULL
from .members import Threshold, is_above, place_above, split_number
from .negatives import MechanismShard
from .perturb.names import find_places
from .tables import MEMBERS, ROWS, read_records

#: Rows of a part at most, on average; they are sorted in memory.
PART_ROWS = 300_000
_BATCH_ROWS = 5_000
_RUN_ROWS = 20_000
_COMPRESSION = pa.ipc.IpcWriteOptions(compression="lz4")

_RUN_SCHEMA = pa.schema(
    {
        "order": pa.uint64(),
        "id": pa.string(),
        "pmid": pa.string(),
        "premise": pa.string(),
        "hypothesis": pa.string(),
        "category": pa.string(),
        "kind": pa.string(),
        "edit": pa.string(),
        "regulator": pa.string(),
        "regulated": pa.string(),
        "conclusion": pa.string(),
        FULL: pa.int8(),  # number of the row's split; -1 where it is in none
        BALANCED: pa.int8(),
    }
)


@dataclass(frozen=True)
class ArrangedShard:
    """The rows of a shard, where they belong, and the folder for the runs made of them."""

    mechanisms: MechanismShard
    members: Path
    target: Path


@dataclass(frozen=True)
class ArrangingJob:
    """Writes the rows of a shard into runs; it can be sent to another process or machine.

    Attributes:
        seed: Seed of the order of the rows.
        limits: The last mechanism of a category that ``balanced`` trains on, where it is limited.
        keys: The configs and splits to make.
        n_parts: Number of parts of the order.
    """

    seed: int
    limits: Mapping[str, Threshold]
    keys: frozenset[Key]
    n_parts: int

    def run(self, shard: ArrangedShard) -> None:
        """Write the runs of a shard.

        Raises:
            OutputError: The folder cannot be written.
        """
        with whole_folder(shard.target, lambda _: True) as work:
            waiting: list[tuple[Any, ...]] = []
            n_runs = 0
            for row in self._rows(shard):
                waiting.append(row)
                if len(waiting) == _RUN_ROWS:
                    self._write(waiting, work / f"{n_runs:05d}.arrow")
                    waiting, n_runs = [], n_runs + 1
            self._write(waiting, work / f"{n_runs:05d}.arrow")

    def _rows(self, shard: ArrangedShard) -> Iterator[tuple[Any, ...]]:
        columns = ["seq", "kind", "category", "hypothesis", "edit"]
        rows = read_records(shard.mechanisms.target, ROWS, columns)
        members = read_records(shard.members, MEMBERS)
        mechanisms = shard.mechanisms.read_mechanisms()
        seq = -1
        for row, member in zip(rows, members, strict=True):
            while seq != row["seq"]:
                seq, mechanism = next(mechanisms)
            splits = self._splits(member)
            if splits == (-1, -1):
                continue
            name = f"{mechanism.pmid}-{row['kind']}"
            yield (
                keyed_number(self.seed, "order", name),
                name,
                mechanism.pmid,
                " ".join(mechanism.supporting),
                row["hypothesis"],
                row["category"],
                row["kind"],
                row["edit"],
                *_entities(row["hypothesis"]),
                mechanism.conclusion,
                *splits,
            )

    def _splits(self, member: Mapping[str, Any]) -> tuple[int, int]:
        """Return the splits that a row is in, of those to make, in ``full`` and in ``balanced``."""
        balanced, in_balanced = member[BALANCED], member["in_balanced"]
        if is_above(member, self.limits):
            balanced, in_balanced = place_above(member[FULL], member["is_kept"])
        found = (FULL, member[FULL], member["in_full"]), (BALANCED, balanced, in_balanced)
        full, balanced = (
            split if is_there and (config, SPLITS[split]) in self.keys else -1
            for config, split, is_there in found
        )
        return full, balanced

    def _write(self, rows: Sequence[tuple[Any, ...]], path: Path) -> None:
        columns = zip(*rows, strict=True) if rows else ((),) * len(_RUN_SCHEMA)
        fields = zip(columns, _RUN_SCHEMA, strict=True)
        arrays = [pa.array(values, field.type) for values, field in fields]
        table = pa.record_batch(arrays, schema=_RUN_SCHEMA)
        order = table["order"].to_numpy()
        by_order = np.argsort(order, kind="stable")
        bounds = [2**64 * n // self.n_parts for n in range(1, self.n_parts)]
        ends = np.searchsorted(order[by_order], np.array(bounds, np.uint64))
        table = table.take(pa.array(by_order))
        with pa.ipc.new_file(str(path), _RUN_SCHEMA, options=_COMPRESSION) as run:
            for start, end in zip([0, *ends], [*ends, len(table)], strict=True):
                run.write_batch(table.slice(start, end - start))


@dataclass(frozen=True)
class AbstractRowsPart:
    """A part of the rows, in the folders of runs; see ``RowsPart``."""

    number: int
    folders: Sequence[Path]
    domain: str
    keys: frozenset[Key]

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """Yield the rows of the part in order.

        Raises:
            CorpusError: Two rows have one id.
        """
        features = uniform_features(LABELS, EXTRA)
        schema = features.arrow_schema
        table = self._read()
        for start in range(0, len(table), _BATCH_ROWS):
            some = table.slice(start, _BATCH_ROWS)
            yield Batch(encode(self._columns(some), features, schema), self._members(some))

    def _read(self) -> pa.Table:
        batches = []
        for folder in self.folders:
            for path in sorted(folder.iterdir()):
                with pa.OSFile(str(path)) as file:
                    batches.append(pa.ipc.open_file(file).get_batch(self.number))
        columns = dict(
            zip(
                _RUN_SCHEMA.names,
                pa.Table.from_batches(batches, _RUN_SCHEMA).columns,
                strict=True,
            )
        )
        batches.clear()
        keys = pa.table({name: columns[name] for name in ("order", "id")})
        order = pc.sort_indices(keys, [("order", "ascending"), ("id", "ascending")])
        # Column by column, so that hardly more than one copy is in memory.
        table = pa.table(
            {name: columns.pop(name).combine_chunks().take(order) for name in _RUN_SCHEMA.names}
        )
        ids = table["id"]
        if pc.any(pc.equal(ids.slice(1), ids.slice(0, max(len(ids) - 1, 0)))).as_py():
            raise CorpusError("Two rows have one id: a pmid ends like the name of a kind.")
        return table

    def _columns(self, rows: pa.Table) -> dict[str, Any]:
        return {
            "id": rows["id"],
            "premise": rows["premise"],
            "hypothesis": rows["hypothesis"],
            "label": [LABELS[kind == POSITIVE] for kind in rows["kind"].to_pylist()],
            "group": rows["pmid"],
            "category": rows["category"],
            "domain": [self.domain] * len(rows),
            "source": rows["pmid"],
            "kind": rows["kind"],
            "edit": rows["edit"],
            "regulator": rows["regulator"],
            "regulated": rows["regulated"],
            "original_hypothesis": rows["conclusion"],
        }

    def _members(self, rows: pa.Table) -> dict[Key, pa.BooleanArray | None]:
        return {
            (config, split): pc.equal(rows[config], split_number(split)).combine_chunks()
            for config, split in self.keys
        }


@dataclass(frozen=True)
class AbstractRows:
    """The rows of a dataset that is made from abstracts; see ``PartedRows``.

    Attributes:
        shards: The shards, whose runs are made when the rows are asked for.
        job: Makes the runs of a shard.
        engine: What works off the shards.
        domain: The domain of all.
        parameters: Everything that the rows depend on, besides the abstracts.
        sources: The abstracts as one source: their number, and a hash of their mechanisms.
    """

    shards: Sequence[ArrangedShard]
    job: ArrangingJob
    engine: Engine
    domain: str
    parameters: Mapping[str, Any]
    sources: list[Mapping[str, Any]]

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return self.job.n_parts

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """Yield the rows in the order of a keyed hash, so that places tell no labels."""
        for part in self._parts:
            yield from part.batches(oddities)

    def map_parts(self, job: Callable[[int, RowsPart], Result], num_proc: int) -> Iterator[Result]:
        """Do a job on every part, on the engine; see ``PartedRows``."""
        return self.engine.map(partial(_do_part, job), self._parts)

    @cached_property
    def _parts(self) -> list[AbstractRowsPart]:
        do_missing(self.engine, self.job.run, self.shards, "sorting rows")
        folders = [shard.target for shard in self.shards]
        return [
            AbstractRowsPart(number, folders, self.domain, self.job.keys)
            for number in range(self.n_parts)
        ]


def _do_part(job: Callable[[int, RowsPart], Result], part: AbstractRowsPart) -> Result:
    return job(part.number, part)


def _entities(text: str) -> tuple[str | None, str | None]:
    """Return the regulator and the regulated entity that a hypothesis marks."""
    places = find_places(text)
    if places is None:
        return None, None
    regulator, regulated = (text[place.name_start : place.name_end] for place in places)
    return regulator, regulated
