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

from collections.abc import Iterator
from typing import NamedTuple

from ..mechanisms.mechanism import Mechanism, Mention
from .denials import DENIED, is_denied
from .entity_pool import EntityPool
from .evidence import is_general, may_be_same, may_hold_for
from .grammar import UNFIT, replace_name
from .names import MarkedSentence, find_name
from .strategy import Choices, Perturbed, Proposals, Strategy

#: Why no entity is replaced.
NO_TYPE = "neither entity has a type"
MAY_BE_SAME = "every other entity of its type may be one of the sentence, or their kind"
MAY_HOLD = "the supporting set may say the same of every other entity of its type"
#: The reasons in the order of the checks; that of the entity that came furthest is given.
_STAGES = (MAY_BE_SAME, UNFIT, MAY_HOLD)


class _Entity(NamedTuple):
    """One of the two entities, and the other, which is kept."""

    role: str
    name: str
    type: str
    kept: str
    kept_ids: tuple[str, ...]


def _entities_of(mechanism: Mechanism) -> list[_Entity]:
    """Return those of the two entities that have a type."""
    one = mechanism
    both = (
        ("regulator", one.regulator, one.regulator_type, one.regulated, one.regulated_ids),
        ("regulated", one.regulated, one.regulated_type, one.regulator, one.regulator_ids),
    )
    return [_Entity(role, name, type_, kept, ids) for role, name, type_, kept, ids in both if type_]


class ReplaceInside(Strategy):
    """SRE: one of the two entities becomes another of its type from the supporting set."""

    name = "SRE"
    otherwise = "no other entity of its type in the supporting set"
    others = (DENIED, NO_TYPE, *_STAGES)

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        entities = _entities_of(mechanism)
        if is_denied(marked) or not entities:
            return NO_TYPE if not entities else DENIED
        options = [(entity, one) for entity in entities for one in _others(mechanism, entity.type)]
        reasons = []
        for entity, one in choices.shuffle(options, "entity"):
            found = _replace_inside(mechanism, marked, entity, one)
            if isinstance(found, Perturbed):
                yield found
            else:
                reasons.append(found)
        return max(reasons, key=_STAGES.index, default=None)


def _others(mechanism: Mechanism, type_: str) -> Iterator[Mention]:
    """Yield the entities of a type in the supporting set, each once whatever its case."""
    seen = {name.casefold() for name in mechanism.names}
    for mention in mechanism.mentions:
        name = mention.text.casefold()
        if mention.where == "supporting" and mention.type == type_ and name not in seen:
            seen.add(name)
            yield mention


def _replace_inside(
    mechanism: Mechanism, marked: MarkedSentence, entity: _Entity, one: Mention
) -> Perturbed | str:
    """Replace an entity by one of the supporting set, or return one of ``_STAGES``."""
    text = " ".join(mechanism.supporting)
    there = [mention for mention in mechanism.mentions if mention.where == "conclusion"]
    names = (*mechanism.names, *(mention.text for mention in there))
    ids = {*mechanism.regulator_ids, *mechanism.regulated_ids}.union(*(m.ids for m in there))
    if (
        not ids.isdisjoint(one.ids)
        or is_general(one.text)
        or any(may_be_same(one.text, name, text) for name in names)
        or find_name(one.text, mechanism.conclusion, ignore_case=True)
        or not find_name(one.text, text)  # a part of a word
    ):
        return MAY_BE_SAME
    place = marked.place_of(entity.role)
    edit = replace_name(marked, place, one.text, mechanism)
    if edit is None:
        return UNFIT
    is_related = any(
        {*pair} & {*one.ids} and {*pair} & {*entity.kept_ids} for pair in mechanism.related
    )
    if is_related or may_hold_for(mechanism, entity.name, entity.kept, one.text):
        return MAY_HOLD
    return Perturbed.of(marked.text, [edit])


class ReplaceOutside(Strategy):
    """SREO: one of the two entities becomes one of its type from a pool.

    Attributes:
        pool: The entities to draw from.
    """

    name = "SREO"
    otherwise = "no entity of its type in the pool that is not in the abstract"
    others = (DENIED, NO_TYPE, UNFIT)

    def __init__(self, pool: EntityPool) -> None:
        self.pool = pool

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        entities = _entities_of(mechanism)
        if is_denied(marked) or not entities:
            return NO_TYPE if not entities else DENIED
        reason = None
        text = " ".join(mechanism.sentences)
        known = (*mechanism.names, *(mention.text for mention in mechanism.mentions))
        ids = {*mechanism.regulator_ids, *mechanism.regulated_ids}
        ids.update(one for mention in mechanism.mentions for one in mention.ids)
        for entity in choices.shuffle(entities, "role"):
            place = marked.place_of(entity.role)
            for one in self.pool.walk_entities(entity.type, choices.draw(entity.role)):
                # The pool may be large, so what is cheap is asked first.
                edit = replace_name(marked, place, one.name, mechanism)
                if edit is None:
                    reason = UNFIT
                elif (
                    ids.isdisjoint(one.ids)
                    and not is_general(one.name)
                    and not find_name(one.name, text, ignore_case=True)
                    and not any(may_be_same(one.name, name, text) for name in known)
                ):
                    yield Perturbed.of(marked.text, [edit])
                    reason = UNFIT  # the name breaks the markers
        return reason
