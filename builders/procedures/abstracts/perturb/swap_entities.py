"""SEN and SEP: the two entities change places, without or with their markers.

Without its markers the sentence of SEP is that of SEN: who strips them takes one of the two.

Source:
    BioNLI, section 3.3.1, "Swap Entity Names" and "Swap Entity Positions"; Table 4.
"""

import re
from typing import ClassVar

from ..mechanisms.mechanism import Mechanism
from .grammar import UNFIT, replace_name
from .names import MARKERS, EntityPlace, MarkedSentence, find_name
from .relations import find_relation
from .replace_entities import may_be_same
from .strategy import DENIED, Choices, Perturbed, Proposals, Strategy, TextEdit, is_denied

#: The markers of the other role for the regulator and the regulated entity.
_OTHER_MARKERS = MARKERS["regulated"], MARKERS["regulator"]
#: Why two entities are not swapped.
SAME_NAME = "both names may be of one entity"
UNDIRECTED = "the sentence does not plainly state that one entity acts on the other"
#: The abstract says that each of the two acts on the other.
MUTUAL = "the abstract may say the same with the entities exchanged"

_MUTUAL = re.compile(
    r"\b(?:each other|one another|mutual\w*|reciprocal\w*|bidirectional\w*|vice[ -]versa|feedback"
    r"|cross-?talk|synerg\w+|interdependen\w+|conversely|the reverse|both directions|in turn"
    r"|by (?:it|them)|its (?:own )?\w+or|each|the (?:former|latter)"
    r"|(?:which|and|but) (?:\w+ )?\w+ (?:it|them))\b",
    re.IGNORECASE,
)
#: Between a name and the next that it acts on, and one that it is acted on by.
_ACTS_ON = re.compile(
    r"\s+(?:\w+ly\s+|also\s+)?(?!(?:and|or|with|of|by|in|to|from)\b)\w+\s+(?:the\s+)?"
)
_IS_ACTED_ON = re.compile(r"\s+(?:is|are|was|were)\s+(?:\w+\s+){1,2}by\s+(?:the\s+)?")


class SwapNames(Strategy):
    """SEN: ``<re> A <er> ... <el> B <le>`` becomes ``<re> B <er> ... <el> A <le>``.

    Attributes:
        symmetric: Whether to swap in sentences that stay true too, as the paper does: it grants
            that its relations are "not necessarily asymmetric" (footnote 3).
    """

    name = "SEN"
    otherwise = SAME_NAME
    others: ClassVar[tuple[str, ...]] = (UNDIRECTED, DENIED, MUTUAL, UNFIT)

    def __init__(self, *, symmetric: bool = False) -> None:
        self.symmetric = symmetric

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if may_be_same(*mechanism.names, " ".join(mechanism.supporting)):
            return SAME_NAME
        if reason := self._why_not(marked, mechanism):
            return reason
        edits = []
        for place, name in zip(_places(marked), reversed(marked.names), strict=True):
            edit = replace_name(marked, place, name, mechanism)
            if edit is None:
                return UNFIT
            edits.append(edit)
        yield Perturbed.of(marked.text, self._finish(marked, *edits))
        return None

    def _why_not(self, marked: MarkedSentence, mechanism: Mechanism) -> str | None:
        """Return why the sentence may stay true with its entities exchanged."""
        if self.symmetric:
            return None
        if find_relation(marked) is None:
            return UNDIRECTED
        if is_denied(marked):
            return DENIED
        if is_mutual(mechanism) or _are_named_again(marked) or _is_stated(mechanism):
            return MUTUAL
        return None

    def _finish(
        self, marked: MarkedSentence, regulator: TextEdit, regulated: TextEdit
    ) -> list[TextEdit]:
        """Return the edits for the names that are put at the places of the two."""
        return [regulator, regulated]


class SwapPositions(SwapNames):
    """SEP: ``<re> A <er> ... <el> B <le>`` becomes ``<el> B <le> ... <re> A <er>``."""

    name = "SEP"

    def _finish(
        self, marked: MarkedSentence, regulator: TextEdit, regulated: TextEdit
    ) -> list[TextEdit]:
        return [
            TextEdit(place.start, place.end, f"{opens} {edit.new} {closes}")
            for place, edit, (opens, closes) in zip(
                _places(marked), (regulator, regulated), _OTHER_MARKERS, strict=True
            )
        ]


def _places(marked: MarkedSentence) -> tuple[EntityPlace, EntityPlace]:
    return marked.regulator, marked.regulated


def _are_named_again(marked: MarkedSentence) -> bool:
    """Return whether an entity also stands elsewhere: X acts on Y, and Y acts on X."""
    first, second = marked.in_order
    text = marked.text
    rest = (text[: first.start], text[first.end : second.start], text[second.end :])
    return any(find_name(name, part, ignore_case=True) for name in marked.names for part in rest)


def _is_stated(mechanism: Mechanism) -> bool:
    """Return whether a supporting sentence says that the regulated entity acts on its regulator."""
    regulator, regulated = mechanism.names

    def stand(one: str, between: re.Pattern[str], other: str, sentence: str) -> bool:
        return any(
            between.fullmatch(sentence, before.end(), after.start())
            for before in find_name(one, sentence, ignore_case=True)
            for after in find_name(other, sentence, ignore_case=True)
        )

    return any(
        stand(regulated, _ACTS_ON, regulator, sentence)
        or stand(regulator, _IS_ACTED_ON, regulated, sentence)
        for sentence in mechanism.supporting
    )


def is_mutual(mechanism: Mechanism) -> bool:
    """Return whether a sentence says of both entities that they act on each other."""
    return any(
        _MUTUAL.search(sentence) and all(find_name(name, sentence) for name in mechanism.names)
        for sentence in mechanism.sentences
    )
