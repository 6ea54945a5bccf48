"""The tables that the phases of the procedure hand on, as Parquet in the folders of shards.

Numbers of 64 bits from keyed hashes are stored less 2^63, as int64 in the same order.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

UNITS, PARTS, MECHANISMS, ENTITIES = ("units", "parts", "mechanisms", "entities")
ROWS, MEMBERS = ("rows", "members")

SCHEMAS: Mapping[str, pa.Schema] = {
    # Abstracts, records and files, in the order of the shard.
    UNITS: pa.schema(
        {
            "shard": pa.int64(),
            "seq": pa.int64(),  # place in the shard
            "pmid": pa.string(),
            "was_read": pa.bool_(),  # an abstract or a record, whose pmid counts
            "reason": pa.string(),  # null for a mechanism
            "detail": pa.string(),
            "unit": pa.string(),
            "file": pa.int32(),  # number in the shard
            "member": pa.string(),  # of an archive
            "line": pa.int64(),  # from 1, in the part of the file; 0 where it has no lines
            "digest": pa.binary(16),  # digest of a mechanism's supporting set
        }
    ),
    # What was left out of abstracts.
    PARTS: pa.schema(
        {
            "shard": pa.int64(),
            "seq": pa.int64(),  # of the unit that it goes with; null where it goes with none
            "pmid": pa.string(),
            "reason": pa.string(),
            "detail": pa.string(),
            "unit": pa.string(),
            "file": pa.int32(),
            "member": pa.string(),
            "line": pa.int64(),
        }
    ),
    MECHANISMS: pa.schema(
        {"shard": pa.int64(), "seq": pa.int64(), "pmid": pa.string(), "json": pa.binary()}
    ),
    # The entities of mechanisms, a row for each concept id of theirs, or one without.
    ENTITIES: pa.schema(
        {
            "shard": pa.int64(),
            "seq": pa.int64(),  # of the mechanism
            "type": pa.string(),
            "name": pa.string(),
            "name_order": pa.binary(16),
            "small": pa.string(),  # the name in small letters, where it may be written so
            "small_order": pa.binary(16),
            "uses": pa.int32(),
            "id": pa.string(),
        }
    ),
    # The positive and the negatives of each mechanism, in this order.
    ROWS: pa.schema(
        {
            "seq": pa.int64(),
            "pmid": pa.string(),
            "kind": pa.string(),
            "category": pa.string(),
            "hypothesis": pa.string(),
            "edit": pa.string(),
            "is_negated": pa.bool_(),
            "balance": pa.int64(),  # order in which negated VNeg are kept; null for other rows
        }
    ),
    # Where the rows that are kept belong, row by row of ROWS.
    MEMBERS: pa.schema(
        {
            "pmid": pa.string(),
            "kind": pa.string(),
            "category": pa.string(),
            "is_kept": pa.bool_(),
            "full": pa.int8(),  # number of the mechanism's split; -1 where it is in none
            "in_full": pa.bool_(),  # whether the row is there
            "balanced": pa.int8(),
            "in_balanced": pa.bool_(),
            "limited": pa.string(),  # the category whose limit the mechanism counts for
            "limit_order": pa.int64(),  # order in which such mechanisms are kept
        }
    ),
}
_GROUP_ROWS = {MECHANISMS: 1_000, ROWS: 5_000}
_OTHER_GROUP_ROWS = 20_000


class TableWriter:
    """Writes a table of a shard row by row, in bounded memory."""

    def __init__(self, folder: Path, name: str) -> None:
        self._schema = SCHEMAS[name]
        self._group_rows = _GROUP_ROWS.get(name, _OTHER_GROUP_ROWS)
        self._writer = pq.ParquetWriter(table_path(folder, name), self._schema, compression="zstd")
        self._rows: list[tuple[Any, ...]] = []

    def add(self, *values: Any) -> None:
        """Add a row, its values in the order of the columns."""
        self._rows.append(values)
        if len(self._rows) >= self._group_rows:
            self._flush()

    def _flush(self) -> None:
        columns = zip(*self._rows, strict=True) if self._rows else ((),) * len(self._schema)
        fields = zip(columns, self._schema, strict=True)
        arrays = [pa.array(values, field.type) for values, field in fields]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))
        self._rows = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._flush()
        self._writer.close()


def table_path(folder: Path, name: str) -> Path:
    """Return the file of a table of a shard."""
    return folder / f"{name}.parquet"


def read_table(
    folder: Path, name: str, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read some columns of a table of a shard, by default all, in its order and bounded memory."""
    with pq.ParquetFile(table_path(folder, name)) as file:
        for number in range(file.num_row_groups):
            yield from file.read_row_group(number, columns=columns).to_batches()


def read_records(
    folder: Path, name: str, columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Read the rows of a table of a shard one by one; see ``read_table``."""
    for batch in read_table(folder, name, columns):
        yield from batch.to_pylist()
