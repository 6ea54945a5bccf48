"""The four kinds of sentences that a model is asked for, and when a sentence is a negative.

Source:
    BioNLI, section 3.3.2.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from ..mechanisms.mechanism import Mechanism
from ..perturb.apply import SAME_AS_ANOTHER, SAME_AS_POSITIVE
from ..perturb.denials import DENIED, is_denied
from ..perturb.grammar import uncapitalize_name
from ..perturb.names import MarkedSentence, find_places, locate_entities, plain_name
from ..perturb.replace_entities import ReplaceInside
from ..perturb.strategy import BROKEN_MARKERS, Choices, NoNegative
from ..perturb.swap_entities import SAME_NAME, SYMMETRIC, is_symmetric
from .task import Written, mark_name

#: Why a model gives no negative.
NOT_FOUND = "no text was found that ends and satisfies what was asked"
TOO_GOOD = "the quality is not below the bound"
TOO_SIMILAR = "it is not less similar to the positive than the bound"
MALFORMED = "the text has not one entity of each role in well-formed markers, apart"
MISSING = "an entity does not stand in its markers"
RIGHT_RELATION = "the relation is right"
NO_RELATION = "the text tells no relation, and its roles are those of the positive"
UNTOLD_POLARITY = "the roles are those of the positive, whose polarity is not told"
BROKEN_CONSTRAINT = "the text has a marked entity that it must not have"


#: The error of a sentence, for a reader; or why it is not a negative.
Verdict = str | NoNegative


@dataclass(frozen=True, slots=True)
class Asked:
    """The constraints that a model is asked to meet.

    Attributes:
        required: Phrases that must appear.
        forbidden: Phrases that must not appear.
        names: The names required in the markers of regulator and regulated; None allows any.
    """

    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    names: tuple[str, str] | None = None


class SentenceKind(ABC):
    """A kind of sentence to ask a model for.

    Attributes:
        name: Its name, in the column ``kind``.
        category: Its category in the dataset.
        bound: The bound that it must keep: ``"quality"``, ``"similarity"`` or None.
        others: Further reasons of its own for giving no negative.
    """

    name: ClassVar[str]
    category: ClassVar[str] = "GEN-ND"
    bound: ClassVar[str | None] = None
    others: ClassVar[tuple[str, ...]] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return all reasons for which there may be no negative."""
        bound = {"quality": (TOO_GOOD,), "similarity": (TOO_SIMILAR,)}.get(self.bound or "", ())
        same = (SAME_AS_POSITIVE, SAME_AS_ANOTHER)
        return (BROKEN_MARKERS, NOT_FOUND, MALFORMED, *self.others, *bound, *same)

    @abstractmethod
    def ask(self, mechanism: Mechanism, choices: Choices) -> Asked | NoNegative:
        """Decide what to ask a model for, or why nothing can be asked.

        Args:
            mechanism: The positive, its markers well formed.
            choices: The random choices for its abstract.
        """

    def judge(self, written: Written, mechanism: Mechanism, asked: Asked) -> Verdict:
        """Judge whether a sentence is a negative of this kind, before its bound is applied.

        Args:
            written: The sentence that a model wrote.
            mechanism: The positive.
            asked: The constraints that the model was asked to meet.

        Returns:
            The error of the sentence, for a reader; or why it is not a negative.
        """
        marked = _read_sentence(written.sentence, mechanism)
        if marked is None:
            return NoNegative(MALFORMED)
        if asked.names is not None and marked.names != asked.names:
            return NoNegative(MISSING)
        return self._judge(marked, written, mechanism)

    @abstractmethod
    def _judge(self, marked: MarkedSentence, written: Written, mechanism: Mechanism) -> Verdict:
        """Judge a sentence with well-formed markers around the names asked for; see ``judge``."""


class Generated(SentenceKind):
    """GEN: a sentence that the model writes freely, with a wrong relation.

    The relation is wrong where the entities stand in each other's markers, or where the model
    writes the opposite polarity. Where the polarity of a mechanism is unknown, as in PubTator, only
    the first can be judged, and other sentences are not taken.
    """

    name = "GEN"
    category = "GEN"
    bound = "quality"
    others = (MISSING, SAME_NAME, SYMMETRIC, NO_RELATION, UNTOLD_POLARITY, RIGHT_RELATION)

    def ask(self, mechanism: Mechanism, choices: Choices) -> Asked | NoNegative:
        """Ask for nothing in particular; two entities of one name give no negative."""
        names = _plain_names(mechanism)
        return NoNegative(SAME_NAME) if names[0] == names[1] else Asked()

    def _judge(self, marked: MarkedSentence, written: Written, mechanism: Mechanism) -> Verdict:
        names, original = _plain_names(marked), _plain_names(mechanism)
        if names == original[::-1]:
            return NoNegative(SYMMETRIC) if is_symmetric(marked) else "roles exchanged"
        if names != original:
            return NoNegative(MISSING)
        if mechanism.polarity is None:
            return NoNegative(UNTOLD_POLARITY)
        if written.polarity is None:
            return NoNegative(NO_RELATION)
        if written.polarity == mechanism.polarity:
            return NoNegative(RIGHT_RELATION)
        return f"{mechanism.polarity} -> {written.polarity}"


