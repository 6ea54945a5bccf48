"""Draw a sample of a version's rows, always the same one."""

from collections.abc import Sequence

import pyarrow as pa

from ..core.sql import list_of_texts
from ..versions.row_tables import open_rows
from ..versions.version import BuiltVersion


def sample_rows(
    version: BuiltVersion, config: str, splits: Sequence[str], columns: Sequence[str], max_rows: int
) -> pa.Table:
    """Draw rows of a version by a hash of their ids, whatever their order.

    Args:
        version: The version.
        config: The config.
        splits: The splits to draw from, one or more.
        columns: The columns to read, besides ``split``.
        max_rows: Number of rows to draw; all where there are fewer.

    Returns:
        The rows with their ``split``, in the order of their hashes.

    Raises:
        VerificationError: A file is missing or malformed.
    """
    name = f"list_extract({list_of_texts(version.manifest.configs[config])}, split + 1)"
    with open_rows(version) as tables:
        rows = tables.rows(config)
        drawn = tables.make(
            "TEMP TABLE",
            "drawn rows",
            f"""
            SELECT number, md5_number(id) AS draw FROM {rows}
            WHERE list_contains({list_of_texts(splits)}, {name}) ORDER BY draw LIMIT {max_rows}
            """,
        )
        listed = ", ".join(f'"{column}"' for column in columns)
        return tables.database.read(
            f"""
            SELECT {listed}, {name} AS split
            FROM {rows} JOIN {drawn} USING (number) ORDER BY draw
            """
        )
