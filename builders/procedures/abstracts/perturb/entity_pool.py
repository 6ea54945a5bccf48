"""The entities of a corpus, for SREO to draw from."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson

from .....loaders.errors import UsageError
from ....core.keyed import keyed_hash
from ..mechanisms.mechanism import Mechanism
from .grammar import uncapitalize_name
from .name_uses import Uses, observe_uses
from .names import find_name

_FORM = '{"TYPE": ["NAME", {"name": "NAME", "ids": ["ID", ...]}, ...], ...}'


@dataclass(frozen=True, slots=True)
class PoolEntity:
    """A name of an entity.

    Attributes:
        name: The name as written inside sentences.
        ids: Its concept ids; empty where unknown.
        uses: How the sentences of the corpus use it.
    """

    name: str
    ids: frozenset[str] = frozenset()
    uses: Uses = Uses.NONE

    def joined(self, other: "PoolEntity") -> "PoolEntity":
        """Return it with the ids and uses of another entry of its name."""
        return PoolEntity(self.name, self.ids | other.ids, self.uses | other.uses)


class Pool(Protocol):
    """Entities that SREO draws from."""

    def walk_entities(self, type_: str, start: int) -> Iterator[PoolEntity]:
        """Yield all entities of a type once, from a random start; an unknown type has none."""
        ...

    def names_of(self, entity: PoolEntity) -> set[str]:
        """Return the names in the pool that share an id with an entity, its own included."""
        ...


class EntityPool:
    """Names of entities by type, in an order that does not depend on the order of input.

    Args:
        names: The names, or entities with ids and uses, of each type.
    """

    def __init__(self, names: Mapping[str, Iterable[str | PoolEntity]]) -> None:
        self._entities: dict[str, list[PoolEntity]] = {}
        self._names: dict[str, set[str]] = {}
        for type_, given in names.items():
            found: dict[str, PoolEntity] = {}
            for one in given:
                entity = PoolEntity(one) if isinstance(one, str) else one
                before = found.get(entity.name)
                found[entity.name] = before.joined(entity) if before else entity
            # Sorted by hash: neighbours have nothing in common, and a walk is random enough.
            self._entities[type_] = sorted(
                found.values(), key=lambda one: (order_of_name(one.name), one.name)
            )
            for entity in found.values():
                for id_ in entity.ids:
                    self._names.setdefault(id_, set()).add(entity.name)

    @classmethod
    def of(cls, mechanisms: Iterable[Mechanism]) -> "EntityPool":
        """Collect all typed entities of supporting sets and conclusions, as in mid-sentence."""
        names: dict[str, list[PoolEntity]] = {}
        for mechanism in mechanisms:
            for type_, entity in list_entities(mechanism):
                names.setdefault(type_, []).append(entity)
        return cls({type_: _without_capitals(found) for type_, found in names.items()})

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
            told = orjson.loads(content)  # which refuses lone surrogates
            if not all(isinstance(names, list) for names in told.values()):
                raise TypeError("a type has no list of names")
            if not any(told.values()):
                raise ValueError("it has no name")
            return cls({type_: list(map(_parse, names)) for type_, names in told.items()})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{path} holds no entities ({error}); expected {_FORM}.") from error

    def walk(self, type_: str, start: int) -> Iterator[str]:
        """Yield all names of a type once, from a random start; an unknown type has none."""
        return (entity.name for entity in self.walk_entities(type_, start))

    def walk_entities(self, type_: str, start: int) -> Iterator[PoolEntity]:
        """Yield all entities of a type once, from a random start."""
        found = self._entities.get(type_, [])
        return (found[(start + i) % len(found)] for i in range(len(found)))

    def names_of(self, entity: PoolEntity) -> set[str]:
        """Return the names in the pool that share an id with an entity, its own included."""
        return {entity.name}.union(*(self._names[id_] for id_ in entity.ids))


def _parse(told: Any) -> PoolEntity:
    fields = told if isinstance(told, dict) else {"name": told}
    name, ids = fields.get("name"), fields.get("ids", [])
    if not isinstance(name, str) or not name or name.strip() != name:
        raise TypeError("a name is not a string, is empty, or has spaces around it")
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise TypeError(f"the ids of {name!r:.80} are not a list of strings")
    return PoolEntity(name, frozenset(ids))


def _without_capitals(entities: Iterable[PoolEntity]) -> list[PoolEntity]:
    """Join a name with a capital to the same in small letters, where the corpus has both."""
    found = list(entities)
    names = {entity.name for entity in found}
    return [
        PoolEntity(small, one.ids, one.uses) if (small := small_name(one.name)) in names else one
        for one in found
    ]


def small_name(name: str) -> str | None:
    """Return a name with a small first letter; None where the others are not small."""
    return name[:1].lower() + name[1:] if name[1:].islower() else None


def order_of_name(name: str) -> bytes:
    """Return the 16 bytes that place a name among those of its type."""
    return keyed_hash(name, "", "pool")


def list_entities(mechanism: Mechanism) -> Iterator[tuple[str, PoolEntity]]:
    """Yield the typed entities of a mechanism with their types, as in mid-sentence."""
    sentences = mechanism.sentences
    for name, type_, ids in sorted(set(_entities(mechanism))):
        if any(find_name(name, sentence) for sentence in sentences):  # no part of a word
            uses = observe_uses(name, sentences)
            yield type_, PoolEntity(uncapitalize_name(name, sentences), frozenset(ids), uses)


def _entities(mechanism: Mechanism) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    if mechanism.regulator_type is not None:
        yield mechanism.regulator, mechanism.regulator_type, mechanism.regulator_ids
    if mechanism.regulated_type is not None:
        yield mechanism.regulated, mechanism.regulated_type, mechanism.regulated_ids
    for mention in mechanism.mentions:
        if mention.where != "elsewhere":
            yield mention.text, mention.type, mention.ids
