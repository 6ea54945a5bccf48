"""VNeg: flip the polarity of the predicate between the two entities, in either direction.

Source:
    BioNLI, section 3.3.1, "Verb Negation"; Table 4. The release calls the directions ``posToNeg``
    and ``negToPos``. The paper does not say how predicates are found; the authors' code negates or
    affirms what matches regular expressions for was, were, do, can and is. Here it is one plain
    finite verb, of any verb that is listed; what the rules do not understand they leave alone.
"""

import re
from collections.abc import Callable, Mapping

from .....loaders.corpora.abstracts.markers import MARKER
from ..mechanisms.mechanism import Mechanism
from .grammar import (
    form_past,
    form_third,
    is_participle,
    is_plural,
    verb_lists,
    verbs_by,
    word_list,
)
from .names import NAME, WORD, MarkedSentence
from .strategy import (
    DENIED,
    PARTIAL,
    Choices,
    Perturbed,
    Proposals,
    Strategy,
    TextEdit,
    find_denials,
)

#: Why no predicate is flipped: X may inhibit Y; X inhibits Y in some cells, or almost.
POSSIBLE = "the sentence states a possibility, and its negation may be true as well"
_POSSIBLE = re.compile(
    r"\b(?:can|could|may|maybe|might|should|would|perhaps|possib\w+|potentially|conceiv\w+"
    r"|thinkable|imaginable|plausib\w+|feasib\w+|explanations?|alternative\w*)\b",
    re.IGNORECASE,
)
_PARTIAL = re.compile(
    r"(?:%|percent|per cent) of\b|\bin \d[\d.,]* ?%|\d ?(?:/|(?:out )?of(?: the)?) ?\d"
    r"|\b(?:one|two|three|four|five|six|once|twice|thirds?|quarters?|isoforms?|forms?|cases?"
    r"|some|most|mostly|several|many|various|selected|certain|others|often|frequently|usually|generally|typically|commonly|sometimes|occasionally|somewhere"
    r"|part|parts|partly|partially|mainly|largely|half|halves|subsets?|proportion|portion|fraction"
    r"|majority|minority|at times|one (?:study|trial|report|case|patient|group)|only|just|solely"
    r"|exclusively|simply|already|either|first|initially|then|later|even|further|more|less|least"
    r"|almost|nearly|virtually|yet|help(?:s|ed)?|lets?|makes?|made)\b",
    re.IGNORECASE,
)
#: Words that need a negation in their clause, or that it is about: not ... any, not always.
_NEEDS_NOT = re.compile(
    r"\b(?:any\w*|or|ever|until|at all|much|necessarily|always|entirely|completely|fully|all|every"
    r"|quite|enough)\b"
)
#: Words behind which another clause begins.
_CLAUSE = frozenset({"that", "which", "who", "whom", "whose", "where", "when", "because", "since"})
_BE = frozenset({"is", "are", "was", "were"})
_HAVE = {"has": "does", "have": "do", "had": "did"}
_DO: Mapping[str, Callable[[str], str]] = {"does": form_third, "did": form_past, "do": str}
_AUXILIARIES = frozenset({*_BE, *_HAVE, *_DO, "must", "will"})
_DETERMINERS, _PREPOSITIONS = word_list("determiners"), word_list("prepositions")
#: Adverbs that stand before ``not``: is also not, probably does not.
_BEFORE_NOT = word_list("before not")
#: Words between which and a verb no subject stands: effects of, to, induced by.
_NO_SUBJECT = (
    (_DETERMINERS - {"this", "these", "all"})
    | _PREPOSITIONS
    | word_list("modals")
    | _AUXILIARIES
    | {"be", "been", "being", "having", "or", "-"}
)
_SUBJECT_NOUNS = word_list("subjects")

#: Nouns and verbs in -ly.
_NO_ADVERBS = frozenset({"family", "assembly", "supply", "reply", "apply", "anomaly", "monopoly"})
#: Words in which another finite verb is looked for (TNF induced apoptosis is), and adverbs that
#: stand beside a verb.
_FAR, _MAX_ADVERBS = 20, 3


class Negate(Strategy):
    """VNeg: ``increases`` becomes ``does not increase``, ``did not bind`` becomes ``bound``.

    The verb stands between the two entities, and the sentence states it of all cases: left alone
    are possibilities (``may inhibit``), as ``may not`` does not contradict ``may``, and statements
    of a part (``in some patients``). Of negations a plain ``not`` alone is removed.
    """

    name = "VNeg"
    otherwise = "no plain finite verb between the two entities"
    others = (POSSIBLE, PARTIAL, DENIED)

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        if _POSSIBLE.search(marked.masked):
            return POSSIBLE
        if _PARTIAL.search(marked.masked):
            return PARTIAL
        denials = find_denials(marked)
        if denials not in ((), ("not",)):
            return DENIED
        predicate = _Predicate(marked)
        edit = predicate.affirm() if denials else predicate.negate()
        if edit is not None:
            yield Perturbed.of(marked.text, [edit])
        return None


