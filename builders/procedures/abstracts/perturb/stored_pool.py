"""The entities of a corpus on the disk, for SREO to draw from: as many as the corpus has.

Its processes map the same files into memory. A draw looks at few of the entities.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.ipc

from .....loaders.atomic_write import whole_folder
from ....core.sql import Database, DuckDBEngine, SQLEngine, Statement, Tables, run_statements
from ..read import ENTITIES
from .entity_pool import PoolEntity
from .name_uses import Uses

_MENTIONS = f"""
    {ENTITIES} e JOIN taken t ON t.shard = e.shard AND t.seq = e.seq
"""
_STATEMENTS = (
    Statement("names", f"SELECT DISTINCT e.type, e.name FROM {_MENTIONS}"),
    # A name with a capital joins the same in small letters, where the corpus has both.
    Statement(
        "named",
        f"""
        SELECT DISTINCT e.type, e.uses, e.id,
            CASE WHEN n.name IS NULL THEN e.name ELSE e.small END AS name,
            CASE WHEN n.name IS NULL THEN e.name_order ELSE e.small_order END AS name_order
        FROM {_MENTIONS} LEFT JOIN names n ON n.type = e.type AND n.name = e.small
        """,
    ),
    Statement(
        "pool",
        """
        SELECT type, name, MIN(name_order) AS name_order, BIT_OR(uses) AS uses,
            ARRAY_AGG(DISTINCT id) FILTER (WHERE id IS NOT NULL) AS ids
        FROM named GROUP BY type, name
        """,
    ),
    Statement(
        "ids",
        """
        SELECT id, ARRAY_AGG(DISTINCT name) AS names FROM named WHERE id IS NOT NULL GROUP BY id
        """,
    ),
)
_POOL, _IDS, _TYPES = "pool.arrow", "ids.arrow", "types.json"


@dataclass(frozen=True)
class StoredEntityPool:
    """Names of entities by type, in the order of ``EntityPool``; it can be sent to a process.

    Attributes:
        folder: The folder that ``store_pool`` wrote.
    """

    folder: Path

    def walk_entities(self, type_: str, start: int) -> Iterator[PoolEntity]:
        """Yield all entities of a type once, from a random start; an unknown type has none."""
        first, n = self._types.get(type_, (0, 0))
        for number in range(n):
            row = first + (start + number) % n
            name, uses, ids = (
                self._pool[column][row].as_py() for column in ("name", "uses", "ids")
            )
            yield PoolEntity(name, frozenset(ids or ()), Uses(uses))

    def names_of(self, entity: PoolEntity) -> set[str]:
        """Return the names in the pool that share an id with an entity, its own included."""
        found = {entity.name}
        for id_ in entity.ids:  # without any id, there is no table of them
            row = bisect_left(self._ids["id"], id_, key=lambda one: one.as_py())
            found.update(self._ids["names"][row].as_py())
        return found

    @cached_property
    def _pool(self) -> pa.Table:
        return _map_table(self.folder / _POOL)

    @cached_property
    def _ids(self) -> pa.Table:
        return _map_table(self.folder / _IDS)

    @cached_property
    def _types(self) -> dict[str, tuple[int, int]]:
        """The first entity and the number of those of each type."""
        found: dict[str, tuple[int, int]] = orjson.loads((self.folder / _TYPES).read_bytes())
        return found

    def __getstate__(self) -> dict[str, Path]:
        return {"folder": self.folder}

    def __setstate__(self, state: dict[str, Path]) -> None:
        self.__dict__.update(state)


def store_pool(
    tables: Tables, folder: Path, database: Database, sql: SQLEngine | None
) -> StoredEntityPool:
    """Collect the entities of the mechanisms that are taken; see ``EntityPool.of``.

    Args:
        tables: The tables of the shards and of the selection.
        folder: Where the pool is kept, of these shards alone.
        database: A database.
        sql: What runs the statements; None is the database.
    """
    target = folder / "entities"
    if not target.is_dir():
        engine = sql or DuckDBEngine(database)
        database.add(run_statements(_STATEMENTS, tables, folder, folder.name, engine))
        with whole_folder(target, lambda _: True) as work:
            types: dict[str, tuple[int, int]] = {}
            ordered = "SELECT type, name, uses, ids FROM pool ORDER BY type, name_order, name"
            n_before = 0
            for batch in _store(database, ordered, work / _POOL):
                for counted in batch["type"].value_counts().to_pylist():
                    first, n = types.get(counted["values"], (n_before, 0))
                    types[counted["values"]] = first, n + counted["counts"]
                    n_before += counted["counts"]
            for _ in _store(database, "SELECT id, names FROM ids ORDER BY id", work / _IDS):
                pass
            (work / _TYPES).write_bytes(orjson.dumps(types))
    return StoredEntityPool(target)


def _store(database: Database, query: str, path: Path) -> Iterator[pa.RecordBatch]:
    """Write the rows of a query as Arrow, and yield them batch by batch."""
    writer = None
    for batch in database.batches(query, 50_000):
        writer = writer or pa.ipc.new_file(str(path), batch.schema)
        writer.write(batch)
        yield batch
    if writer:
        writer.close()


def _map_table(path: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
