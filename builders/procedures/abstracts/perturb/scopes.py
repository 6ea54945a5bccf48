"""The clauses of a sentence and the scopes of its cues, in tokens.

There is no parser: closed classes, endings and commas tell. Nothing looks farther than ``_WINDOW``
tokens, so that time grows with the length of a sentence, not with its square.
"""

from collections.abc import Iterator

from .clauses import AUXILIARIES, BE, MODALS, PREPOSITIONS
from .cues import ENTITY, OTHER, Cue, Cues, opens_clause
from .grammar import base_of_past, base_of_third, is_base

#: Forms of ``be`` that a passive has.
PASSIVE = BE | {"be", "been", "being"}
_GROUP = AUXILIARIES | {"be", "been", "being", "likely", "not", "to"}
_NAMES = (ENTITY, OTHER)
_BEFORE_NOUNS = frozenset({"to", "a", "the"})
_WINDOW = 150
_REDUCING = frozenset({"when", "while", "if", "once", "although", "though", "where"})


class Clauses:
    """The clauses of a sentence.

    Attributes:
        tokens: The words in small letters, names as ``ENTITY`` and ``OTHER``.
        words: Classes of words.
        finite: Whether each token is a finite verb, as far as lists and neighbours tell.
    """

    def __init__(self, tokens: list[str], cues: Cues) -> None:
        self.tokens = tokens
        self.cues = cues
        self.words = cues.words
        self.finite = [self._is_finite(i) for i in range(len(tokens))]

    def start(self, at: int) -> int:
        """Return where the clause of a place begins, insertions between commas left out."""
        tokens, k, verb = self.tokens, at - 1, self.verb_start(at)
        while k >= max(at - _WINDOW, 0):
            word = tokens[k]
            if word in self.words["relative"] and word != "that":
                if not any(self.finite[k + 1 : verb]):
                    return k + 1
            elif word in self.words["break"] and not self._is_reduced(k, at):
                return self._main_start(k, at)
            elif word == "," and k == verb - 1:
                k = next((j for j in range(k - 1, -1, -1) if tokens[j] == ","), k)
            elif word in ("and", "or", "nor", "yet"):
                subject = [t for t in tokens[k + 1 : at] if not self._is_adverb(t)]
                if subject and subject != ["it"] and not self._joins_nouns(k, at):
                    return k + 1
            elif word == "that" and k == verb - 1 and tokens[k - 1] not in ("", ","):
                return k + 1
            k -= 1
        return 0

    def _is_reduced(self, opening: int, at: int) -> bool:
        """Return whether a clause has no verb of its own before a place: when taken by mouth."""
        if self.tokens[opening] not in _REDUCING or opening + 1 >= len(self.tokens):
            return False
        first = self.tokens[opening + 1]
        is_participle = first.endswith(("ed", "ing", "en", "wn")) or first in PREPOSITIONS
        return is_participle and not any(self.finite[opening + 2 : self.verb_start(at)])

    def is_passive(self, at: int) -> bool:
        """Return whether a token is a participle in the passive: was excluded."""
        auxiliaries = self.tokens[self.verb_start(at) : at]
        return self.tokens[at].endswith("ed") and not PASSIVE.isdisjoint(auxiliaries)

    def verb_start(self, at: int) -> int:
        """Return where the auxiliaries and adverbs before a place begin."""
        while at > 0 and (self.tokens[at - 1] in _GROUP or self._is_adverb(self.tokens[at - 1])):
            at -= 1
        return at

    def _main_start(self, opening: int, at: int) -> int:
        """Return where a clause begins after the word that opens it, or one subordinate to it."""
        if self.tokens[opening] in self.words["fronting"] and opens_clause(
            self.tokens, opening, self.cues
        ):
            for k in range(opening + 1, at):
                if self.tokens[k] == "," and any(self.finite[opening:k]):
                    return k + 1
        return opening + 1

    def _joins_nouns(self, k: int, at: int) -> bool:
        """Return whether a conjunction joins nouns, rather than a clause to a finite one."""
        for j in range(k - 1, -1, -1):
            if self.tokens[j] in self.words["break"] or self.tokens[j] == "that":
                return True
            if self.finite[j]:
                return any(self.finite[k + 1 : self.verb_start(at)])
        return True

    def scope(self, cue: Cue, *, to_verb: bool) -> Iterator[int]:
        """Yield the positions in the scope of a cue: what is behind it in its clause.

        Args:
            cue: The cue.
            to_verb: Whether the scope ends at the next finite verb, as that of a noun phrase.
        """
        tokens, words = self.tokens, self.words
        j, end = cue.end, min(len(tokens), cue.end + _WINDOW)
        while j < end:
            word = tokens[j]
            if word in words["break"] or (word == ")" and "(" not in tokens[cue.end : j]):
                return
            to_verb = to_verb and word != "that"
            if word == ",":
                after = [*tokens[j + 1 : j + 4], "", "", ""]
                if after[0] in words["relative"] - {"that"} or after[1:3] == ["of", "whom"]:
                    closing = next((k for k in range(j + 1, end) if tokens[k] == ","), end)
                    if self._is_fronted(cue, j):
                        return
                    j = closing + 1
                    continue
                if self._ends_at_comma(cue, j, after[0]):
                    return
            elif word in ("and", "or"):
                if self._is_verb_next(j + 1):
                    return
                if self._opens_finite(j + 1) and any(self.finite[cue.start : j]):
                    return
            elif to_verb and self.finite[j]:
                return
            yield j
            j += 1

    def _ends_at_comma(self, cue: Cue, comma: int, after: str) -> bool:
        """Return whether a scope ends at a comma, one of no list and no insertion."""
        if after in self.words["break"] | self.words["after comma"] or after.endswith("ing"):
            return True
        if after in ("and", "or", "nor", "yet", "but") and self._opens_finite(comma + 2):
            return True
        return (cue.start > 0 and self.tokens[cue.start - 1] == ",") or self._is_fronted(cue, comma)

    def _is_verb_next(self, j: int) -> bool:
        while j < len(self.tokens) and self._is_adverb(self.tokens[j]):
            j += 1
        return j < len(self.tokens) and self.finite[j]

    def _opens_finite(self, j: int) -> bool:
        """Return whether a finite verb stands before the next break or comma."""
        for k in range(j, len(self.tokens)):
            if self.tokens[k] in self.words["break"] or self.tokens[k] == ",":
                return False
            if self.finite[k]:
                return True
        return False

    def _is_fronted(self, cue: Cue, comma: int) -> bool:
        """Return whether a phrase before the clause ends at a comma: In no way harmful, X ..."""
        start = self.start(cue.start)
        first = self.tokens[min(start, cue.start)]
        if start and self.tokens[start - 1] in self.words["fronting"] | self.words["relative"]:
            return True
        opens = first in self.words["fronting"] or first.endswith(("ed", "ing"))
        claims = [k for k in range(start, comma) if self.tokens[k] in self.words["relative"]]
        return opens and not any(self.finite[start : min([comma, *claims])])

    def is_verb(self, j: int) -> bool:
        """Return whether a token is a finite verb, or one that an auxiliary or ``to`` governs."""
        if self.finite[j]:
            return self.tokens[j] not in AUXILIARIES
        k = j - 1
        while k >= 0 and self._is_adverb(self.tokens[k]) and self.tokens[k] not in _BEFORE_NOUNS:
            k -= 1
        word, governor = self.tokens[j], self.tokens[k] if k >= 0 else ""
        if governor in MODALS:
            return word not in _GROUP
        if governor in PASSIVE and word.endswith("ed"):
            return True
        if governor == "to":
            return is_base(word) or word in self.words["light"]
        return governor in ("not", "never") and word.isalpha() and word not in PREPOSITIONS

    def is_nominal(self, one: int, other: int) -> bool:
        """Return whether no predicate stands between the two: effect of A on B."""
        return not any(
            self.finite[j] or (self.tokens[j] == "to" and is_base(self.tokens[j + 1]))
            for j in range(one + 1, other)
        )

    def _is_adverb(self, token: str) -> bool:
        return token in self.words["adverb"] or (token.endswith("ly") and len(token) > 4)

    def _is_finite(self, i: int) -> bool:
        """Return whether a word is a finite verb, as far as lists and neighbours tell."""
        word = self.tokens[i]
        if word in AUXILIARIES:
            return True
        before, after = (*self.tokens[i - 1 : i], *self.tokens[i + 1 : i + 2], "", "")[:2]
        articles = self.words["article"]
        if i == 0 or before in PREPOSITIONS or before in articles or before == "-":
            return False
        is_after_name = before in _NAMES
        if base_of_third(word):
            return is_after_name or after not in ("of", "in")
        if (base_of_past(word) or word.endswith("ed")) and after not in ("by", "with"):
            k = i - 1
            while k >= 0 and self._is_adverb(self.tokens[k]) and self.tokens[k] not in articles:
                k -= 1
            if k < 0 or self.tokens[k] in articles:
                return False  # the proposed role; previously reported benefits
            if self.tokens[k] in _GROUP | {"-"} - {"to", "likely"}:
                return False
            return is_after_name or base_of_past(word) is not None
        return is_after_name and word.endswith("s") and (after in _NAMES or after in articles)
