"""SEN, SEP and SET: the two entities, their names or their markers change places.

Without its markers the sentence of SEP is that of SEN: who strips them has it twice, see
``perturb``'s ``ignore_markers``. The sentence of SET without its markers is the positive itself, so
SET is not one of the seven, and only for models that read the markers.

Source:
    BioNLI, section 3.3.1, "Swap Entity Names" and "Swap Entity Positions"; Table 4. SET: the
    authors' code (``entailment_preparation.ipynb``); neither the paper nor the release has it.
"""

import re
from collections.abc import Mapping
from typing import ClassVar

from ..mechanisms.mechanism import Mechanism
from .grammar import replace_name
from .names import MARKERS, EntityPlace, MarkedSentence, plain_name
from .negate import DENIED, only_denies
from .strategy import Choices, NoNegative, Perturbed, Proposals, Strategy, TextEdit

#: Why two entities are not swapped.
SAME_NAME = "both entities have the same name"
SYMMETRIC = "the sentence says the same with its entities exchanged"
_JOINED = re.compile(
    r"\s*(?:[,/&:\u2010\u2011\u2013-]|,? (?:and|n?or)|plus|as well as|together with|combined with"
    r"|in combination with)(?: the)?\s*"
)
_VERB_OF_BOTH = re.compile(
    r"\s+(?:\w+\s+){0,3}(?:interact\w*|associat\w+|correlat\w+|co-?locali[sz]\w+|synergi[sz]\w+"
    r"|(?:hetero)?dimeri[sz]\w+|compet\w+|complex\w*|cooperat\w+)"
    r"\s+(?:\w+ly\s+)?with(?: both)?(?: the)?\s*"
    r"|\s+(?:\w+\s+){0,3}(?:binds?|bound|binding|related|similar|homologous|identical)"
    r"\s+(?:\w+ly\s+)?(?:to\s+)?(?:both )?(?:the\s+)?"
)
_NOUN_OF_BOTH = re.compile(
    r"\b(?:interaction|association|binding|correlation|relationship|synergy|complex"
    r"|co-?locali[sz]ation)\s+of(?: the)?\s*$"
)


class SwapStrategy(Strategy):
    """A strategy that exchanges the two entities.

    Attributes:
        symmetric: Whether to swap in sentences that stay true too, as the paper does: it grants
            that its relations are "not necessarily asymmetric" (footnote 3).
    """

    otherwise = SAME_NAME
    others: ClassVar[tuple[str, ...]] = (SYMMETRIC, DENIED)

    def __init__(self, *, symmetric: bool = False) -> None:
        self.symmetric = symmetric

    def _swap(self, marked: MarkedSentence, mechanism: Mechanism) -> list[TextEdit] | NoNegative:
        """Put each name in the place of the other."""
        first, second = marked.in_order
        names = marked.name_at(first), marked.name_at(second)
        if plain_name(names[0]) == plain_name(names[1]):
            return NoNegative(SAME_NAME)
        if is_symmetric(marked) and not self.symmetric:
            return NoNegative(SYMMETRIC)
        if only_denies(marked) and not self.symmetric:
            return NoNegative(DENIED)
        return [
            *replace_name(marked, first, names[1], mechanism),
            *replace_name(marked, second, names[0], mechanism),
        ]


class SwapNames(SwapStrategy):
    """SEN: ``<re> A <er> ... <el> B <le>`` becomes ``<re> B <er> ... <el> A <le>``."""

    name = "SEN"

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        found = self._swap(marked, mechanism)
        return found if isinstance(found, NoNegative) else [Perturbed.of(marked.text, found)]


class SwapPositions(SwapStrategy):
    """SEP: ``<re> A <er> ... <el> B <le>`` becomes ``<el> B <le> ... <re> A <er>``."""

    name = "SEP"

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        found = self._swap(marked, mechanism)
        if isinstance(found, NoNegative):
            return found
        other = {
            marked.regulator.name_start: (marked.regulator, MARKERS["regulated"]),
            marked.regulated.name_start: (marked.regulated, MARKERS["regulator"]),
        }
        return [Perturbed.of(marked.text, (_with_markers(edit, other) for edit in found))]


def _with_markers(
    edit: TextEdit, other: Mapping[int, tuple[EntityPlace, tuple[str, str]]]
) -> TextEdit:
    """Extend the edit of a name to its markers; return other edits as they are."""
    if edit.start not in other:
        return edit
    place, (opens, closes) = other[edit.start]
    return TextEdit(place.start, place.end, f"{opens} {edit.new} {closes}")


class SwapMarkers(SwapStrategy):
    """SET: ``<re> A <er> ... <el> B <le>`` becomes ``<el> A <le> ... <re> B <er>``."""

    name = "SET"
    otherwise = SYMMETRIC
    others = ()

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if is_symmetric(marked) and not self.symmetric:
            return NoNegative(SYMMETRIC)
        places = (marked.regulator, "regulated"), (marked.regulated, "regulator")
        edits = []
        for place, role in places:
            opens, closes = MARKERS[role]
            edits.append(TextEdit(place.start, place.name_start, f"{opens} "))
            edits.append(TextEdit(place.name_end, place.end, f" {closes}"))
        return [Perturbed.of(marked.text, edits)]


def is_symmetric(marked: MarkedSentence) -> bool:
    """Return whether a sentence stays true with its entities exchanged: X interacts with Y."""
    first, second = marked.in_order
    between = marked.masked[first.end : second.start]
    if _JOINED.fullmatch(between) or _VERB_OF_BOTH.fullmatch(between):
        return True
    before = marked.masked[: first.start]
    return (
        between.strip() in ("with", "to", "with both", "to both")
        and _NOUN_OF_BOTH.search(before) is not None
    )
