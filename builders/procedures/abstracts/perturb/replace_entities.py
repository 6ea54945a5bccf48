"""SRE and SREO: replace an entity by another of its type, from the supporting set or from a pool.

Source:
    BioNLI, section 3.3.1, "Swap Random Entity" and "Swap Random Entity with Out of text entity";
    Table 4. The paper takes types from SciSpaCy's ``en_ner_bionlp13cg_md``; here they are those of
    the mechanism. The authors' code of SREO may draw the very name that it replaces and counts that
    as a change; this cannot happen here.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import orjson

from .....loaders.errors import UsageError
from ....core.keyed import keyed_hash
from ..mechanisms.mechanism import Mechanism
from .grammar import replace_name, uncapitalize_name
from .names import MARKERS, MarkedSentence, find_name, may_be_same, stand_together
from .negate import DENIED, only_denies
from .strategy import Choices, NoNegative, Perturbed, Proposals, Strategy


class EntityPool:
    """Names of entities by type, in an order that does not depend on the order of input."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        # Sorted by hash, so that neighbours have nothing in common and a walk is random enough.
        self._names = {
            type_: sorted(set(found), key=lambda name: (keyed_hash(name, "", "pool"), name))
            for type_, found in names.items()
        }

    @classmethod
    def of(cls, mechanisms: Iterable[Mechanism]) -> "EntityPool":
        """Collect all typed entities of mechanisms, as written inside sentences."""
        names: dict[str, set[str]] = {}
        for mechanism in mechanisms:
            for name, type_ in set(_entities(mechanism)):
                names.setdefault(type_, set()).add(uncapitalize_name(name, mechanism.sentences))
        return cls(names)

    @classmethod
    def read(cls, path: Path) -> "EntityPool":
        """Read a pool of entities from a JSON file: ``{"TYPE": ["NAME", ...], ...}``.

        Raises:
            UsageError: The file is missing, not of that form, or without a name.
        """
        try:
            told = orjson.loads(path.read_bytes())  # which refuses lone surrogates
            if not all(
                isinstance(names, list)
                and all(isinstance(n, str) and n.strip() == n != "" for n in names)
                for names in told.values()
            ):
                raise TypeError("a name is not a string, is empty, or has spaces around it")
            if not any(told.values()):
                raise ValueError("it has no name")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(
                f'{path} holds no entities ({error}); expected {{"TYPE": ["NAME", ...], ...}}.'
            ) from error
        return cls(told)

    def walk(self, type_: str, start: int) -> Iterator[str]:
        """Yield all names of a type once, from a random start; an unknown type has none."""
        names = self._names.get(type_, [])
        return (names[(start + i) % len(names)] for i in range(len(names)))


def _entities(mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    if mechanism.regulator_type is not None:
        yield mechanism.regulator, mechanism.regulator_type
    if mechanism.regulated_type is not None:
        yield mechanism.regulated, mechanism.regulated_type
    for mention in mechanism.mentions:
        yield mention.text, mention.type


#: Why no entity is replaced.
NO_TYPE = "neither entity has a type"


class ReplaceInside(Strategy):
    """SRE: one of the two entities becomes another of its type from the supporting set.

    Left out are names that may be of one of the two entities, names in the conclusion, and names
    that the supporting set has side by side with the entity: what it says of ``TNF and IL-1`` holds
    for both.
    """

    name = "SRE"
    otherwise = "no other entity of its type in the supporting set"
    others = (DENIED, NO_TYPE)

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if only_denies(marked):
            return NoNegative(DENIED)
        found = draw_replacements(mechanism, choices)
        if isinstance(found, NoNegative):
            return found
        return (_replace(marked, mechanism, role, name) for role, name in found)


def draw_replacements(
    mechanism: Mechanism, choices: Choices
) -> Iterator[tuple[str, str]] | NoNegative:
    """Draw roles of a mechanism and names in its supporting set that may replace the entity.

    Returns:
        Roles and names, in the order of drawing; or why there are none.
    """
    types = _types_of(mechanism)
    if not types:
        return NoNegative(NO_TYPE)
    options = [(role, name) for role, type_ in types.items() for name in _others(mechanism, type_)]
    return (
        (role, name)
        for role, name in choices.arrange(options, "entity")
        if _is_other(mechanism, getattr(mechanism, role), name)
    )


def _others(mechanism: Mechanism, type_: str) -> Iterator[str]:
    """Yield the names of a type in the supporting set, each once whatever its case."""
    seen = {mechanism.regulator.casefold(), mechanism.regulated.casefold()}
    for mention in mechanism.mentions:
        if mention.where == "supporting" and mention.type == type_:
            if mention.text.casefold() not in seen:
                yield mention.text
            seen.add(mention.text.casefold())


def _is_other(mechanism: Mechanism, entity: str, name: str) -> bool:
    text = " ".join(mechanism.supporting)
    return not (
        any(may_be_same(name, one, text) for one in mechanism.names)
        or find_name(name, mechanism.conclusion, ignore_case=True)
        or stand_together(entity, name, text)
    )


class ReplaceOutside(Strategy):
    """SREO: one of the two entities becomes one of its type from a pool.

    Attributes:
        pool: The entities to draw from.
    """

    name = "SREO"
    otherwise = "no entity of its type in the pool that is not in the abstract"
    others = (DENIED, NO_TYPE)

    def __init__(self, pool: EntityPool) -> None:
        self.pool = pool

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if only_denies(marked):
            return NoNegative(DENIED)
        types = _types_of(mechanism)
        if not types:
            return NoNegative(NO_TYPE)
        roles = choices.arrange(sorted(types), "role")
        return (
            _replace(marked, mechanism, role, name)
            for role in roles
            for name in self._names(mechanism, types[role], choices.draw(role))
        )

    def _names(self, mechanism: Mechanism, type_: str, start: int) -> Iterator[str]:
        text = " ".join([" ".join(mechanism.supporting), mechanism.conclusion])
        known = (*mechanism.names, *(m.text for m in mechanism.mentions))
        for name in self.pool.walk(type_, start):
            if not find_name(name, text, ignore_case=True) and not any(
                may_be_same(name, one, text) for one in known
            ):
                yield name


def _types_of(mechanism: Mechanism) -> dict[str, str]:
    """Return the types of the two entities by role, for those that have one."""
    types = (mechanism.regulator_type, mechanism.regulated_type)
    return {role: type_ for role, type_ in zip(MARKERS, types, strict=True) if type_}


def _replace(marked: MarkedSentence, mechanism: Mechanism, role: str, new: str) -> Perturbed:
    """Put another name at the place of one role; other mentions of the entity stay."""
    place = marked.regulator if role == "regulator" else marked.regulated
    return Perturbed.of(marked.text, replace_name(marked, place, new, mechanism))
