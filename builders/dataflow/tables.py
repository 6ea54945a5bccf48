"""Tables of a stage, as Parquet, written in bounded memory."""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq


class TableWriter:
    """Writes a table as ``FOLDER/NAME.parquet``, row by row or some rows at once.

    Args:
        folder: The folder.
        name: Name of the table.
        schema: Its columns.
        group_rows: Rows that are kept in memory, and then written together.
    """

    def __init__(
        self, folder: Path, name: str, schema: pa.Schema, group_rows: int = 20_000
    ) -> None:
        self.schema = schema
        self.n_rows = 0  # those that were added one by one are counted once they are written
        self._group_rows = group_rows
        self._writer = pq.ParquetWriter(folder / f"{name}.parquet", schema, compression="zstd")
        self._rows: list[tuple[Any, ...]] = []
        self._waiting: list[pa.RecordBatch] = []
        self._n_waiting = 0

    def add(self, *values: Any) -> None:
        """Add a row, its values in the order of the columns."""
        self._rows.append(values)
        if len(self._rows) >= self._group_rows:
            self._end_rows()

    def write(self, batch: pa.RecordBatch) -> None:
        """Add some rows."""
        self._waiting.append(batch)
        self.n_rows += len(batch)
        self._n_waiting += len(batch)
        if self._n_waiting >= self._group_rows:
            self._flush()

    def _end_rows(self) -> None:
        columns = zip(*self._rows, strict=True)
        arrays = [
            pa.array(values, field.type) for values, field in zip(columns, self.schema, strict=True)
        ]
        self._rows = []
        self.write(pa.record_batch(arrays, schema=self.schema))

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_batches(self._waiting, self.schema))
        self._waiting, self._n_waiting = [], 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if kind is None:
            if self._rows:
                self._end_rows()
            self._flush()
        self._writer.close()
