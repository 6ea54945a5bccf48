"""The tables of a shard, as Parquet: the rows of the dataset, and what they are chosen by."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..core.encode import encode

if TYPE_CHECKING:
    from datasets import Features

ROWS, DROPPED = "rows", "dropped"
#: The table ``rows`` has this column before those of the dataset.
ORDER_KEY = pa.field("order_key", pa.int64())
#: How many candidates of a kind were dropped, and why.
DROPPED_SCHEMA = pa.schema({"kind": pa.string(), "reason": pa.string(), "n": pa.int64()})
_BATCH_ROWS, _GROUP_BYTES = 5_000, 32_000_000


class TableWriter:
    """Writes a table as ``FOLDER/NAME.parquet``, row by row or some rows at once.

    Args:
        folder: The folder.
        name: Name of the table.
        schema: Its columns.
    """

    def __init__(self, folder: Path, name: str, schema: pa.Schema) -> None:
        self.n_rows = 0
        self._schema = schema
        self._file = pq.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._group: list[pa.RecordBatch] = []
        self._n_bytes = 0

    def add(self, **values: Any) -> None:
        """Add a row by its columns; those that are not named are null."""
        self._rows.append(values)
        self.n_rows += 1
        if len(self._rows) >= _BATCH_ROWS:
            self._end_batch()

    def write(self, table: pa.Table) -> None:
        """Add some rows."""
        self.n_rows += len(table)
        self._keep(table.to_batches())

    def close(self) -> None:
        """Write what waits, and close the file."""
        self._end_batch()
        self._end_group()
        self._file.close()

    def _end_batch(self) -> None:
        self._keep([pa.RecordBatch.from_pylist(self._rows, self._schema)])
        self._rows = []

    def _keep(self, batches: list[pa.RecordBatch]) -> None:
        self._group += batches
        self._n_bytes += sum(batch.nbytes for batch in batches)
        if self._n_bytes >= _GROUP_BYTES:
            self._end_group()

    def _end_group(self) -> None:
        self._file.write_table(pa.Table.from_batches(self._group, self._schema))
        self._group, self._n_bytes = [], 0


@contextmanager
def open_tables(
    folder: Path, schemas: Mapping[str, pa.Schema]
) -> Iterator[Mapping[str, TableWriter]]:
    """Open the tables of a shard, by name, and close them where nothing fails."""
    tables = {name: TableWriter(folder, name, schema) for name, schema in schemas.items()}
    yield tables
    for table in tables.values():
        table.close()


def rows_schema(features: "Features") -> pa.Schema:
    """Return the columns of the table ``rows`` of a dataset."""
    return pa.schema([ORDER_KEY, *features.arrow_schema])


def encode_rows(columns: Mapping[str, Any], order: pa.Array, features: "Features") -> pa.Table:
    """Encode rows for the table ``rows``: their columns, and the keys that order them."""
    schema = rows_schema(features)
    table = encode(columns, features, schema.remove(0))
    return table.add_column(0, ORDER_KEY, order).cast(schema)
