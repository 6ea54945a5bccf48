"""A version that is being verified: what its checks share, computed once."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...loaders.atomic_write import names_full_disk
from ..core.options import BuildOptions
from ..core.row_digests import ROW_HASH, digest, row_hashes
from .manifest import ParquetShard
from .row_tables import RowTables, open_rows
from .version import BuiltVersion

_GROUP_BATCHES = 10  # in a group of rows: DuckDB keeps what it knows of each
_HASHED = pa.schema([("id", pa.string()), ("hash", pa.binary())])


class RowHashes(NamedTuple):
    """The hashes of the rows of a split, on disk.

    Attributes:
        path: A Parquet file with the columns ``id`` and ``hash``, in the order of the rows.
        rows: Their number.
        order_digest: Their digest in their order.
    """

    path: Path
    rows: int
    order_digest: str

    def read(self) -> "np.ndarray[Any, Any]":
        """Return the hashes in order, which have to fit into memory."""
        return np.frombuffer(b"".join(self.stream()), ROW_HASH)

    def stream(self) -> Iterator[bytes]:
        """Yield the hashes in order, some of them joined at a time."""
        # With pre_buffer, its default, all that was read is kept until the end.
        with pq.ParquetFile(self.path, pre_buffer=False) as file:
            for batch in file.iter_batches(columns=["hash"]):
                yield _join(batch)

    def digest(self) -> str:
        """Return the digest of the rows in any order."""
        return digest(self.stream(), self.path.parent)

    def read_id(self, row: int) -> str:
        """Return the id of a row, given by its number."""
        return str(pq.read_table(self.path, columns=["id"])["id"][row])


class Subject(BuiltVersion):
    """A version whose rows are opened, and hashed, once.

    Attributes:
        sources: Where the sources are that its rows are compared with; None compares with none.
    """

    def __init__(self, folder: Path, sources: BuildOptions | None = None) -> None:
        super().__init__(folder)
        self.sources = sources
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def config_splits(self) -> Iterator[tuple[str, str]]:
        """Yield the configs and splits that the manifest lists."""
        return ((c, s) for c, splits in self.manifest.configs.items() for s in splits)

    def shard_rows(self, config: str, split: str) -> Iterator[tuple[int, ParquetShard]]:
        """Yield the number of rows of each file of a split, and the file as it is listed."""
        for shard in self.manifest.configs[config][split].shards:
            yield pq.read_metadata(self.folder / shard.file).num_rows, shard

    def n_rows(self, config: str, split: str) -> int:
        """Return the number of rows in the files of a split."""
        return sum(n for n, _ in self.shard_rows(config, split))

    @cached_property
    def tables(self) -> RowTables:
        """The rows as tables of SQL."""
        return self._opened.enter_context(open_rows(self))

    @cached_property
    def hashes(self) -> dict[tuple[str, str], RowHashes]:
        """The hashes of the rows of the splits."""
        return {
            key: self._hash(key, self.tables.database.folder / f"hashes-{number}.parquet")
            for number, key in enumerate(self.config_splits())
        }

    def _hash(self, key: tuple[str, str], path: Path) -> RowHashes:
        labels = self.builder.SPEC.labels
        n_rows, in_order = 0, hashlib.sha256()
        with (
            names_full_disk(path.parent),
            pq.ParquetWriter(path, _HASHED, compression="none", use_dictionary=False) as writer,
        ):
            waiting: list[pa.Table] = []
            for batch in self.batches(*key):
                hashes = row_hashes(batch, labels)
                in_order.update(b"".join(hashes))
                n_rows += len(batch)
                waiting.append(pa.table([batch["id"], pa.array(hashes, pa.binary())], _HASHED))
                if len(waiting) == _GROUP_BATCHES:
                    writer.write_table(pa.concat_tables(waiting))
                    waiting = []
            writer.write_table(pa.concat_tables(waiting or [_HASHED.empty_table()]))
        return RowHashes(path, n_rows, in_order.hexdigest())


def _join(hashes: pa.RecordBatch) -> bytes:
    """Join the hashes in the only column of a batch, without an object for each."""
    column = hashes.column(0).cast(pa.binary(ROW_HASH.itemsize))
    _, joined = column.buffers()
    n_bytes = len(column) * ROW_HASH.itemsize
    return bytes(joined.slice(column.offset * ROW_HASH.itemsize, n_bytes).to_pybytes())
