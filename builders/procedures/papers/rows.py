"""Make rows of the uniform schema from the pairs of papers, in configs and splits, part by part.

Rows stand in the order of a keyed hash, and parts are ranges of it. A first pass over the shards
writes runs: the rows of some shards, a record batch for each part. A second reads the batches of a
part from all runs and sorts them. Where all rows are one part, it is made of the shards at once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq

from ....loaders.atomic_write import whole_folder
from ....loaders.releases import Oddities
from ...core.base import Batch, Result, RowsPart
from ...core.encode import encode
from ...core.identity import code_identity
from ...core.keyed import order_preserving
from ...core.options import Key
from ...core.schema import SPLITS, uniform_features
from ..shards import Corpus, Engine, LocalEngine, do_missing
from .declaration import EXTRA, UNBALANCED
from .extract import PAIRS, PAPERS, TEXTS
from .phrases import LinkingPhrases
from .place_papers import ShardGroup, group_shards
from .select import Pairs

#: Rows of a part, about, and the memory that they take with their copies.
PART_ROWS, PART_BYTES = 300_000, 400_000_000
_BATCH_ROWS = 20_000
_RUN_ROWS = 300_000
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")

_SORTED = pa.schema(
    {
        "order_key": pa.int64(),
        "id": pa.string(),
        "premise": pa.string(),
        "hypothesis": pa.string(),
        "category": pa.int16(),
        "label": pa.int32(),
        "split": pa.int8(),
        "domain": pa.int32(),
        "is_balanced": pa.bool_(),
        "year": pa.int16(),
    }
)


@dataclass(frozen=True)
class PaperRows:
    """The rows of a dataset that is made from papers; see ``PartedRows``.

    Attributes:
        corpus: The papers as they were read.
        results: The folder for what is made of these.
        source: The papers that are taken, as one source.
        domains: Their domains.
        pairs: The pairs.
        parameters: All that the rows depend on, besides the papers.
        phrases: The linking phrases.
        keys: The configs and splits to make.
        engine: What makes the parts; None takes processes of this machine.
        part_rows: Rows of a part, about; None takes ``PART_ROWS``.
    """

    corpus: Corpus
    results: Path
    source: Mapping[str, Any]
    domains: Sequence[str]
    pairs: Pairs
    parameters: Mapping[str, Any]
    phrases: LinkingPhrases
    keys: frozenset[Key]
    engine: Engine | None = None
    part_rows: int | None = None

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """The papers that are taken, as one source: how many, and a hash of their content."""
        return [self.source]

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return max(1, -(-self.pairs.n_rows // (self.part_rows or PART_ROWS)))

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """Yield the rows in the order of a keyed hash."""
        for part in self._parts(LocalEngine(1)):
            yield from part.batches(oddities)

    def map_parts(self, job: Callable[[int, RowsPart], Result], num_proc: int) -> Iterator[Result]:
        """Do a job on every part; see ``PartedRows``."""
        engine = self.engine or LocalEngine(num_proc)
        return engine.map(partial(_do_part, job), self._parts(engine))

    def _parts(self, engine: Engine) -> "list[_Part]":
        n_parts = self.n_parts
        maker = _RowMaker(self.pairs.files)
        source: _Runs | _Shards
        if n_parts == 1:
            source = _Shards(maker, group_shards(self.corpus, self.results))
        else:
            made_of = (code_identity(__name__), self.pairs.files[0].parent.name, n_parts)
            source = _Runs(self.results / f"runs-{self.corpus.key(*made_of)}")
            groups = group_shards(self.corpus, source.folder)
            do_missing(engine, _RunJob(maker, n_parts).run, groups, "sorting rows")
        return [
            _Part(number, source, self.domains, self.phrases, self.keys)
            for number in range(n_parts)
        ]


@dataclass(frozen=True)
class _RowMaker:
    """Puts decisions and texts together to rows.

    Attributes:
        chosen: The files of the pairs that are taken; see ``Pairs``.
    """

    chosen: Sequence[Path]

    def make(self, group: ShardGroup) -> Iterator[pa.Table]:
        """Yield the rows of some shards, in the order of shards and pairs, some at a time."""
        last = group.first + len(group.folders) - 1
        bounds = (pc.field("shard") >= group.first) & (pc.field("shard") <= last)
        chosen = pa.concat_tables(
            [pq.read_table(path, filters=bounds) for path in self.chosen]
        ).sort_by([("shard", "ascending"), ("pair", "ascending")])
        shards = chosen["shard"].to_numpy()
        for number, folder in enumerate(group.folders, group.first):
            start, end = np.searchsorted(shards, [number, number + 1])
            if start < end:
                yield from _rows_of_shard(folder, chosen.slice(start, end - start))


def _rows_of_shard(folder: Path, chosen: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows of a shard; its texts are read batch by batch."""
    papers = pq.read_table(folder / PAPERS, columns=["id", "year"]).combine_chunks()
    pairs = pq.read_table(
        folder / PAIRS, columns=["paper", "category", "first", "second", "order_key"]
    )
    numbers = chosen["pair"].to_numpy()
    with pa.OSFile(str(folder / TEXTS)) as file:
        reader = pa.ipc.open_file(file)
        start = 0
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            begin, end = np.searchsorted(numbers, [start, start + len(batch)])
            here = pa.array(numbers[begin:end])
            some = pairs.take(here).combine_chunks()
            texts = batch.take(pc.subtract(here, start))
            paper = some["paper"].combine_chunks()
            places = (some[name].cast(pa.string()).combine_chunks() for name in ("first", "second"))
            ids = papers["id"].combine_chunks().take(paper)
            decided = chosen.slice(begin, end - begin)
            yield pa.table(
                {
                    "order_key": some["order_key"],
                    "id": pc.binary_join_element_wise(ids, *places, ":"),
                    "premise": texts["premise"],
                    "hypothesis": texts["hypothesis"],
                    "category": some["category"],
                    "label": decided["label"],
                    "split": decided["split"],
                    "domain": decided["domain"],
                    "is_balanced": decided["is_balanced"],
                    "year": papers["year"].take(paper),
                }
            ).cast(_SORTED)
            start += len(batch)


