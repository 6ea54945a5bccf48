"""Draw a sample of a version's rows, always the same one."""

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ..core.keyed import keyed_hash
from ..versions.version import BuiltVersion

_DRAW = "nlihub draw"


def draw_number(text: str) -> int:
    """Return the number by which rows are sampled for statistics: 8 bytes of a keyed hash."""
    return int.from_bytes(keyed_hash(text, "", "survey")[:8], "big")


def sample_rows(
    version: BuiltVersion,
    config: str,
    splits: Iterable[str],
    columns: Sequence[str],
    max_rows: int,
    by: str | None = None,
) -> pa.Table:
    """Draw rows of a version by a keyed hash of their ids, whatever their order.

    Args:
        version: The version.
        config: The config.
        splits: The splits to draw from, one or more.
        columns: The columns to read, besides ``split``.
        max_rows: Number of rows to draw; all where there are fewer. Little more is held in memory.
        by: A column: ``max_rows`` are drawn for each of its values. None draws ``max_rows`` in all.

    Returns:
        The rows with their ``split``, in the order of their hashes; with ``by``, one value after
        another in their order.

    Raises:
        VerificationError: A file is missing or malformed.
    """
    kept: dict[str | None, pa.Table] = {}
    wanted = list(dict.fromkeys(["id", *columns, *([by] if by else [])]))
    for split in splits:
        for batch in version.batches(config, split, wanted):
            draws = pa.array(map(draw_number, batch["id"].to_pylist()), pa.uint64())
            batch = batch.append_column("split", pa.array([split] * len(batch), pa.string()))
            batch = batch.append_column(_DRAW, draws)
            for value, part in _parts(batch, by):
                kept[value] = _least(kept.get(value), part, max_rows)
    tables = [kept[value] for value in sorted(kept, key=lambda value: (value is None, value))]
    return pa.concat_tables(tables).select([*columns, "split"])


def _parts(rows: pa.Table, by: str | None) -> Iterator[tuple[str | None, pa.Table]]:
    """Yield the rows of each value of a column; all rows where there is no column, or no row."""
    if by is None or not len(rows):
        yield None, rows
        return
    for value in pc.unique(rows[by]).to_pylist():
        is_of_it = pc.is_null(rows[by]) if value is None else pc.equal(rows[by], value)
        yield value, rows.filter(is_of_it)


def _least(kept: pa.Table | None, rows: pa.Table, max_rows: int) -> pa.Table:
    """Return the rows with the lowest draws, among the kept ones and others."""
    if kept is None:
        kept = rows.slice(0, 0)
    elif len(kept) == max_rows:  # most rows of a large version end here
        rows = rows.filter(pc.less(rows[_DRAW], kept[_DRAW][-1]))
    return pa.concat_tables([kept, rows]).sort_by(_DRAW).slice(0, max_rows)
