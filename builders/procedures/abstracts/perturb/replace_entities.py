"""SRE and SREO: replace an entity by another of its type, from the supporting set or from a pool.

A replacement is another entity: none that shares a concept id or a spelling with an entity of the
sentence, and for SREO with any of the abstract; not the kind that the entity is of. It fits in part
of speech, number and article. The abstract does not support the sentence that it makes, as far as
simple means tell.

Source:
    BioNLI, section 3.3.1, "Swap Random Entity" and "Swap Random Entity with Out of text entity";
    Table 4. The paper takes types from SciSpaCy's ``en_ner_bionlp13cg_md``; here they are those of
    the mechanism. The authors' code of SREO may draw the very name that it replaces and counts that
    as a change; this cannot happen here. The checks of a replacement are ours.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..mechanisms.mechanism import Mechanism, Mention
from .affirmation import NOT_AFFIRMED, why_not_affirmed
from .entity_pool import Pool, PoolEntity
from .evidence import may_hold_for
from .fit_name import UNFIT, NewName, replace_name
from .names import MarkedSentence, find_name, locate_entities
from .strategy import BROKEN_MARKERS, Choices, NoNegative, Perturbed, Proposals, Strategy
from .synonyms import is_general, may_be_same

#: Why no entity is replaced.
NO_TYPE = "neither entity has a type"
MAY_BE_SAME = "every other entity of its type may be one of the sentence, or their kind"
MAY_HOLD = "the supporting set may say the same of every other entity of its type"
#: The reasons in the order of the checks; that of the entity that came furthest is given.
_STAGES = (MAY_BE_SAME, UNFIT, MAY_HOLD)


class _Entity(NamedTuple):
    """One of the two entities, with the other's name and ids."""

    role: str
    name: str
    type: str | None
    ids: tuple[str, ...]
    other: tuple[str, tuple[str, ...]]


def _entities_of(mechanism: Mechanism) -> Iterator[_Entity]:
    """Yield those of the two entities that have a type."""
    regulator = mechanism.regulator, mechanism.regulator_ids
    regulated = mechanism.regulated, mechanism.regulated_ids
    both = (
        _Entity("regulator", regulator[0], mechanism.regulator_type, regulator[1], regulated),
        (_Entity("regulated", regulated[0], mechanism.regulated_type, regulated[1], regulator)),
    )
    return (one for one in both if one.type)


class ReplaceInside(Strategy):
    """SRE: one of the two entities becomes another of its type from the supporting set."""

    name = "SRE"
    otherwise = "no other entity of its type in the supporting set"
    others = (*NOT_AFFIRMED, NO_TYPE, *_STAGES)

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if reason := why_not_affirmed(marked):
            return NoNegative(reason)
        found = _draw(mechanism, marked, choices)
        if isinstance(found, NoNegative):
            return found
        return (perturbed for _, _, perturbed in found)


def draw_replacements(
    mechanism: Mechanism, choices: Choices
) -> Iterator[tuple[str, str]] | NoNegative:
    """Draw roles of a mechanism and names in its supporting set that may replace the entity.

    Returns:
        Roles and names, in the order of drawing; or why there are none.
    """
    marked = locate_entities(mechanism)
    if marked is None:
        return NoNegative(BROKEN_MARKERS)
    found = _draw(mechanism, marked, choices)
    return found if isinstance(found, NoNegative) else ((role, name) for role, name, _ in found)


def _draw(
    mechanism: Mechanism, marked: MarkedSentence, choices: Choices
) -> Iterator[tuple[str, str, Perturbed]] | NoNegative:
    entities = list(_entities_of(mechanism))
    if not entities:
        return NoNegative(NO_TYPE)
    options = [(entity, one) for entity in entities for one in _others(mechanism, entity.type)]
    if not options:
        return NoNegative(ReplaceInside.otherwise)
    judged = (
        (entity, one, _judge_inside(mechanism, marked, entity, one))
        for entity, one in choices.arrange(options, "entity")
    )
    return _first_good((entity.role, one.text, found) for entity, one, found in judged)


def _first_good(
    judged: Iterator[tuple[str, str, Perturbed | str]],
) -> Iterator[tuple[str, str, Perturbed]] | NoNegative:
    """Pass on the good ones; where there is none, say why the one that came furthest is refused."""
    furthest = 0
    for role, name, found in judged:
        if isinstance(found, Perturbed):
            return _chain((role, name, found), judged)
        furthest = max(furthest, _STAGES.index(found))
    return NoNegative(_STAGES[furthest])


