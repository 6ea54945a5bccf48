"""The words of a sentence, their clauses, and the negations over them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from .grammar import base_of_past, base_of_third, is_base, verb_lists, word_list
from .grammar import is_plural as is_name_plural
from .names import NAME, WORD, MarkedSentence

BE = frozenset({"is", "are", "was", "were"})
HAVE = frozenset({"has", "have", "had"})
DO = frozenset({"does", "do", "did"})
MODALS = word_list("modals")
#: Words of what is possible, which its negation does not contradict: may, and may not.
POSSIBILITY = word_list("possibility")
AUXILIARIES = BE | HAVE | DO | MODALS
DETERMINERS = word_list("determiners")
PREPOSITIONS = word_list("prepositions")
NEGATIVE = word_list("negative")
#: Adverbs that stand before ``not``: is also not, probably does not.
BEFORE_NOT = word_list("before not")
#: Words that take the negation from the predicate: not only, not always.
SCOPED = word_list("scoped")
#: Words that need a negation in their clause.
NEEDS_NEGATION = word_list("needs negation")
BREAKS = word_list("breaks")
#: Greatest number of words behind a predicate in which its contrast is looked for.
_FAR = 80
#: Greatest number of words in a short insertion between commas: as was thought before.
_SHORT = 5
_MARKERS = re.compile(r"^<re> |^<el> | <er>$| <le>$")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a conclusion, a punctuation mark, or a whole name.

    Attributes:
        text: The word as compared: lowercase where it is written so or starts the sentence.
            ``NO`` and ``CAN`` are names and stay.
        start: Offset of its first character.
        end: Offset after its last character.
        is_plural: Whether a verb after it agrees with a plural.
    """

    text: str
    start: int
    end: int
    is_plural: bool

    @property
    def is_name(self) -> bool:
        """Return whether it is an entity."""
        return self.text.startswith(NAME)


class Words(tuple[Word, ...]):
    """The words of a sentence; positions outside it hold empty words."""

    __slots__ = ()

    def at(self, i: int) -> str:
        """Return the text at a position; empty outside the sentence."""
        return self[i].text if 0 <= i < len(self) else ""

    def index_at(self, offset: int) -> int:
        """Return the position of the word that an offset of the sentence lies in."""
        return next(i for i, word in enumerate(self) if word.start <= offset < word.end)

    def is_glued(self, i: int) -> bool:
        """Return whether a hyphen, slash or the like joins a word to its neighbour."""
        word = self[i]
        before = i > 0 and self[i - 1].end == word.start and self.at(i - 1) not in "([\"'"
        after = i + 1 < len(self) and self[i + 1].start == word.end
        return before or (after and self.at(i + 1) in ("-", "/", "–", "‐", "‑"))  # noqa: RUF001

    def clause(self, i: int) -> list[str]:
        """Return the words around a position, up to the next break on both sides."""
        start, end = self._start(i), i
        while end + 1 < len(self) and self.at(end + 1) not in BREAKS:
            end += 1
        return [self.at(k) for k in range(start, end + 1)]

    def is_under_negation(self, i: int) -> bool:
        """Return whether the clause, or the clause that governs it, has a negation.

        A clause governs the one after its ``that``, and the one that continues it after a short
        insertion between commas: does not, however, inhibit.
        """
        start = self._start(i)
        governing: list[str] = []
        if start > 1 and self.at(start - 1) == "that":
            governing = self.clause(start - 2)
        elif start > 1 and self.at(start - 1) == ",":
            before = self._start(start - 2)
            if self.at(before - 1) == "," and start - 1 - before <= _SHORT:
                governing = self.clause(before - 2)
        if self.at(start - 1) == "but" and is_negative(self.at(start - 2)):
            return True  # nothing but X
        return any(is_negative(word) for word in (*self.clause(i), *governing))

    def _start(self, i: int) -> int:
        """Return the position where the clause around a position begins."""
        while i > 0 and self.at(i - 1) not in BREAKS:
            i -= 1
        return i

    def is_contrasted(self, i: int) -> bool:
        """Return whether something negated is its contrast: inhibits Y, not Z; but does not.

        However far behind: was activated by X and, in part, by Y but not by Z.
        """
        if "rather than" in " ".join(self.clause(i)):
            return True
        rest = [word.text for word in self[i : i + _FAR]]
        for k, text in enumerate(rest):
            if is_negative(text) and k and rest[k + 1 : k + 2] in (["."], [","], [";"], []):
                return True  # Z did not
            after = rest[k + 1 : k + 3] if text == "but" else rest[k + 1 : k + 2]
            if text in ("but", ",", "and", "yet", "though") and any(map(is_negative, after)):
                return True
            if text in ("whereas", "while") and any(map(is_negative, self.clause(i + k + 1))):
                return True
        return False

    def rest(self, i: int) -> list[str]:
        """Return the words from a position to the end of the sentence or a semicolon."""
        return list(takewhile(lambda text: text != ";", (word.text for word in self[i:])))

    def skip_adverbs(self, i: int, step: int = 1) -> int:
        """Return the first position from ``i`` on, in steps, that is not an adverb."""
        while is_adverb(self.at(i)):
            i += step
        return i


@lru_cache(maxsize=1 << 8)  # sentences are judged once, whatever the strategy or its draws
def read_words(marked: MarkedSentence) -> Words:
    """Split a sentence into words; each masked name is one."""
    found = []
    for match in WORD.finditer(marked.masked):
        word = match[0]
        if match.start() == 0 and word[1:].islower():
            word = word.lower()
        if word[0] == NAME:
            name = _MARKERS.sub("", marked.text[match.start() : match.end()])
            is_plural = is_name_plural(name)
        else:
            is_plural = _is_noun_plural(word)
        found.append(Word(word, match.start(), match.end(), is_plural))
    return Words(found)


def is_negative(text: str) -> bool:
    """Return whether a word negates: not, fails, doesn't."""
    return text in NEGATIVE or text.endswith(("n't", "n’t"))  # noqa: RUF001


def is_adverb(text: str) -> bool:
    """Return whether a word is an adverb, as far as its ending or a list tells."""
    return text in BEFORE_NOT or (text.endswith("ly") and len(text) > 4) or text in ("even", "not")


def _is_noun_plural(text: str) -> bool:
    if text in ("they", "we", "these", "data", "both", "cells", "mice", "patients"):
        return True
    return len(text) > 3 and text.endswith("s") and not text.endswith(("ss", "us", "is"))


def is_reporting(words: Words, i: int) -> bool:
    """Return whether a verb reports a finding: a listed one, with ``that`` right after it."""
    text = words.at(i)
    base = text if is_base(text) else base_of_third(text) or base_of_past(text)
    if base is None and text in ("shown", "known", "seen"):
        base = {"shown": "show", "known": "know", "seen": "see"}[text]
    return base in verb_lists()["reporting"] and "that" in (words.at(i + 1), words.at(i + 2))


def verbs_joined(words: Words, i: int) -> Iterator[int]:
    """Yield the positions of ``and`` before a base form: does not bind and activate."""
    for k in range(i, len(words)):
        if words.at(k) == "and" and is_base(words.at(words.skip_adverbs(k + 1))):
            yield k
