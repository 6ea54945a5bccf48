"""Which sentences are not fit for a pair: too mathematical, broken, damaged, too short or long.

SciNLI's authors cleaned their evaluation pairs by hand: they left out those with too many
mathematical terms and mended sentences that the extraction from PDF had broken (section 3.3). The
rules here are ours. Their bounds were set on the released, cleaned pairs of SciNLI: each rule keeps
more than 98 % of them.
"""

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Flags, Numbers

Kinds = npt.NDArray[np.uint8]

#: Why a sentence is not fit, in the order in which the rules are asked.
RULES = (
    "damaged characters",
    "too short",
    "too long",
    "too much mathematics",
    "begins in the middle",
    "has no end",
    "unbalanced brackets or quotes",
)
#: The rule of a sentence that is fit.
FIT = -1
#: That of one that was not asked.
NOT_JUDGED = -2

_LETTER, _BLANK, _MATH, _OPEN, _CLOSE, _DAMAGED, _END, _CLOSER = (
    np.uint8(1 << bit) for bit in range(8)
)
_COUNTED = _MATH | _OPEN | _CLOSE | _DAMAGED
_NO_OPENERS = ".,;:!?)]}%"
_END_MARKS = ".!?:;。！？：；…।॥۔؟።։"  # noqa: RUF001
_CLOSERS = "\"'’”»)]}›」』）"  # noqa: RUF001
_MATH_SIGNS = "=<>|^{}\\_"
_ABBREVIATIONS = ("e.g.", "i.e.", "cf.", "vs.", "Fig.", "Figs.", "Eq.", "Sec.", "Mr.", "Dr.")
_MAX_CLOSERS = 3
_MAX_ABBREVIATION = max(map(len, _ABBREVIATIONS))
_YEAR_FIRST = re.compile(r"\((?:19|20)\d\d[a-z]?\)")


@dataclass(frozen=True)
class Cleaning:
    """The bounds of the rules.

    Attributes:
        min_words: Words, split at blanks, that a sentence has at least.
        max_words: Words that it has at most.
        max_chars: Characters that it has at most.
        max_math_signs: Mathematical signs that it has at most.
        max_math_words: Share of words without two letters in a row that it has at most, 0 to 1.
    """

    min_words: int = 5
    max_words: int = 100
    max_chars: int = 1_000
    max_math_signs: int = 3
    max_math_words: float = 0.35

    def judge(self, texts: Sequence[str], opens: bool) -> npt.NDArray[np.int8]:
        """Finds for each text the first rule that it breaks.

        Args:
            texts: n sentences, or what is left of them without their linking phrase.
            opens: Whether the texts begin where their sentences do.

        Returns:
            n numbers of ``RULES``, or ``FIT``.
        """
        found = np.full(len(texts), RULES.index("too short"), np.int8)  # as those of no letter are
        kinds = np.array([2 * bool(text) - text.isascii() for text in texts], np.int8)
        for kind in (1, 2):  # plain texts are faster by themselves
            chosen = np.flatnonzero(kinds == kind)
            if len(chosen):
                found[chosen] = self._judge(
                    _Characters.of([texts[i] for i in chosen.tolist()]), opens
                )
        return found

    def _judge(self, texts: "_Characters", opens: bool) -> npt.NDArray[np.int8]:
        kinds, bounds = texts.kinds, texts.bounds
        n_words, n_plain = _count_words(kinds, bounds)
        marks = np.flatnonzero((kinds & _COUNTED) != 0)
        of_marks = kinds[marks]

        def count(kind: np.uint8) -> Numbers:
            return _count_between(marks[(of_marks & kind) != 0], bounds)

        broken = {
            "damaged characters": count(_DAMAGED) > 0,
            "too short": n_words < self.min_words,
            "too long": (n_words > self.max_words) | (np.diff(bounds) > self.max_chars),
            "too much mathematics": (count(_MATH) > self.max_math_signs)
            | (n_words - n_plain > self.max_math_words * n_words),
            "begins in the middle": _begin_in_the_middle(texts) if opens else np.False_,
            "has no end": _have_no_end(texts),
            "unbalanced brackets or quotes": count(_OPEN) != count(_CLOSE),
        }
        found = np.full(len(n_words), FIT, np.int8)
        for number, rule in reversed(list(enumerate(RULES))):
            found = np.where(broken[rule], np.int8(number), found)
        return found


