"""VNeg: flip the polarity of the predicate between the two entities, in either direction.

Source:
    BioNLI, section 3.3.1, "Verb Negation"; Table 4. The release calls the directions ``posToNeg``
    and ``negToPos``. The paper does not say how predicates are found; the authors' code negates or
    affirms what matches regular expressions for was, were, do, can and is. Here it is the finite
    verb by which a sentence states that one entity acts on the other (``relations``).
"""

import re
from collections.abc import Callable
from functools import cache

from ..mechanisms.mechanism import Mechanism
from .names import WORDS, MarkedSentence, TextEdit, is_plural
from .relations import VERBS, Relation, find_relation, form_past, form_third
from .strategy import (
    DENIED,
    PARTIAL,
    PARTLY,
    SUPPORTED,
    Choices,
    Perturbed,
    Proposals,
    Strategy,
    find_denials,
    has_denial,
    is_supported,
)

#: Why no predicate is flipped: X may inhibit Y, X also inhibits Y.
POSSIBLE = "the sentence states a possibility or an addition, and its negation may be true as well"
_POSSIBLE = re.compile(
    r"\b(?:can|could|may|maybe|might|should|would|perhaps|possib\w+|potentially|conceiv\w+"
    r"|thinkable|imaginable|plausib\w+|feasib\w+|explanations?|alternative\w*|probab\w+|likely"
    r"|presumabl\w+|apparent\w*|seem\w*|also|too|still|furthe\w+|additional\w*|itself|themselves)\b",
    re.IGNORECASE,
)
#: Words of part of the cases or of the time, beside which a negation says something else.
_PARTIAL = re.compile(
    r"\b(?:two|three|four|five|six|once|twice|forms?|cases?|most|mostly|only|just|solely|exclusively"
    r"|simply|already|either|first|initially|then|later|even|more|less|least|almost|nearly"
    r"|virtually|yet|help(?:s|ed)?|lets?|makes?|made)\b",
    re.IGNORECASE,
)
#: Words that need a negation before them, and what may stand behind one that is removed.
_NEEDS_NOT = re.compile(r"\b(?:any\w*|what\w*|or|ever|until|at|much|yet|let|but|all|and)\b")
_PLAIN_END = re.compile(r"(?: [\w-]+){0,6}\.?")
_NEGATION = re.compile(r"\b(?:not|no|never|without|cannot|fail\w*)\b|n['’]t\b")  # noqa: RUF001
_FINITE = re.compile(r"\b(is|are|was|were|has|have|had|does|do|did|must|will)\b( not\b)?")
_DO: dict[str, Callable[[str], str]] = {
    "does": form_third,
    "did": lambda verb: form_past(verb)[0],
    "do": str,
}


class Negate(Strategy):
    """VNeg: ``increases`` becomes ``does not increase``, ``did not activate`` ``activated``.

    The sentence states its relation of all cases: left alone are possibilities (``may inhibit``),
    as ``may not`` does not contradict ``may``, and statements of a part (``in some patients``). Of
    negations a plain ``not`` alone is removed.
    """

    name = "VNeg"
    otherwise = "no finite verb plainly states how one entity acts on the other"

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        relation, denials = find_relation(marked), find_denials(marked)
        if relation is None or relation.form in ("compound", "nominal"):
            return
        if _POSSIBLE.search(marked.masked):
            yield POSSIBLE
        elif PARTLY.search(marked.masked) or _PARTIAL.search(marked.masked):
            yield PARTIAL
        elif denials not in ((), ("not",)):
            yield DENIED
        elif edit := _affirm(marked, relation) if denials else _negate(marked, relation):
            says_otherwise = _states if denials else has_denial
            if is_supported(mechanism, says_otherwise):
                yield SUPPORTED
            else:
                yield Perturbed.of(marked.text, [edit])


def _states(sentence: str) -> bool:
    return _NEGATION.search(sentence) is None


def _negate(marked: MarkedSentence, relation: Relation) -> TextEdit | None:
    """Put ``not`` behind the first auxiliary, or ``does not`` before the verb."""
    text = marked.text
    if {*WORDS["adverbs"]} & {*text[relation.lead : relation.start].split()}:
        return None  # thus inhibits
    if auxiliary := _FINITE.search(text, relation.lead, relation.start):
        return TextEdit(*auxiliary.span(), f"{auxiliary[0]} not")
    verb = text[relation.start : relation.end].split()[0]
    do, base = _finite_verbs().get(verb, ("", ""))
    if relation.form != "verb" or not do:
        return None
    first, _ = marked.in_order
    noun = relation.subject.split()[-1] if relation.subject else marked.name_at(first)
    if do == "do" and not is_plural(noun) and not marked.masked[: first.start].endswith(" and "):
        return None
    adverbs = "" if relation.is_one_of_two else text[relation.lead : relation.start]
    return TextEdit(
        relation.start - len(adverbs), relation.start + len(verb), f"{do} not {adverbs}{base}"
    )


def _affirm(marked: MarkedSentence, relation: Relation) -> TextEdit | None:
    """Remove the ``not`` behind an auxiliary."""
    text = marked.text
    auxiliary = _FINITE.search(text, relation.lead, relation.start)
    if auxiliary is None or not auxiliary[2] or _NEEDS_NOT.search(marked.masked, auxiliary.end()):
        return None
    if _PLAIN_END.fullmatch(marked.masked, marked.in_order[1].end) is None:
        return None
    if auxiliary[1] not in _DO or relation.form != "verb":
        return TextEdit(*auxiliary.span(), auxiliary[1])
    verb = text[relation.start : relation.end].split()[0]
    adverbs = text[auxiliary.end() + 1 : relation.start]
    new = adverbs + _DO[auxiliary[1]](verb)
    return TextEdit(auxiliary.start(), relation.start + len(verb), new)


@cache
def _finite_verbs() -> dict[str, tuple[str, str]]:
    """Return the form of ``do`` and the base form of each finite form of a verb."""
    bases = {base.split()[0] for base in VERBS["directed"]} | {"play", "exert"}
    forms = {base: ("do", base) for base in bases} | {form_past(b)[0]: ("did", b) for b in bases}
    forms |= {"has": ("does", "have"), "have": ("do", "have"), "had": ("did", "have")}
    return forms | {form_third(base): ("does", base) for base in bases}