@dataclass(frozen=True)
class _RunJob:
    """Writes the rows of some shards as runs; it can be sent to another process or machine."""

    maker: _RowMaker
    n_parts: int

    def run(self, group: ShardGroup) -> None:
        """Write the runs of some shards, or nothing.

        Each has a record batch for each part; shards with more rows than fit into memory give
        several.
        """
        with whole_folder(group.target, lambda _: True) as work:
            waiting: list[pa.Table] = []
            n_runs = n_rows = 0
            for table in self.maker.make(group):
                waiting.append(table)
                n_rows += len(table)
                if n_rows >= _RUN_ROWS:
                    self._write(work / f"{n_runs:05d}.arrow", waiting)
                    waiting, n_rows, n_runs = [], 0, n_runs + 1
            if waiting:
                self._write(work / f"{n_runs:05d}.arrow", waiting)

    def _write(self, path: Path, tables: Sequence[pa.Table]) -> None:
        table = pa.concat_tables(tables).combine_chunks()
        part = part_of(table["order_key"].to_numpy(), self.n_parts)
        ranked = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[ranked], np.arange(self.n_parts + 1))
        with pa.ipc.new_file(str(path), _SORTED, options=_COMPRESSED) as writer:
            for start, end in pairwise(ends):
                rows = table.take(pa.array(ranked[start:end])).combine_chunks()
                writer.write_batch(
                    rows.to_batches()[0]
                    if len(rows)
                    else pa.RecordBatch.from_pylist([], schema=_SORTED)
                )


def part_of(order: npt.NDArray[np.int64], n_parts: int) -> npt.NDArray[np.int64]:
    """Return the part of each of n rows by its order: of equal ranges of it, the number."""
    bounds = np.array([2**64 * n // n_parts for n in range(1, n_parts)], np.uint64)
    return np.searchsorted(order_preserving(bounds), order, side="right")


@dataclass(frozen=True)
class _Shards:
    """Where the rows come from that are all one part."""

    maker: _RowMaker
    groups: Sequence[ShardGroup]

    def tables(self, _: int) -> Iterator[pa.Table]:
        for group in self.groups:
            yield from self.maker.make(group)


@dataclass(frozen=True)
class _Runs:
    """Where the rows of one of several parts come from: the runs in the folders of the groups."""

    folder: Path

    def tables(self, part: int) -> Iterator[pa.Table]:
        for path in sorted(self.folder.glob("*/*.arrow")):
            with pa.OSFile(str(path)) as file:
                yield pa.Table.from_batches([pa.ipc.open_file(file).get_batch(part)])


@dataclass(frozen=True)
class _Part:
    """A part of the rows; see ``RowsPart``."""

    number: int
    source: _Shards | _Runs
    domains: Sequence[str]
    phrases: LinkingPhrases
    keys: frozenset[Key]

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """Yield the rows in the order of a keyed hash."""
        features = uniform_features(self.phrases.label_names, EXTRA)
        schema = features.arrow_schema
        tables = [_SORTED.empty_table(), *self.source.tables(self.number)]
        table = pa.concat_tables(tables).combine_chunks()
        table = table.take(pc.sort_indices(table, [("order_key", "ascending")]))
        for start in range(0, len(table), _BATCH_ROWS):
            some = table.slice(start, _BATCH_ROWS)
            yield Batch(encode(self._columns(some), features, schema), self._members(some))

    def _columns(self, table: pa.Table) -> dict[str, Any]:
        def names(column: str, known: Sequence[str]) -> pa.Array:
            return pa.array(known, pa.string()).take(table[column].combine_chunks())

        ids = table["id"].combine_chunks()
        return {
            "id": ids,
            "premise": table["premise"].combine_chunks(),
            "hypothesis": table["hypothesis"].combine_chunks(),
            "label": names("label", self.phrases.label_names),
            "group": pa.nulls(len(table)),
            "category": names("category", self.phrases.categories),
            "domain": names("domain", self.domains),
            "source": ids,
            "year": table["year"].combine_chunks(),
        }

    def _members(self, table: pa.Table) -> dict[Key, pa.BooleanArray | None]:
        split, domain = table["split"].to_numpy(), table["domain"].to_numpy()
        is_balanced = table["is_balanced"].to_numpy()
        members: dict[Key, pa.BooleanArray | None] = {}
        for config, name in self.keys:
            chosen = split == SPLITS.index(name)
            if config != UNBALANCED:
                chosen &= is_balanced
            if config in self.domains and len(self.domains) > 1:
                chosen &= domain == self.domains.index(config)
            members[config, name] = pa.array(chosen)
        return members


def _do_part(job: Callable[[int, RowsPart], Result], part: _Part) -> Result:
    return job(part.number, part)
