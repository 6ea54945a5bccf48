"""SEN, SEP and SET: the two entities, their names or their markers change places.

Without its markers the sentence of SEP is that of SEN: who strips them has it twice, see
``perturb``'s ``ignore_markers``. The sentence of SET without its markers is the positive itself, so
SET is not one of the seven, and only for models that read the markers.

Source:
    BioNLI, section 3.3.1, "Swap Entity Names" and "Swap Entity Positions"; Table 4. SET: the
    authors' code (``entailment_preparation.ipynb``); neither the paper nor the release has it.
"""

import re
from typing import ClassVar

from ..mechanisms.mechanism import Mechanism
from .grammar import UNFIT, replace_name
from .names import MARKERS, EntityPlace, MarkedSentence, find_name, plain_name
from .strategy import DENIED, Choices, Perturbed, Proposals, Strategy, TextEdit, is_denied

#: The markers of the other role for the regulator and the regulated entity.
_OTHER_MARKERS = MARKERS["regulated"], MARKERS["regulator"]
#: Why two entities are not swapped.
SAME_NAME = "both entities have the same name"
SYMMETRIC = "the sentence says the same with its entities exchanged"
#: The abstract says that each of the two acts on the other.
MUTUAL = "the abstract may say the same with the entities exchanged"
_JOINED = re.compile(
    r"\s*(?:[,/&:\u2010\u2011\u2013-]|[,(]?\s?(?:and(?: also)?|n?or|plus|as well as|together with"
    r"|(?:combined |along )?with|in (?:combination|concert) with|in addition to|like|versus"
    r"|vs\.?))(?: the| both)?(?: [\w-]+ of)?(?: the)?(?: low-dose| high-dose)?\s*"
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
    r"|interchang\w+|link\w*|relationship|administered|together|collaborat\w+|in concert"
    r"|exchang\w+|conjugat\w+|crosstalks|fus(?:es?|ed)|hybridi[sz]\w*|mix\w*|react\w*"
    r"|var(?:y|ies|ied)(?: \w+)?"
    r"|act(?:s|ed)?|equilibrium|synonymous|incompatible)"
)
_VERB_OF_BOTH = re.compile(
    rf"\s+(?:\w+\s+){{0,3}}{_SYMMETRIC}\s+(?:\w+ly\s+)?with\s+{_MODIFIERS}"
    r"|\s+(?:\w+\s+){0,3}(?:binds?|bound|binding|related|similar|homologous|identical|resembl\w+"
    r"|equals?|equivalent|close|adjacent|touch(?:es|ed)?|contact(?:s|ed)?|synonym|match(?:es|ed)?"
    r"|shares?\b.*|alternat\w+|(?:equally|as) \w+ as|comparable|linked|mirror(?:s|ed)?"
    r"|parallel(?:s|ed)?|proportional|separate"
    r"|differs?|different|distinct|distinguishable)"
    rf"\s+(?:\w+ly\s+)?(?:(?:to|from|of|with)\s+)?{_MODIFIERS}"
)
_NOUN_OF_BOTH = re.compile(
    r"\b(?:interactions?|associations?|binding|correlations?|relationships?|synergy|complex(?:es)?"
    r"|combinations?|coexistence|similarity|homology|overlap|cross-?talk|links?|comparisons?"
    rf"|co-?locali[sz]ation|(?:hetero)?dimers?|(?:hetero)?dimeri[sz]ation)\s+of\s+{_MODIFIERS}$"
)
_TO_SECOND = re.compile(rf"\s+(?:with|to)\s+{_MODIFIERS}")
#: X rises as Y falls: which of the two acts is not said.
_AT_ONCE = re.compile(rf"\b(?:as|while|when(?:ever)?)\s+{_MODIFIERS}$")
_MUTUAL = re.compile(
    r"\b(?:each other|one another|mutual\w*|reciprocal\w*|bidirectional\w*|vice versa|feedback"
    r"|cross-?talk|interdependen\w+|conversely|the reverse|both directions|the latter)\b",
    re.IGNORECASE,
)
#: Between a name and the next that it acts on, and one that it is acted on by.
_ACTS_ON = re.compile(
    r"\s+(?:\w+ly\s+|also\s+)?(?!(?:and|or|with|of|by|in|to|from)\b)\w+\s+(?:the\s+)?"
)
_IS_ACTED_ON = re.compile(r"\s+(?:is|are|was|were)\s+(?:\w+\s+){1,2}by\s+(?:the\s+)?")
#: Greatest number of characters between a noun and the entity that it governs.
_REACH = 100


class SwapNames(Strategy):
    """SEN: ``<re> A <er> ... <el> B <le>`` becomes ``<re> B <er> ... <el> A <le>``.

    Attributes:
        symmetric: Whether to swap in sentences that stay true too, as the paper does: it grants
            that its relations are "not necessarily asymmetric" (footnote 3).
    """

    name = "SEN"
    otherwise = SAME_NAME
    others: ClassVar[tuple[str, ...]] = (SYMMETRIC, DENIED, MUTUAL, UNFIT)

    def __init__(self, *, symmetric: bool = False) -> None:
        self.symmetric = symmetric

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if plain_name(mechanism.regulator) == plain_name(mechanism.regulated):
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
        if is_symmetric(marked):
            return SYMMETRIC
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


class SwapMarkers(SwapNames):
    """SET: ``<re> A <er> ... <el> B <le>`` becomes ``<el> A <le> ... <re> B <er>``."""

    name = "SET"
    otherwise = SYMMETRIC
    others: ClassVar[tuple[str, ...]] = (DENIED, MUTUAL)

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if reason := self._why_not(marked, mechanism):
            return reason
        edits = []
        for place, (opens, closes) in zip(_places(marked), _OTHER_MARKERS, strict=True):
            edits.append(TextEdit(place.start, place.name_start, f"{opens} "))
            edits.append(TextEdit(place.name_end, place.end, f" {closes}"))
        yield Perturbed.of(marked.text, edits)
        return None


def _places(marked: MarkedSentence) -> tuple[EntityPlace, EntityPlace]:
    return marked.regulator, marked.regulated


def is_symmetric(marked: MarkedSentence) -> bool:
    """Return whether a sentence stays true with its entities exchanged: X interacts with Y."""
    first, second = marked.in_order
    between = marked.masked[first.end : second.start]
    if _JOINED.fullmatch(between) or _VERB_OF_BOTH.fullmatch(between) or _AT_ONCE.search(between):
        return True
    before = marked.masked[max(first.start - _REACH, 0) : first.start]
    return _TO_SECOND.fullmatch(between) is not None and _NOUN_OF_BOTH.search(before) is not None


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