class SwappedNames(SentenceKind):
    """GEN-ND-SEN: each entity must stand in the other's markers."""

    name = "GEN-ND-SEN"
    others = (MISSING, SAME_NAME, SYMMETRIC, DENIED)

    def ask(self, mechanism: Mechanism, choices: Choices) -> Asked | NoNegative:
        """Ask for both names, exchanged."""
        if plain_name(mechanism.regulator) == plain_name(mechanism.regulated):
            return NoNegative(SAME_NAME)
        marked = locate_entities(mechanism)
        if marked is not None and is_denied(marked):
            return NoNegative(DENIED)
        return _ask_for(mechanism, mechanism.regulated, mechanism.regulator)

    def _judge(self, marked: MarkedSentence, written: Written, mechanism: Mechanism) -> Verdict:
        return NoNegative(SYMMETRIC) if is_symmetric(marked) else "roles exchanged"


class ReplacedEntity(SentenceKind):
    """GEN-ND-SRE: one entity must stand in its markers, one drawn as by SRE in the other's."""

    name = "GEN-ND-SRE"
    bound = "similarity"
    others = (MISSING, *ReplaceInside().reasons[1:])

    def ask(self, mechanism: Mechanism, choices: Choices) -> Asked | NoNegative:
        """Ask for one of the two names, and one from the supporting set in place of the other."""
        replaced = ReplaceInside().propose(mechanism, choices)
        if isinstance(replaced, NoNegative):
            return replaced
        text = next(replaced).text
        regulator, regulated = (text[p.name_start : p.name_end] for p in find_places(text) or ())
        return _ask_for(mechanism, regulator, regulated)

    def _judge(self, marked: MarkedSentence, written: Written, mechanism: Mechanism) -> Verdict:
        return f"{mechanism.regulator}, {mechanism.regulated} -> {', '.join(marked.names)}"


class ForbiddenEntities(SentenceKind):
    """GEN-ND-NG: neither entity may stand in its own markers."""

    name = "GEN-ND-NG"
    others = (BROKEN_CONSTRAINT,)

    def ask(self, mechanism: Mechanism, choices: Choices) -> Asked | NoNegative:
        """Ask for a sentence with neither name in its own markers."""
        asked = _ask_for(mechanism, mechanism.regulator, mechanism.regulated)
        return Asked(forbidden=asked.required)

    def _judge(self, marked: MarkedSentence, written: Written, mechanism: Mechanism) -> Verdict:
        pairs = zip(_plain_names(marked), _plain_names(mechanism), strict=True)
        if any(name == original for name, original in pairs):
            return NoNegative(BROKEN_CONSTRAINT)
        return f"{mechanism.regulator}, {mechanism.regulated} -> {', '.join(marked.names)}"


KINDS: dict[str, SentenceKind] = {
    kind.name: kind for kind in (Generated(), SwappedNames(), ReplacedEntity(), ForbiddenEntities())
}


def _read_sentence(sentence: str, mechanism: Mechanism) -> MarkedSentence | None:
    """Locate any two marked names in a sentence; None where markers are malformed, or touch."""
    places = find_places(sentence)
    if places is None:
        return None
    first, second = sorted(places, key=lambda place: place.start)
    if first.end == second.start:
        return None
    names = [sentence[place.name_start : place.name_end] for place in places]
    return locate_entities(
        replace(mechanism, conclusion=sentence, regulator=names[0], regulated=names[1])
    )


def _ask_for(mechanism: Mechanism, regulator: str, regulated: str) -> Asked:
    """Ask for two names, as written inside a sentence, in the markers of their roles."""
    sentences = mechanism.sentences
    names = uncapitalize_name(regulator, sentences), uncapitalize_name(regulated, sentences)
    required = mark_name("regulator", names[0]), mark_name("regulated", names[1])
    return Asked(required=required, names=names)


def _plain_names(one: Mechanism | MarkedSentence) -> tuple[str, str]:
    regulator, regulated = one.names
    return plain_name(regulator), plain_name(regulated)