@dataclass(frozen=True)
class _Characters:
    """The characters of n texts, none of them empty, one text after another.

    Attributes:
        texts: The texts.
        codes: The code points.
        kinds: What kind of character each is.
        bounds: Where each text begins, and the end.
    """

    texts: Sequence[str]
    codes: npt.NDArray[Any]
    kinds: Kinds
    bounds: Numbers

    @classmethod
    def of(cls, texts: Sequence[str]) -> "_Characters":
        """Those of texts that are all in ASCII, or not."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        content = "".join(texts)
        if content.isascii():
            content_bytes = content.encode()
            kinds = np.frombuffer(content_bytes.translate(_kinds()[:256].tobytes()), np.uint8)
            return cls(texts, np.frombuffer(content_bytes, np.uint8), kinds, bounds)
        codes = np.frombuffer(content.encode("utf-32-le", "surrogatepass"), np.uint32)
        kinds = _kinds().take(codes, mode="clip")  # which is the fast way, and clips nothing
        return cls(texts, codes, kinds, bounds)

    def at(self, places: Numbers) -> Kinds:
        """What kinds of characters stand in some places; those before the first are the first."""
        return self.kinds[np.maximum(places, 0)]


def _count_between(places: Numbers, bounds: Numbers) -> Numbers:
    """How many of some ascending places each text has."""
    return np.diff(np.searchsorted(places, bounds))


def _count_words(kinds: Kinds, bounds: Numbers) -> tuple[Numbers, Numbers]:
    """For each text its words, and how many of these have two letters in a row."""
    starts = bounds[:-1]
    is_word = (kinds & _BLANK) == 0
    begins = is_word.copy()
    begins[1:] &= ~is_word[:-1]
    begins[starts] = is_word[starts]
    is_letter = (kinds & _LETTER) != 0
    follows = is_letter.copy()
    follows[1:] &= is_letter[:-1]
    follows[starts] = False
    words = np.flatnonzero(begins)
    before = np.concatenate(([0], np.cumsum(follows, dtype=np.int32)))
    n_follows = np.diff(before[np.append(words, len(kinds))])
    return _count_between(words, bounds), _count_between(words[n_follows > 0], bounds)


def _begin_in_the_middle(texts: _Characters) -> Flags:
    """Whether each text begins with a small letter, a closing mark, or a year in brackets."""
    first = texts.bounds[:-1]
    found: Flags = np.isin(texts.codes[first], _small_letters_and_marks())
    for number in np.flatnonzero((texts.kinds[first] & _OPEN) != 0).tolist():
        found[number] |= _YEAR_FIRST.match(texts.texts[number]) is not None
    return found


def _have_no_end(texts: _Characters) -> Flags:
    """Whether each text lacks a mark that ends sentences, or ends with an abbreviation."""
    starts, last = texts.bounds[:-1], texts.bounds[1:] - 1
    end = last
    for _ in range(_MAX_CLOSERS):
        end = end - ((texts.at(end) & (_CLOSER | _END)) == _CLOSER)
    found: Flags = ((texts.at(end) & _END) == 0) | (end < starts)
    is_short = np.zeros(len(starts), bool)  # the last word, as abbreviations are
    for back in range(1, _MAX_ABBREVIATION + 1):
        is_short |= (texts.at(last - back) & (_BLANK | _OPEN)) != 0
    for number in np.flatnonzero(is_short & ~found).tolist():
        found[number] = texts.texts[number].endswith(_ABBREVIATIONS)
    return found


@cache
def _small_letters_and_marks() -> npt.NDArray[np.uint32]:
    """The code points that no sentence begins with."""
    small = (code for code in range(0x20000) if unicodedata.category(chr(code)) == "Ll")
    return np.array([*small, *map(ord, _NO_OPENERS)], np.uint32)


@cache
def _kinds() -> Kinds:
    """What kind of character each code point is."""
    kinds = np.zeros(sys.maxunicode + 1, np.uint8)
    for code in range(0x20000):  # beyond are ideographs, which need no rule
        category = unicodedata.category(chr(code))
        if category[0] in "LM":
            kinds[code] |= _LETTER
        if category in ("Zs", "Zl", "Zp"):
            kinds[code] |= _BLANK
        if category == "Sm" or 0x1D400 <= code < 0x1D800:
            kinds[code] |= _MATH
        if category in ("Cc", "Cs", "Co", "Cn"):
            kinds[code] |= _DAMAGED
    kinds[0x20000:0x323B0] |= _LETTER
    for char in _MATH_SIGNS:
        kinds[ord(char)] |= _MATH
    marks = ((_OPEN, "([{（“"), (_CLOSE, ")]}）”"), (_END, _END_MARKS), (_CLOSER, _CLOSERS))  # noqa: RUF001
    for kind, chars in marks:
        for char in chars:
            kinds[ord(char)] |= kind
    for char in "\t\n\r":
        kinds[ord(char)] = _BLANK
    kinds[0xFFFD] |= _DAMAGED
    return kinds
