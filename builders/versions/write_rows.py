"""Write the rows of a version: Parquet files, and the manifest that describes them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version as installed_version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...loaders.atomic_write import working_folder
from ...loaders.hashing import hash_file
from ...loaders.releases import Oddities
from ..core.base import NLIBuilder, PartedRows, Rows, RowsPart
from ..core.options import BuildOptions, Key
from ..core.row_digests import ROW_HASH, digest, order_digest, row_hashes
from .manifest import Manifest, ParquetShard, Split

MAX_SHARD_BYTES = 500_000_000
_ROW_GROUP_ROWS = 50_000
_READ_BYTES = 1_000_000


def write_rows(
    builder: type[NLIBuilder], folder: Path, options: BuildOptions, max_shard_bytes: int
) -> Manifest:
    """Write the rows of a dataset as Parquet files; the manifest returned lists no other file yet.

    Rows in parts are written part by part, each where it is made: at least a file for each part
    that has rows of a split.

    Args:
        builder: The builder of the dataset.
        folder: An empty folder.
        options: Where the sources are and how to work.
        max_shard_bytes: A split is cut into files of about this size in memory.

    Raises:
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    spec = builder.SPEC
    wanted = options.wanted(spec)
    rows = builder.make_rows(options)
    for config in wanted:
        (folder / config).mkdir(exist_ok=True)
    with working_folder(folder, ".hashes-") as hashes:
        keys = tuple((config, split) for config, splits in wanted.items() for split in splits)
        place = _Place(folder, hashes, spec.features.arrow_schema, max_shard_bytes)
        job = _PartWriter(place, keys, spec.labels)
        if isinstance(rows, PartedRows):
            parts = list(rows.map_parts(job, options.num_proc))
        else:
            parts = [job(0, rows)]
        configs = {
            config: {split: _join_parts(place, (config, split), parts) for split in splits}
            for config, splits in wanted.items()
        }
    return Manifest(
        dataset=spec.name,
        version=spec.version,
        repository="",
        labels=list(spec.labels),
        columns={field.name: str(field.type) for field in spec.features.arrow_schema},
        configs=configs,
        sources=list(rows.sources),
        parameters=dict(rows.parameters),
        oddities=_sum_oddities(parts),
        made_with={
            "nlihub": installed_version("nlihub"),
            "builder": spec.version,
            "pyarrow": pa.__version__,
        },
        files={},
        declaration=dict(builder.DECLARATION),
        construction=dict(builder.CONSTRUCTION),
    )


def shard_name(split: str, number: int, n_shards: int) -> str:
    """Return the path of a file with rows in the folder of its version.

    >>> shard_name("default/test", 0, 2)
    'default/test-00000-of-00002.parquet'
    """
    return f"{split}-{number:05d}-of-{n_shards:05d}.parquet"


@dataclass(frozen=True)
class _Place:
    """Where and how the rows of a version are written.

    Attributes:
        folder: The folder of the version.
        hashes: The folder for the hashes of rows: for each part a file with those of a split.
        schema: The schema of the rows.
        max_shard_bytes: A split of a part is cut into files of about this size in memory.
    """

    folder: Path
    hashes: Path
    schema: pa.Schema
    max_shard_bytes: int


@dataclass(frozen=True)
class _WrittenSplit:
    """The rows of a split in a part: its files, their size in memory, the file of their hashes."""

    shards: tuple[ParquetShard, ...]
    arrow_bytes: int
    hashes: Path


@dataclass(frozen=True)
class _WrittenPart:
    splits: Mapping[Key, _WrittenSplit]
    oddities: Mapping[str, Oddities]


@dataclass(frozen=True)
class _PartWriter:
    """Checks, hashes and writes the rows of a part."""

    place: _Place
    keys: tuple[Key, ...]
    labels: tuple[str, ...]

    def __call__(self, number: int, rows: Rows | RowsPart) -> _WrittenPart:
        oddities: dict[str, Oddities] = {}
        with ExitStack() as stack:
            writers = {
                key: stack.enter_context(_SplitWriter(self.place, key, number)) for key in self.keys
            }
            for batch in rows.batches(oddities):
                hashes = np.frombuffer(b"".join(row_hashes(batch.table, self.labels)), ROW_HASH)
                for key, member in batch.members.items():
                    chosen = ... if member is None else member.to_numpy(zero_copy_only=False)
                    writers[key].write(batch.select(key), hashes[chosen].tobytes())
        return _WrittenPart({key: writer.written() for key, writer in writers.items()}, oddities)


