"""SRE: an entity is replaced by another of its type from the supporting set.

Source:
    BioNLI, section 3.3.1, "Swap Random Entity". The paper takes types from SciSpaCy's
    ``en_ner_bionlp13cg_md``; here they are those that the mechanism has.
"""

from collections.abc import Iterable, Iterator

from ..mechanisms.mechanism import Mechanism
from .choices import Choices
from .denial import DENIED, denies
from .marked import MARKERS, MarkedSentence, find_name
from .naming import may_be_same, put_name, stand_together
from .strategy import Perturbed, Refused, Strategy

#: Why no entity is replaced.
NO_TYPE = "neither entity has a type"


def types_of(mechanism: Mechanism) -> dict[str, str]:
    """The types of the two entities by role, where they have one."""
    types = (mechanism.regulator_type, mechanism.regulated_type)
    return {role: type_ for role, type_ in zip(MARKERS, types, strict=True) if type_}


def replace_entity(marked: MarkedSentence, mechanism: Mechanism, role: str, new: str) -> Perturbed:
    """The sentence with another name at the place of one role; other mentions of it stay.

    Args:
        marked: The sentence.
        mechanism: Where it is from.
        role: ``regulator`` or ``regulated``.
        new: The name.
    """
    place = marked.regulator if role == "regulator" else marked.regulated
    return Perturbed.of(marked.text, put_name(marked, place, new, mechanism))


class ReplaceInside(Strategy):
    """SRE: one of the two entities becomes another of its type from the supporting set.

    Left out are names that may be of one of the two entities, those that stand in the conclusion,
    and those that the supporting set names side by side with the entity: what it says of
    ``TNF and IL-1`` holds for both.
    """

    name = "SRE"
    precondition = "an entity has a type, and the supporting set another entity of that type"
    otherwise = "no other entity of its type in the supporting set"
    others = (DENIED, NO_TYPE)

    def _propose(
        self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices
    ) -> Iterable[Perturbed] | Refused:
        if denies(marked):
            return Refused(DENIED)
        found = find_others(mechanism, choices)
        if isinstance(found, Refused):
            return found
        return (replace_entity(marked, mechanism, role, name) for role, name in found)


def find_others(mechanism: Mechanism, choices: Choices) -> Iterator[tuple[str, str]] | Refused:
    """What may take the place of an entity: roles and names, in the order in which they are drawn.

    Args:
        mechanism: The positive.
        choices: What decides the order.
    """
    types = types_of(mechanism)
    if not types:
        return Refused(NO_TYPE)
    options = [(role, name) for role, type_ in types.items() for name in _others(mechanism, type_)]
    return (
        (role, name)
        for role, name in choices.arrange(options, "entity")
        if _is_other(mechanism, getattr(mechanism, role), name)
    )


def _others(mechanism: Mechanism, type_: str) -> Iterator[str]:
    """The names of a type in the supporting set, each once; spellings that differ in case too."""
    seen = {mechanism.regulator.casefold(), mechanism.regulated.casefold()}
    for mention in mechanism.mentions:
        if mention.where == "supporting" and mention.type == type_:
            if mention.text.casefold() not in seen:
                yield mention.text
            seen.add(mention.text.casefold())


def _is_other(mechanism: Mechanism, entity: str, name: str) -> bool:
    text = " ".join(mechanism.supporting)
    both = (mechanism.regulator, mechanism.regulated)
    return not (
        any(may_be_same(name, one, text) for one in both)
        or find_name(name, mechanism.conclusion, ignore_case=True)
        or stand_together(entity, name, text)
    )
