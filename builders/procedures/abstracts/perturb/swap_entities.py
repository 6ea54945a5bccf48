"""SEN, SEP and SET: the two entities, their names or their markers change places.

Without its markers the sentence of SEP is that of SEN: who strips them has it twice, see
``perturb``'s ``ignore_markers``. The sentence of SET without its markers is the positive itself, so
SET is not one of the seven, and only for models that read the markers.

Source:
    BioNLI, section 3.3.1, "Swap Entity Names" and "Swap Entity Positions"; Table 4. SET: the
    authors' code (``entailment_preparation.ipynb``); neither the paper nor the release has it.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from ..mechanisms.mechanism import Mechanism
from .affirmation import NOT_AFFIRMED, why_not_affirmed
from .evidence import is_mutual, is_stated, relation_stems
from .fit_name import UNFIT, NewName, replace_name
from .names import MARKERS, EntityPlace, MarkedSentence, locate_entities, plain_name
from .strategy import (
    BROKEN_MARKERS,
    Choices,
    NoNegative,
    Perturbed,
    Proposals,
    Strategy,
    TextEdit,
)

#: Why two entities are not swapped.
SAME_NAME = "both entities have the same name"
SYMMETRIC = "the sentence says the same with its entities exchanged"
#: The abstract says that each of the two acts on the other.
MUTUAL = "the abstract may say the same with the entities exchanged"
_JOINED = re.compile(
    r"\s*(?:[,/&:\u2010\u2011\u2013-]|,? (?:and|n?or)|plus|as well as|together with|combined with"
    r"|in combination with|along with|versus|vs\.?)(?: the| both)?\s*"
)
#: Words before the second entity that belong to it: binds to cell surface CD26.
_MODIFIERS = (
    r"(?:both )?(?:the |a |an )?"
    r"(?:(?!(?:of|in|on|by|for|from|to|at|and|or|that|which|with|via|through)\b)[\w-]+\s+){0,2}"
)
_SYMMETRIC = (
    r"(?:co-?)?(?:interact\w*|associat\w+|correlat\w+|locali[sz]\w+|synergi\w+|complex\w*|compet\w+"
    r"|(?:hetero)?dimeri[sz]\w+|cooperat\w+|exist\w*|occur\w*|express\w*|overlap\w*|precipitat\w+"
    r"|purif\w+|immuno-?precipitat\w+|communicat\w+|converg\w+|compar\w+|combin\w+|cluster\w*"
    r"|cross-?react\w*|cross-?link\w*|crosstalk|pair\w*|coincid\w+|in parallel|equivalen\w+"
    r"|interchang\w+|link\w*|relationship)"
)
_VERB_OF_BOTH = re.compile(
    rf"\s+(?:\w+\s+){{0,3}}{_SYMMETRIC}\s+(?:\w+ly\s+)?with\s+{_MODIFIERS}"
    r"|\s+(?:\w+\s+){0,3}(?:binds?|bound|binding|related|similar|homologous|identical|resembl\w+"
    r"|equal|comparable|linked|differs?|different|distinct|distinguishable)"
    rf"\s+(?:\w+ly\s+)?(?:(?:to|from)\s+)?{_MODIFIERS}"
)
_NOUN_OF_BOTH = re.compile(
    r"\b(?:interactions?|associations?|binding|correlations?|relationships?|synergy|complex(?:es)?"
    r"|combinations?|coexistence|similarity|homology|overlap|cross-?talk|links?|comparisons?"
    rf"|co-?locali[sz]ation|(?:hetero)?dimers?|(?:hetero)?dimeri[sz]ation)\s+of\s+{_MODIFIERS}$"
)
_TO_SECOND = re.compile(rf"\s+(?:with|to)\s+{_MODIFIERS}")


class SwapStrategy(Strategy):
    """A strategy that exchanges the two entities.

    Attributes:
        symmetric: Whether to swap in sentences that stay true too, as the paper does: it grants
            that its relations are "not necessarily asymmetric" (footnote 3).
    """

    otherwise = SAME_NAME
    others: ClassVar[tuple[str, ...]] = (SYMMETRIC, *NOT_AFFIRMED, MUTUAL, UNFIT)

    def __init__(self, *, symmetric: bool = False) -> None:
        self.symmetric = symmetric

    def _swap(self, mechanism: Mechanism) -> Sequence[TextEdit] | NoNegative:
        """Put each name in the place of the other."""
        return _exchange(mechanism, self.symmetric)


@lru_cache(maxsize=1)  # SEN and SEP exchange the same names one after the other
def _exchange(mechanism: Mechanism, symmetric: bool) -> Sequence[TextEdit] | NoNegative:
    marked = locate_entities(mechanism)
    if marked is None:
        return NoNegative(BROKEN_MARKERS)
    first, second = marked.in_order
    names = marked.name_at(first), marked.name_at(second)
    if plain_name(names[0]) == plain_name(names[1]):
        return NoNegative(SAME_NAME)
    if not symmetric:
        if is_symmetric(marked):
            return NoNegative(SYMMETRIC)
        if reason := why_not_affirmed(marked):
            return NoNegative(reason)
        if _may_hold_exchanged(marked, mechanism):
            return NoNegative(MUTUAL)
    edits: list[TextEdit] = []
    for place, name in (first, names[1]), (second, names[0]):
        found = replace_name(marked, place, NewName.of(name, mechanism), mechanism)
        if found is None:
            return NoNegative(UNFIT)
        edits += found
    return tuple(edits)


def _may_hold_exchanged(marked: MarkedSentence, mechanism: Mechanism) -> bool:
    """Return whether the abstract may support the sentence with its entities exchanged."""
    if is_mutual(mechanism):
        return True
    first, second = (marked.name_at(place) for place in marked.in_order)
    stems = relation_stems(marked)
    return is_stated(second, first, stems, mechanism, in_order=True) and not is_stated(
        first, second, stems, mechanism, in_order=True
    )


class SwapNames(SwapStrategy):
    """SEN: ``<re> A <er> ... <el> B <le>`` becomes ``<re> B <er> ... <el> A <le>``."""

    name = "SEN"

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        found = self._swap(mechanism)
        return found if isinstance(found, NoNegative) else [Perturbed.of(marked.text, found)]


class SwapPositions(SwapStrategy):
    """SEP: ``<re> A <er> ... <el> B <le>`` becomes ``<el> B <le> ... <re> A <er>``."""

    name = "SEP"

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        found = self._swap(mechanism)
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
    others = NOT_AFFIRMED

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if not self.symmetric:
            if is_symmetric(marked):
                return NoNegative(SYMMETRIC)
            if reason := why_not_affirmed(marked):
                return NoNegative(reason)
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
    return _TO_SECOND.fullmatch(between) is not None and _NOUN_OF_BOTH.search(before) is not None
