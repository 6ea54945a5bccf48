"""The entities of a corpus, for SREO to draw from: as many as the corpus has."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.ipc

from .....loaders.atomic_write import whole_file
from .....loaders.errors import UsageError
from ....core.keyed import keyed_hash
from ....core.sql import Database, Statement
from ..mechanisms.mechanism import Mechanism
from .grammar import uncapitalize_name
from .names import find_name

_FORM = '{"TYPE": ["NAME", {"name": "NAME", "ids": ["ID", ...]}, ...], ...}'
_SCHEMA = pa.schema({"type": pa.string(), "name": pa.string(), "ids": pa.list_(pa.string())})
#: The table of the entities of mechanisms.
ENTITIES = "entities"
#: The entities of the mechanisms that are taken.
POOL = Statement(
    "pool",
    f"""
    SELECT e.type, e.name, e.name_order,
        ARRAY_AGG(DISTINCT e.id) FILTER (WHERE e.id IS NOT NULL) AS ids
    FROM {ENTITIES} e JOIN taken t ON t.shard = e.shard AND t.seq = e.seq
    GROUP BY e.type, e.name, e.name_order
    """,
)


class PoolEntity(NamedTuple):
    """A name of an entity, as written inside sentences, and its concept ids, where known."""

    name: str
    ids: frozenset[str] = frozenset()


class EntityPool:
    """Names of entities by type, in an order that does not depend on the order of input.

    Args:
        names: The names, or entities with ids, of each type.
    """

    def __init__(self, names: Mapping[str, Iterable[str | PoolEntity]]) -> None:
        found: dict[tuple[str, bytes, str], set[str]] = {}
        for type_, given in names.items():
            for one in given:
                entity = PoolEntity(one) if isinstance(one, str) else one
                key = type_, order_of_name(entity.name), entity.name
                found.setdefault(key, set()).update(entity.ids)
        rows = [
            {"type": type_, "name": name, "ids": sorted(ids)}
            for (type_, _, name), ids in sorted(found.items())
        ]
        self._source: pa.Table | Path = pa.Table.from_pylist(rows, _SCHEMA)

    @classmethod
    def of(cls, mechanisms: Iterable[Mechanism]) -> "EntityPool":
        """Collect all typed entities of supporting sets and conclusions, as in mid-sentence."""
        names: dict[str, list[PoolEntity]] = {}
        for mechanism in mechanisms:
            for type_, entity in list_entities(mechanism):
                names.setdefault(type_, []).append(entity)
        return cls(names)

    @classmethod
    def read(cls, path: Path) -> "EntityPool":
        """Read a pool of entities from a JSON file.

        It has for each type a list of names, each a text or an object with ``name`` and ``ids``:
        ``{"Disease": ["gout", {"name": "renal failure", "ids": ["D051437"]}]}``.

        Raises:
            UsageError: The file is missing, not of that form, or without a name.
        """
        try:
            content = path.read_bytes().removeprefix(BOM_UTF8)
            types = orjson.loads(content)  # which refuses lone surrogates
            if not all(isinstance(names, list) for names in types.values()):
                raise TypeError("a type has no list of names")
            if not any(types.values()):
                raise ValueError("it has no name")
            return cls({type_: list(map(_parse, names)) for type_, names in types.items()})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{path} holds no entities ({error}); expected {_FORM}.") from error

    @classmethod
    def open(cls, path: Path) -> "EntityPool":
        """Open a pool that ``store_pool`` wrote; all processes share its pages in memory."""
        pool = cls({})
        pool._source = path
        return pool

    def walk_entities(self, type_: str, start: int) -> Iterator[PoolEntity]:
        """Yield all entities of a type once, from a random start; an unknown type has none."""
        names, ids = self._table["name"], self._table["ids"]
        first, n = self._types.get(type_, (0, 0))
        for number in range(n):
            row = first + (start + number) % n
            yield PoolEntity(names[row].as_py(), frozenset(ids[row].as_py() or ()))

    @cached_property
    def _table(self) -> pa.Table:
        if isinstance(self._source, pa.Table):
            return self._source
        return pa.ipc.open_file(pa.memory_map(str(self._source))).read_all()

    @cached_property
    def _types(self) -> dict[str, tuple[int, int]]:
        """The first row and the number of rows of each type."""
        counts = {
            one["values"]: one["counts"] for one in self._table["type"].value_counts().to_pylist()
        }
        ends = accumulate(counts.values())
        return {name: (end - n, n) for (name, n), end in zip(counts.items(), ends, strict=True)}

    def __getstate__(self) -> dict[str, Any]:
        return {"_source": self._source}


def store_pool(database: Database, folder: Path) -> EntityPool:
    """Store the table ``POOL`` of a database, where it is not yet; see ``EntityPool.of``.

    Args:
        database: The database.
        folder: Where the pool is kept, of this table alone.
    """
    target = folder / "entities.arrow"
    if not target.exists():
        ordered = "SELECT type, name, ids FROM pool ORDER BY type, name_order, name"
        with whole_file(target) as path, pa.ipc.new_file(str(path), _SCHEMA) as writer:
            for batch in database.batches(ordered):
                writer.write_batch(batch.cast(_SCHEMA))
    return EntityPool.open(target)


def _parse(given: Any) -> PoolEntity:
    fields = given if isinstance(given, dict) else {"name": given}
    name, ids = fields.get("name"), fields.get("ids", [])
    if not isinstance(name, str) or not name or name.strip() != name:
        raise TypeError("a name is not a string, is empty, or has spaces around it")
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise TypeError(f"the ids of {name!r:.80} are not a list of strings")
    return PoolEntity(name, frozenset(ids))


def order_of_name(name: str) -> bytes:
    """Return the 16 bytes that place a name among those of its type.

    Neighbours in this order have nothing in common, so a walk from a random start is random enough.
    """
    return keyed_hash(name, "", "pool")


def list_entities(mechanism: Mechanism) -> Iterator[tuple[str, PoolEntity]]:
    """Yield the typed entities of a mechanism with their types, as in mid-sentence.

    A name that stands nowhere as a whole, but as a part of a word, is left out.
    """
    sentences = mechanism.sentences
    for name, type_, ids in sorted(set(_entities(mechanism))):
        if any(find_name(name, sentence) for sentence in sentences):
            yield type_, PoolEntity(uncapitalize_name(name, sentences), frozenset(ids))


def _entities(mechanism: Mechanism) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    if mechanism.regulator_type is not None:
        yield mechanism.regulator, mechanism.regulator_type, mechanism.regulator_ids
    if mechanism.regulated_type is not None:
        yield mechanism.regulated, mechanism.regulated_type, mechanism.regulated_ids
    for mention in mechanism.mentions:
        if mention.where != "elsewhere":
            yield mention.text, mention.type, mention.ids
