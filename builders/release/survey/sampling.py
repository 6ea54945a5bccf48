"""A few rows of many, always the same ones."""

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ...keyed import keyed_hash
from ..version import BuiltVersion

_DRAW = "nlihub draw"


def draw_number(text: str) -> int:
    """A number that stands in for chance: a keyed hash of a text, 8 bytes."""
    return int.from_bytes(keyed_hash(text, "", "survey")[:8], "big")


def sample_rows(
    version: BuiltVersion,
    config: str,
    splits: Iterable[str],
    columns: Sequence[str],
    max_rows: int,
) -> pa.Table:
    """Draws rows by a keyed hash of their ids, and so whatever their order is.

    Args:
        version: The version.
        config: The config.
        splits: Where to draw from, one or more.
        columns: The columns to read, besides ``split``.
        max_rows: How many rows to draw; all where there are fewer. Little more is held in memory.

    Returns:
        The rows, in the order of their hashes, with their ``split``.

    Raises:
        VerificationError: A file is missing or malformed.
    """
    kept: list[pa.Table] = []
    for split in splits:
        for batch in version.batches(config, split, list(dict.fromkeys(["id", *columns]))):
            draws = pa.array(map(draw_number, batch["id"].to_pylist()), pa.uint64())
            batch = batch.append_column("split", pa.array([split] * len(batch), pa.string()))
            batch = batch.append_column(_DRAW, draws)
            if kept and len(kept[0]) == max_rows:  # most rows of a large version end here
                batch = batch.filter(pc.less(draws, kept[0][_DRAW][-1]))
            kept = [pa.concat_tables([*kept, batch]).sort_by(_DRAW).slice(0, max_rows)]
    return kept[0].select([*columns, "split"])
