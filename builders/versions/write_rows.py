"""Write the rows of a version: Parquet files, and the manifest that describes them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib.metadata import version as installed_version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...loaders.atomic_write import resumed_folder, whole_folder, working_folder
from ...loaders.hashing import hash_file
from ...loaders.interrupts import kept_when_interrupted
from ...loaders.progress import watch
from ...loaders.releases import Oddities
from ..core.base import NLIBuilder, PartedRows, Rows, RowsPart
from ..core.identity import code_hash
from ..core.options import BuildOptions, Key
from ..core.row_digests import ROW_HASH, digest, order_digest, row_hashes
from .manifest import Manifest, ParquetShard, Split

MAX_SHARD_BYTES = 500_000_000
_ROW_GROUP_ROWS = 50_000
_READ_BYTES = 1_000_000
_PART = "part.json"


def write_rows(
    builder: type[NLIBuilder],
    folder: Path,
    options: BuildOptions,
    max_shard_bytes: int,
    target: Path | None = None,
) -> Manifest:
    """Write the rows of a dataset as Parquet files; the manifest returned lists no other file yet.

    Rows in parts are written part by part, each where it is made: at least a file for each part
    that has rows of a split.

    Args:
        builder: The builder of the dataset.
        folder: An empty folder.
        options: Where the sources are and how to work.
        max_shard_bytes: A split is cut into files of about this size in memory.
        target: Where the version will be. Parts that are written are kept beside it, so that the
            next call goes on if this one is interrupted; None keeps none.

    Raises:
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    spec = builder.SPEC
    wanted = options.wanted(spec)
    rows = builder.make_rows(options)
    keys = tuple((config, split) for config, splits in wanted.items() for split in splits)
    shape = _Shape(spec.features.arrow_schema, spec.labels, keys, max_shard_bytes)
    with _folder_of_parts(rows, shape, folder, target) as place:
        job = _PartWriter(place, shape)
        if isinstance(rows, PartedRows):
            parts = _write_parts(rows, job, options.num_proc)
        else:
            parts = [job(0, rows)]
        configs = {
            config: {split: _join_parts(parts, (config, split), shape, folder) for split in splits}
            for config, splits in wanted.items()
        }
        oddities = _sum_oddities(parts)
    return Manifest(
        dataset=spec.name,
        version=spec.version,
        repository="",
        labels=list(spec.labels),
        columns={field.name: str(field.type) for field in spec.features.arrow_schema},
        configs=configs,
        sources=list(rows.sources),
        parameters=dict(rows.parameters),
        oddities=oddities,
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
class _Shape:
    """How the rows of a version are written.

    Attributes:
        schema: The schema of the rows.
        labels: The names of the labels, by id.
        keys: The configs and splits.
        max_shard_bytes: A split of a part is cut into files of about this size in memory.
    """

    schema: pa.Schema
    labels: tuple[str, ...]
    keys: tuple[Key, ...]
    max_shard_bytes: int


@contextmanager
def _folder_of_parts(
    rows: Rows, shape: _Shape, folder: Path, target: Path | None
) -> Iterator[Path]:
    """Make the folder for what is written of each part."""
    if target is None or not isinstance(rows, PartedRows):
        with working_folder(folder, ".parts-") as place:
            yield place
        return
    content = [
        code_hash("builders", "loaders"),
        pa.__version__,
        list(rows.sources),
        dict(rows.parameters),
        [shape.schema.to_string(), shape.labels, shape.keys, shape.max_shard_bytes],
    ]
    key = sha256(json.dumps(content).encode()).hexdigest()[:16]
    with (
        kept_when_interrupted("Rows that were written are kept: run it again to go on."),
        resumed_folder(target.parent, f".{target.name}.parts-", key) as place,
    ):
        yield place


@dataclass(frozen=True)
class _WrittenSplit:
    """The rows that a part has of a split: its files and their size in memory."""

    shards: tuple[ParquetShard, ...]
    arrow_bytes: int


@dataclass(frozen=True)
class _WrittenPart:
    """A part that is written whole.

    Attributes:
        folder: The folder with its files, and for each split with rows a file of their hashes.
        splits: What it has of each config and split.
        oddities: What is odd in its sources.
    """

    folder: Path
    splits: Mapping[Key, _WrittenSplit]
    oddities: Mapping[str, Oddities]

    def write(self) -> None:
        content = {
            "splits": [[*key, asdict(split)] for key, split in self.splits.items()],
            "oddities": self.oddities,
        }
        (self.folder / _PART).write_text(json.dumps(content), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> "_WrittenPart | None":
        """Return the part that is in a folder, or None where a file of it is missing."""
        try:
            content = json.loads((folder / _PART).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        splits = {}
        for config, split, written in content["splits"]:
            shards = tuple(ParquetShard(**shard) for shard in written["shards"])
            splits[config, split] = _WrittenSplit(shards, written["arrow_bytes"])
            if not all((folder / shard.file).exists() for shard in shards):
                return None  # they were moved before a kill
        oddities = {name: Oddities(found) for name, found in content["oddities"].items()}
        return cls(folder, splits, oddities)


@dataclass(frozen=True)
class _PartWriter:
    """Checks, hashes and writes the rows of a part, if they are not there yet."""

    place: Path
    shape: _Shape

    def find(self, number: int) -> _WrittenPart | None:
        """Return a part that is written already."""
        return _WrittenPart.read(self._target(number))

    def _target(self, number: int) -> Path:
        return self.place / f"{number:05d}"

    def __call__(self, number: int, rows: Rows | RowsPart) -> _WrittenPart:
        target = self._target(number)
        if (part := self.find(number)) is not None:
            return part
        with whole_folder(target, lambda _: True) as folder:
            part = self._write(rows, folder)
            part.write()
        return replace(part, folder=target)

    def _write(self, rows: Rows | RowsPart, folder: Path) -> _WrittenPart:
        oddities: dict[str, Oddities] = {}
        with ExitStack() as stack:
            writers = {
                key: stack.enter_context(_SplitWriter(folder, key, self.shape))
                for key in self.shape.keys
            }
            for batch in rows.batches(oddities):
                found = b"".join(row_hashes(batch.table, self.shape.labels))
                hashes = np.frombuffer(found, ROW_HASH)
                for key, member in batch.members.items():
                    chosen = ... if member is None else member.to_numpy(zero_copy_only=False)
                    writers[key].write(batch.select(key), hashes[chosen].tobytes())
        splits = {key: writer.written() for key, writer in writers.items()}
        return _WrittenPart(folder, splits, oddities)


def _write_parts(rows: PartedRows, job: _PartWriter, num_proc: int) -> list[_WrittenPart]:
    """Write all parts; those that are written already tell nothing of the speed."""
    missing = {number for number in range(rows.n_parts) if job.find(number) is None}
    n_done = rows.n_parts - len(missing)
    parts = []
    written = rows.map_parts(job, num_proc)  # which first makes the parts
    with watch("writing", rows.n_parts, "parts", n_done=n_done) as shown:
        for number, part in enumerate(written):
            parts.append(part)
            if number in missing:
                shown.update(1)
    return parts


class _SplitWriter:
    """Writes the rows that a part has of a split, a file after another."""

    def __init__(self, folder: Path, key: Key, shape: _Shape) -> None:
        self._folder = folder
        self._stem = "-".join(key)
        self._hashes = _path_of_hashes(folder, key)
        self._shape = shape
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
        return _WrittenSplit(tuple(self._shards), self._arrow_bytes)

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
        if self._file_bytes >= self._shape.max_shard_bytes:
            self.end_file()

    def end_file(self, *, may_be_empty: bool = False) -> None:
        if self._n_waiting or may_be_empty:
            self._write_group()
        if self._file is None:
            return
        self._file.close()
        name = self._next_name()
        path = self._folder / name
        shard = ParquetShard(name, self._file_rows, path.stat().st_size, hash_file(path))
        self._shards.append(shard)
        self._file = None
        self._file_rows = self._file_bytes = 0

    def _next_name(self) -> str:
        return f"{self._stem}-{len(self._shards):05d}.parquet"

    def _write_group(self) -> None:
        if self._file is None:
            self._file = pq.ParquetWriter(
                self._folder / self._next_name(),
                self._shape.schema,
                compression="zstd",
                # With which the Hub's viewer reads a page of rows. No content-defined chunks: with
                # these pyarrow 26 aborts the process where the disk is full.
                write_page_index=True,
            )
        table = pa.concat_tables(self._waiting or [self._shape.schema.empty_table()])
        group, rest = table.slice(0, _ROW_GROUP_ROWS), table.slice(_ROW_GROUP_ROWS)
        self._file.write_table(group.cast(self._shape.schema), _ROW_GROUP_ROWS)
        self._file_rows += len(group)
        self._waiting, self._n_waiting = [rest] if len(rest) else [], len(rest)


def _join_parts(parts: Sequence[_WrittenPart], key: Key, shape: _Shape, folder: Path) -> Split:
    """Join what the parts have of a split, and move its files into the folder of the version."""
    written = [(part.folder, part.splits[key]) for part in parts]
    shards = [(place, shard) for place, split in written for shard in split.shards]
    if not shards:
        with _SplitWriter(folder, key, shape) as writer:
            writer.end_file(may_be_empty=True)
        shards = [(folder, shard) for shard in writer.written().shards]
    hashes = [_path_of_hashes(place, key) for place, split in written if split.shards]
    digests = digest(_read(hashes), folder), order_digest(_read(hashes))
    named = []
    (folder / key[0]).mkdir(exist_ok=True)
    for number, (place, shard) in enumerate(shards):
        name = shard_name("/".join(key), number, len(shards))
        (place / shard.file).rename(folder / name)
        named.append(replace(shard, file=name))
    return Split(
        sum(shard.rows for shard in named),
        *digests,
        sum(split.arrow_bytes for _, split in written),
        tuple(named),
    )


def _path_of_hashes(folder: Path, key: Key) -> Path:
    """Return the file with the hashes of the rows that a part has of a split."""
    return folder / f"{'-'.join(key)}.hashes"


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