class _Predicate:
    """The words from the first entity on; the predicate is in the last clause before the second."""

    def __init__(self, marked: MarkedSentence) -> None:
        first, second = marked.in_order
        self.text = marked.text
        self.found = list(WORD.finditer(marked.masked))
        self.words = [NAME if match[0][0] == NAME else match[0] for match in self.found]
        self.start = sum(match.start() <= first.start for match in self.found)
        self.end = sum(match.start() < second.start for match in self.found)
        breaks = [i for i in range(self.start, self.end) if self.words[i] in ",:()"]
        self.start = breaks[-1] + 1 if breaks else self.start
        if not _CLAUSE.isdisjoint(self.words[self.start : self.end]):
            self.start = self.end

    def negate(self) -> TextEdit | None:
        """Negate the last finite verb."""
        for i in reversed(range(self.start, self.end)):
            subject = self._skip_adverbs(i - 1, -1)
            if self.words[subject] in _NO_SUBJECT:
                continue
            if self.words[i + 1] in ("and", "or") or self.words[i - 1] == "always":
                continue  # increases or decreases
            if self._is_auxiliary(i):
                while self.words[i + 1] in _BEFORE_NOT:
                    i += 1
                return self._replace(i, i, f"{self.words[i]} not")
            if do := self._find_do(i, subject):
                auxiliary, base = do
                first = i - (subject < i - 1 and self.words[i - 1] not in _BEFORE_NOT)
                adverb = self.text[self.found[first].start() : self.found[i].start()]
                return self._replace(first, i, f"{auxiliary} not {adverb}{base}")
        return None

    def affirm(self) -> TextEdit | None:
        """Remove the ``not`` behind an auxiliary."""
        words = self.words
        i = next((i for i in range(self.start, self.end) if words[i + 1] == "not"), self.end)
        rest = self.text[self.found[i].start() :]
        if words[i] not in _AUXILIARIES or _NEEDS_NOT.search(rest):
            return None
        if words[i] not in _DO:
            return self._replace(i, i + 1, words[i])
        verb = self._skip_adverbs(i + 2)
        if words[verb] not in verbs_by(str) or words[verb] in _AUXILIARIES or "and" in words[verb:]:
            return None
        adverbs = self.text[self.found[i + 2].start() : self.found[verb].start()]
        return self._replace(i, verb, adverbs + _DO[words[i]](words[verb]))

    def _is_auxiliary(self, i: int) -> bool:
        if self.words[i] in _HAVE:
            return is_participle(self.words[self._skip_adverbs(i + 1)])
        return self.words[i] in _AUXILIARIES

    def _find_do(self, i: int, subject: int) -> tuple[str, str] | None:
        """Find the form of ``do`` for a finite verb, and the verb's base; None for other words.

        A word in -s may be a noun, one in -ed a participle. So an object must follow, unless the
        word alone decides.
        """
        word, before, nouns = self.words[i], self.words[subject], verb_lists()["also_nouns"]
        if word in _HAVE:
            return (_HAVE[word], "have") if self.words[i + 1] in _DETERMINERS else None
        if base := verbs_by(form_third).get(word):
            is_verb = base not in nouns or self._has_object(i, base)
            is_verb |= before == NAME and self.words[i + 1] not in _PREPOSITIONS
            return ("does", base) if is_verb else None
        if base := verbs_by(form_past).get(word):
            is_subject = before in (NAME, ",", ")") or before in _SUBJECT_NOUNS
            is_last = _AUXILIARIES.isdisjoint(self.words[i + 1 : i + _FAR])
            return ("did", base) if is_subject and is_last and self._has_object(i, base) else None
        if word in verbs_by(str) and self._is_plural(subject):
            return ("do", word) if word not in nouns or self._has_object(i, word) else None
        return None

    def _has_object(self, i: int, base: str) -> bool:
        """Return whether a name, a determiner or the verb's own preposition follows."""
        following = self.words[self._skip_adverbs(i + 1)]
        prepositions = verb_lists()["with_preposition"].get(base, "").split("|")
        return following == NAME or following in _DETERMINERS or following in prepositions

    def _is_plural(self, subject: int) -> bool:
        """Return whether a subject is plural: statins, X and Y."""
        match = self.found[subject]
        name = MARKER.sub("", self.text[match.start() : match.end()]).strip()
        return is_plural(name) or self.words[subject - 1] == "and"

    def _skip_adverbs(self, i: int, step: int = 1) -> int:
        for _ in range(_MAX_ADVERBS):
            i += step * _is_adverb(self.words[i])
        return i

    def _replace(self, first: int, last: int, new: str) -> TextEdit:
        return TextEdit(self.found[first].start(), self.found[last].end(), new)


def _is_adverb(word: str) -> bool:
    return word in _BEFORE_NOT or (
        word.endswith("ly") and len(word) > 4 and word not in _NO_ADVERBS
    )
