"""SEN and SEP: the two entities change places, without or with their markers.

Without its markers the sentence of SEP is that of SEN: who strips them takes one of the two.

Source:
    BioNLI, section 3.3.1, "Swap Entity Names" and "Swap Entity Positions"; Table 4.
"""

import re
from typing import ClassVar

from ..mechanisms.mechanism import Mechanism
from .grammar import UNFIT, replace_name
from .names import MARKERS, EntityPlace, MarkedSentence, find_name, mark_names, names_both
from .relations import find_relation
from .replace_entities import may_be_same
from .strategy import (
    DENIED,
    Choices,
    Perturbed,
    Proposals,
    Strategy,
    TextEdit,
    is_denied,
    is_supported,
)

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
#: Between two names of which the second acts.
_BY = re.compile(
    r"\b(?:by|after|following|upon|from|with|given|in|(?:due|response) to|consequence of)"
    r"(?: [\w-]+){0,2} \(?$"
)
#: Behind the second entity, so near: the same of both, in other words.
_NEAR = 60
_BACK = re.compile(
    r"\b(?:its?|they|them|their|both|each|this|these|which|relation\w*|interaction\w*|convers\w+"
    r"|invers\w+|reciproc\w+|symmetr\w+|bilateral|ways?|two-\w+|loop|circuit|return|opposite"
    r"|antagonists?|the reverse)\b",
    re.IGNORECASE,
)


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
        if is_mutual(mechanism) or _are_named_again(marked) or _may_be_stated(marked, mechanism):
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


def _may_be_stated(marked: MarkedSentence, mechanism: Mechanism) -> bool:
    """Return whether the abstract may say that the other one acts.

    So it may where the order of the two in a supporting sentence is that of the other one's acting,
    or the conclusion goes on about both.
    """
    _, second = marked.in_order
    if _BACK.search(marked.masked, second.end, second.end + _NEAR):
        return True
    acts = _regulator_acts(marked)
    return is_supported(
        mechanism, lambda text: _regulator_acts(mark_names(text, mechanism.names)) is not acts
    )


def _regulator_acts(marked: MarkedSentence | None) -> bool | None:
    """Return whether the regulator acts in a sentence, by its words or else their order."""
    if marked is None:
        return None
    first, second = marked.in_order
    relation = find_relation(marked)
    is_backward = (
        _BY.search(marked.masked, first.end, second.start) is not None
        if relation is None
        else relation.is_backward
    )
    return (first == marked.regulator) is not is_backward


def is_mutual(mechanism: Mechanism) -> bool:
    """Return whether a sentence says of both entities that they act on each other."""
    return any(
        _MUTUAL.search(sentence) and names_both(mechanism, sentence)
        for sentence in mechanism.sentences
    )