class _SplitWriter:
    """Writes the rows that a part has of a split, a file after another."""

    def __init__(self, place: _Place, key: Key, part: int) -> None:
        self._place = place
        self._stem = f"{'/'.join(key)}-{part:05d}"
        self._hashes = place.hashes / f"{'-'.join(key)}-{part:05d}"
        self._waiting: list[pa.Table] = []
        self._n_waiting = 0
        self._file: pq.ParquetWriter | None = None
        self._file_rows = self._file_bytes = self._arrow_bytes = 0
        self._shards: list[ParquetShard] = []

    def __enter__(self) -> "_SplitWriter":
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.end_file()
        elif self._file is not None:
            self._file.close()

    def written(self) -> _WrittenSplit:
        return _WrittenSplit(tuple(self._shards), self._arrow_bytes, self._hashes)

    def write(self, table: pa.Table, hashes: bytes) -> None:
        self._arrow_bytes += table.nbytes
        if not len(table):
            return
        with self._hashes.open("ab") as file:
            file.write(hashes)
        self._file_bytes += table.nbytes
        self._waiting.append(table)
        self._n_waiting += len(table)
        while self._n_waiting >= _ROW_GROUP_ROWS:
            self._write_group()
        if self._file_bytes >= self._place.max_shard_bytes:
            self.end_file()

    def end_file(self, *, may_be_empty: bool = False) -> None:
        if self._n_waiting or may_be_empty:
            self._write_group()
        if self._file is None:
            return
        self._file.close()
        name = self._next_name()
        path = self._place.folder / name
        shard = ParquetShard(name, self._file_rows, path.stat().st_size, hash_file(path))
        self._shards.append(shard)
        self._file = None
        self._file_rows = self._file_bytes = 0

    def _next_name(self) -> str:
        return f"{self._stem}-{len(self._shards):05d}.parquet"

    def _write_group(self) -> None:
        if self._file is None:
            self._file = pq.ParquetWriter(
                self._place.folder / self._next_name(),
                self._place.schema,
                compression="zstd",
                # With which the Hub's viewer reads a page of rows. No content-defined chunks: with
                # these pyarrow 26 aborts the process where the disk is full.
                write_page_index=True,
            )
        table = pa.concat_tables(self._waiting or [self._place.schema.empty_table()])
        group, rest = table.slice(0, _ROW_GROUP_ROWS), table.slice(_ROW_GROUP_ROWS)
        self._file.write_table(group.cast(self._place.schema), _ROW_GROUP_ROWS)
        self._file_rows += len(group)
        self._waiting, self._n_waiting = [rest] if len(rest) else [], len(rest)


def _join_parts(place: _Place, key: Key, parts: Iterable[_WrittenPart]) -> Split:
    """Join what the parts have of a split, and name its files."""
    written = [part.splits[key] for part in parts]
    shards = [shard for one in written for shard in one.shards]
    if not shards:
        with _SplitWriter(place, key, 0) as writer:
            writer.end_file(may_be_empty=True)
        shards = [*writer.written().shards]
    named = [
        replace(shard, file=shard_name("/".join(key), number, len(shards)))
        for number, shard in enumerate(shards)
    ]
    for shard, final in zip(shards, named, strict=True):
        (place.folder / shard.file).rename(place.folder / final.file)
    files = [one.hashes for one in written if one.shards]
    return Split(
        rows=sum(shard.rows for shard in shards),
        digest=digest(_read(files), place.hashes),
        order_digest=order_digest(_read(files)),
        arrow_bytes=sum(one.arrow_bytes for one in written),
        shards=tuple(named),
    )


def _read(files: Iterable[Path]) -> Iterator[bytes]:
    for path in files:
        with path.open("rb") as file:
            while some := file.read(_READ_BYTES):
                yield some


def _sum_oddities(parts: Iterable[_WrittenPart]) -> dict[str, dict[str, int]]:
    found: dict[str, Oddities] = {}
    for part in parts:
        for name, counts in part.oddities.items():
            found.setdefault(name, Oddities()).update(counts)
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}
