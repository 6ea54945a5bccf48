"""The entities of a corpus, by type."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import orjson

from .....loaders.errors import UsageError
from ....core.keyed import keyed_hash
from ..mechanisms.mechanism import Mechanism
from .grammar import as_inside


class EntityPool:
    """Names of entities by type, in an order that does not depend on how they came."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        # Sorted by hash, so that neighbours have nothing in common and a walk is as good as draws.
        self._names = {
            type_: sorted(set(found), key=lambda name: (keyed_hash(name, "", "pool"), name))
            for type_, found in names.items()
        }

    @classmethod
    def of(cls, mechanisms: Iterable[Mechanism]) -> "EntityPool":
        """All typed entities of a corpus, as they are written inside sentences."""
        names: dict[str, set[str]] = {}
        for mechanism in mechanisms:
            sentences = (*mechanism.supporting, mechanism.conclusion)
            for name, type_ in set(_entities(mechanism)):
                names.setdefault(type_, set()).add(as_inside(name, sentences))
        return cls(names)

    @classmethod
    def read(cls, path: Path) -> "EntityPool":
        """Reads one from a JSON file: ``{"TYPE": ["NAME", ...], ...}``.

        Args:
            path: The file.

        Raises:
            UsageError: The file is missing, or not of that form, or has no name.
        """
        try:
            told = orjson.loads(path.read_bytes())  # which refuses lone surrogates
            if not all(
                isinstance(names, list)
                and all(isinstance(n, str) and n.strip() == n != "" for n in names)
                for names in told.values()
            ):
                raise TypeError("a name that is no text, or has blanks around it")
            if not any(told.values()):
                raise ValueError("no name")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(
                f'{path} holds no entities ({error}); expected {{"TYPE": ["NAME", ...], ...}}.'
            ) from error
        return cls(told)

    def walk(self, type_: str, start: int) -> Iterator[str]:
        """All names of a type, from a random number on.

        Args:
            type_: The type; none are of one that is not in the pool.
            start: A draw.
        """
        names = self._names.get(type_, [])
        return (names[(start + i) % len(names)] for i in range(len(names)))


def _entities(mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    if mechanism.regulator_type is not None:
        yield mechanism.regulator, mechanism.regulator_type
    if mechanism.regulated_type is not None:
        yield mechanism.regulated, mechanism.regulated_type
    for mention in mechanism.mentions:
        yield mention.text, mention.type
