"""SEN and SEP: the two entities change places, without or with their markers.

Without its markers the sentence of SEP is that of SEN: who strips them takes one of the two.

Source:
    BioNLI, section 3.3.1, "Swap Entity Names" and "Swap Entity Positions"; Table 4.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from .....loaders.corpora.abstracts.mechanism_records import REGULATED, REGULATOR
from ..mechanisms.mechanism import Mechanism
from .names import UNFIT, MarkedSentence, TextEdit, find_name, mark_names, names_both, replace_name
from .relations import find_relation
from .replace_entities import may_be_same
from .strategy import DENIED, Choices, Perturbed, Proposals, Strategy, find_denials, is_supported

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
    r"\b(?:by|after|following|upon|from|with|given|in|(?:due|response) to|consequence of|needs"
    r"|requir\w+|depend\w* (?:up)?on|under the [\w ]+ of)(?: [\w-]+){0,2} \(?$"
    r"|\b(?:which|whose [\w-]+) $"
)
#: Behind the second entity, so near: the same of both, in other words.
_NEAR = 60
_BACK = re.compile(
    r"\b(?:its?|they|them|their|both|each|this|these|which|relation\w*|interaction\w*|convers\w+"
    r"|invers\w+|reciproc\w+|symmetr\w+|bilateral|ways?|two-\w+|loop|circuit|return|opposite"
    r"|antagonists?|the reverse)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class SwapNames(Strategy):
    """SEN: ``<re> A <er> ... <el> B <le>`` becomes ``<re> B <er> ... <el> A <le>``.

    Attributes:
        symmetric: Whether to swap in sentences that stay true too, as the paper does: it grants
            that its relations are "not necessarily asymmetric" (footnote 3).
    """

    name = "SEN"
    otherwise = SAME_NAME
    moves_markers: ClassVar[bool] = False

    symmetric: bool = False

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if may_be_same(*mechanism.names, " ".join(mechanism.supporting)):
            return
        if not self.symmetric and (reason := _why_not(marked, mechanism)):
            yield reason
            return
        edits = []
        places, markers = (marked.regulator, marked.regulated), (REGULATED, REGULATOR)
        names = reversed(marked.names)
        for place, name, (opens, closes) in zip(places, names, markers, strict=True):
            edit = replace_name(marked, place, name, mechanism)
            if edit is None:
                yield UNFIT
                return
            if self.moves_markers:
                edit = TextEdit(place.start, place.end, f"{opens} {edit.new} {closes}")
            edits.append(edit)
        yield Perturbed.of(marked.text, edits)


class SwapPositions(SwapNames):
    """SEP: ``<re> A <er> ... <el> B <le>`` becomes ``<el> B <le> ... <re> A <er>``."""

    name = "SEP"
    moves_markers = True


def _why_not(marked: MarkedSentence, mechanism: Mechanism) -> str | None:
    """Return why a sentence, or the abstract, may be as true with its entities exchanged."""
    if find_relation(marked) is None:
        return UNDIRECTED
    if find_denials(marked):
        return DENIED
    if any(
        _MUTUAL.search(sentence) and names_both(mechanism, sentence)
        for sentence in mechanism.sentences
    ):
        return MUTUAL
    first, second = marked.in_order
    text = marked.text
    rest = (text[: first.start], text[first.end : second.start], text[second.end :])
    if any(find_name(name, part, ignore_case=True) for name in marked.names for part in rest):
        return MUTUAL  # X acts on Y, and Y acts on X
    if _BACK.search(marked.masked, second.end, second.end + _NEAR):
        return MUTUAL
    acts = _regulator_acts(marked)
    if is_supported(
        mechanism, lambda text: _regulator_acts(mark_names(text, mechanism.names)) is not acts
    ):
        return MUTUAL
    return None


def _regulator_acts(marked: MarkedSentence | None) -> bool | None:
    """Return whether the regulator acts in a sentence, by its words or else their order."""
    if marked is None:
        return None
    first, second = marked.in_order
    relation = find_relation(marked)
    is_backward = (
        relation.is_backward
        if relation
        else _BY.search(marked.masked, first.end, second.start) is not None
        or marked.masked.startswith("-depend", second.end)
        or marked.masked[: first.start] == "For "
    )
    return (first == marked.regulator) is not is_backward