def _chain(
    first: tuple[str, str, Perturbed], judged: Iterator[tuple[str, str, Perturbed | str]]
) -> Iterator[tuple[str, str, Perturbed]]:
    yield first
    for role, name, found in judged:
        if isinstance(found, Perturbed):
            yield role, name, found


def _others(mechanism: Mechanism, type_: str | None) -> Iterator[Mention]:
    """Yield the entities of a type in the supporting set, each once whatever its case."""
    seen = {name.casefold() for name in mechanism.names}
    for mention in mechanism.mentions:
        if mention.where == "supporting" and mention.type == type_:
            if mention.text.casefold() not in seen:
                yield mention
            seen.add(mention.text.casefold())


def _judge_inside(
    mechanism: Mechanism, marked: MarkedSentence, entity: _Entity, one: Mention
) -> Perturbed | str:
    """Replace an entity by one of the supporting set, or return why not."""
    text = " ".join(mechanism.supporting)
    in_sentence = [m for m in mechanism.mentions if m.where == "conclusion"]
    names = (*mechanism.names, *(m.text for m in in_sentence))
    ids = {
        *mechanism.regulator_ids,
        *mechanism.regulated_ids,
        *(i for m in in_sentence for i in m.ids),
    }
    if (
        not ids.isdisjoint(one.ids)
        or is_general(one.text)
        or any(may_be_same(one.text, name, text) for name in names)
        or find_name(one.text, mechanism.conclusion, ignore_case=True)
        or not find_name(one.text, text)  # a part of a word
    ):
        return MAY_BE_SAME
    perturbed = _replace(marked, mechanism, entity.role, NewName.of(one.text, mechanism))
    if perturbed is None:
        return UNFIT
    if may_hold_for(mechanism, marked, entity.name, entity.other, one.text, one.ids):
        return MAY_HOLD
    return perturbed


class ReplaceOutside(Strategy):
    """SREO: one of the two entities becomes one of its type from a pool.

    Attributes:
        pool: The entities to draw from.
    """

    name = "SREO"
    otherwise = "no entity of its type in the pool that is not in the abstract"
    others = (*NOT_AFFIRMED, NO_TYPE, UNFIT)

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if reason := why_not_affirmed(marked):
            return NoNegative(reason)
        entities = {entity.role: entity for entity in _entities_of(mechanism)}
        if not entities:
            return NoNegative(NO_TYPE)
        others = (
            (role, one)
            for role in choices.arrange(sorted(entities), "role")
            for one in self._outside(mechanism, entities[role].type or "", choices.draw(role))
        )
        return _fitting(marked, mechanism, others)

    def _outside(self, mechanism: Mechanism, type_: str, start: int) -> Iterator[PoolEntity]:
        text = " ".join([*mechanism.supporting, mechanism.conclusion])
        known = (*mechanism.names, *(m.text for m in mechanism.mentions))
        ids = {*mechanism.regulator_ids, *mechanism.regulated_ids}
        ids.update(one for mention in mechanism.mentions for one in mention.ids)
        folded = text.casefold()
        for one in self.pool.walk_entities(type_, start):
            if (
                ids.isdisjoint(one.ids)
                and not is_general(one.name)
                and not any(
                    name.casefold() in folded and find_name(name, text, ignore_case=True)
                    for name in self.pool.names_of(one)
                )
                and not any(may_be_same(one.name, name, text) for name in known)
            ):
                yield one


def _fitting(
    marked: MarkedSentence, mechanism: Mechanism, others: Iterable[tuple[str, PoolEntity]]
) -> Proposals:
    """Put entities of a pool at their roles; a reason where there are some and none fits."""
    is_empty = True
    found = iter(others)
    for role, one in found:
        is_empty = False
        new = NewName(one.name, one.uses)
        if first := _replace(marked, mechanism, role, new):
            return _and_the_rest(first, marked, mechanism, found)
    return [] if is_empty else NoNegative(UNFIT)


def _and_the_rest(
    first: Perturbed,
    marked: MarkedSentence,
    mechanism: Mechanism,
    others: Iterator[tuple[str, PoolEntity]],
) -> Iterator[Perturbed]:
    yield first
    for role, one in others:
        if perturbed := _replace(marked, mechanism, role, NewName(one.name, one.uses)):
            yield perturbed


def _replace(
    marked: MarkedSentence, mechanism: Mechanism, role: str, new: NewName
) -> Perturbed | None:
    """Put another name at the place of one role; other mentions of the entity stay."""
    place = marked.regulator if role == "regulator" else marked.regulated
    edits = replace_name(marked, place, new, mechanism)
    return None if edits is None else Perturbed.of(marked.text, edits)
