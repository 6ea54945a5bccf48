"""SEN and SEP: the two entities change places, without or with their markers.

Without its markers the sentence of SEP is that of SEN: who strips them takes one of the two.

Source:
    BioNLI, section 3.3.1, "Swap Entity Names" and "Swap Entity Positions"; Table 4.
"""

import re
from typing import ClassVar

from ..mechanisms.find import DIRECTED_STEMS, REGULATOR_NOUNS, UNDIRECTED_STEMS
from ..mechanisms.mechanism import Mechanism
from .grammar import UNFIT, replace_name, word_list
from .names import MARKERS, EntityPlace, MarkedSentence, find_name
from .replace_entities import may_be_same
from .strategy import DENIED, Choices, Perturbed, Proposals, Strategy, TextEdit, is_denied

#: The markers of the other role for the regulator and the regulated entity.
_OTHER_MARKERS = MARKERS["regulated"], MARKERS["regulator"]
#: Why two entities are not swapped.
SAME_NAME = "both names may be of one entity"
UNDIRECTED = "the sentence does not plainly state that one entity acts on the other"
#: The abstract says that each of the two acts on the other.
MUTUAL = "the abstract may say the same with the entities exchanged"

_STEM = "|".join(map(re.escape, (*DIRECTED_STEMS, "lower", "rais")))
_NOUN = "|".join(REGULATOR_NOUNS)
_BE = r"(?:is|are|was|were|(?:may|can|could|might|must|will) be|(?:has|have|had) been)"
#: Words between an entity and its verb: A treatment also strongly may.
_LEAD = (
    rf"(?:(?:{'|'.join(word_list('subjects') | word_list('before not') | word_list('modals'))}"
    r"|has|have|had|does|do|did|(?:is|are|was|were) (?:able|likely|known|shown) to|\w+ly) )*"
)
#: A few words before the second entity, none of which may let both act, or neither: rises with B.
_REST = (
    r"(?:(?: (?!(?:with|as|than|like|unlike|along|alongside|after|following|when|whenever|while"
    r"|whereas|both|or|versus|between|together|is|are|was|were)\b"
    rf"|(?:{'|'.join(UNDIRECTED_STEMS)})\w*)[\w-]+){{0,6}} )"
)
_VERB = rf"(?:[a-z]+ and )?(?:{_STEM})"
#: What stands between two entities of which the first acts on the second.
_FORWARD = re.compile(
    rf" {_LEAD}{_VERB}(?:e?s?|e?d|ify|ifie[sd])(?! (?:in|of)\b){_REST}"
    rf"|-(?:{_STEM})ed(?: [\w-]+){{0,2}} "
    rf"| {_LEAD}(?:{_BE}|(?:act|function|serve)s? as)(?: [\w-]+){{0,4}} (?:{_NOUN})"
    rf" (?:of|for|on|in|to){_REST}"
    rf"| {_LEAD}(?:has|have|had|plays?|played|exerts?|exerted)(?: [\w-]+){{1,4}} (?:on|in){_REST}"
    rf"| {_LEAD}{_BE} (?:[\w-]+ )?(?:involved in"
    rf"|(?:required|essential|necessary|responsible|sufficient) for){_REST}"
    rf"| {_LEAD}(?:leads? to|led to|results? in|resulted in|contributes? to|contributed to){_REST}"
)
#: What stands there if the second acts on the first.
_BACKWARD = re.compile(
    rf" (?:(?!(?:and|but|or)\b)[\w-]+ ){{0,2}}{_LEAD}{_BE} (?:\w+ )?{_VERB}(?:e?d|en)"
    rf"(?: [\w-]+){{0,3}} by{_REST}"
)
#: What stands before two entities, and between them: activation of A by B, the effect of A on B.
_NOUNS_OF = (
    (
        re.compile(rf"\b(?:{_STEM})\w*(?:ion|ment|age|ade) of(?: [\w-]+){{0,2}} $", re.I),
        re.compile(rf" by{_REST}"),
    ),
    (
        re.compile(r"\b(?:effects?|influence|action|impact) of(?: [\w-]+){0,2} $", re.I),
        re.compile(rf" on{_REST}"),
    ),
)
_MUTUAL = re.compile(
    r"\b(?:each other|one another|mutual\w*|reciprocal\w*|bidirectional\w*|vice[ -]versa|feedback"
    r"|cross-?talk|interdependen\w+|conversely|the reverse|both directions|in turn|by (?:it|them)"
    r"|its (?:own )?\w+or|each|the (?:former|latter)|(?:which|and|but) (?:\w+ )?\w+ (?:it|them))\b",
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
        if not is_directed(marked):
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


def is_directed(marked: MarkedSentence) -> bool:
    """Return whether a sentence plainly states that one of its entities acts on the other.

    What is not of a few plain forms does not: "A rises with B" and "A is next to B" may be as true
    with their entities exchanged. Which of the two is marked as the regulator does not matter.
    """
    first, second = marked.in_order
    before = marked.masked[max(first.start - _REACH, 0) : first.start]
    between = marked.masked[first.end : second.start]
    if _FORWARD.fullmatch(between) or _BACKWARD.fullmatch(between):
        return True
    joint = next((joint for noun, joint in _NOUNS_OF if noun.search(before)), None)
    return joint is not None and joint.fullmatch(between) is not None


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
