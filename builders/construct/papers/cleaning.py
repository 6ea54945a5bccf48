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

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Kinds = npt.NDArray[np.uint16]

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

_LETTER, _BLANK, _MATH, _OPEN, _CLOSE, _DAMAGED, _END, _CLOSER, _MIDDLE = (
    np.uint16(1 << bit) for bit in range(9)
)
_COUNTED = _MATH | _OPEN | _CLOSE | _DAMAGED
_NO_OPENERS = ".,;:!?)]}%"
_END_MARKS = ".!?:;。！？：；…"  # noqa: RUF001
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
        max_math_signs: Mathematical signs and Greek letters that it has at most.
        max_math_words: Share of words without two letters in a row that it has at most, 0 to 1.
    """

    min_words: int = 5
    max_words: int = 100
    max_math_signs: int = 3
    max_math_words: float = 0.35

    def judge(self, texts: Sequence[str], opens: Sequence[bool]) -> npt.NDArray[np.int8]:
        """Finds for each text the first rule that it breaks.

        Args:
            texts: n sentences, or the rest of one whose linking phrase was cut.
            opens: n booleans, whether the text begins where its sentence does.

        Returns:
            n numbers of ``RULES``, or ``FIT``.
        """
        found = np.full(len(texts), FIT, np.int8)
        if not len(texts):
            return found
        joined = "\n".join(texts) + "\n"
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        kinds = _kinds().take(codes, mode="clip")  # which is the fast way, and clips nothing
        n_words, n_plain = _count_words(kinds, bounds)
        marks = np.flatnonzero((kinds & _COUNTED) != 0)
        of_marks = kinds[marks]

        def count(kind: np.uint16) -> Numbers:
            return _count_between(marks[(of_marks & kind) != 0], bounds)

        broken = {
            "damaged characters": count(_DAMAGED) > 0,
            "too short": n_words < self.min_words,
            "too long": n_words > self.max_words,
            "too much mathematics": (count(_MATH) > self.max_math_signs)
            | (n_words - n_plain > self.max_math_words * n_words),
            "begins in the middle": np.asarray(opens, bool)
            & _begin_in_the_middle(texts, kinds, bounds),
            "has no end": _have_no_end(texts, kinds, bounds),
            "unbalanced brackets or quotes": count(_OPEN) != count(_CLOSE),
        }
        for number, rule in reversed(list(enumerate(RULES))):
            found[broken[rule]] = number
        return found


def _count_between(places: Numbers, bounds: Numbers) -> Numbers:
    """How many of some ascending places each text has."""
    return np.diff(np.searchsorted(places, bounds))


def _count_words(kinds: Kinds, bounds: Numbers) -> tuple[Numbers, Numbers]:
    """For each text its words, and how many of these have two letters in a row."""
    is_blank = (kinds & _BLANK) != 0  # the line end of each text too
    begins = ~is_blank
    begins[1:] &= is_blank[:-1]
    follows = (kinds & _LETTER) != 0
    follows[1:] &= follows[:-1].copy()
    follows[:1] = False
    words = np.flatnonzero(begins)
    before = np.cumsum(follows, dtype=np.int32)[np.append(words, len(kinds)) - 1]
    before[:1] = 0
    return _count_between(words, bounds), _count_between(words[np.diff(before) > 0], bounds)


def _begin_in_the_middle(texts: Sequence[str], kinds: Kinds, bounds: Numbers) -> Flags:
    """Whether each text begins with a small letter, a closing mark, or a year in brackets."""
    first = kinds[bounds[:-1]]
    found = (first & _MIDDLE) != 0
    for number in np.flatnonzero((first & _OPEN) != 0).tolist():
        found[number] = _YEAR_FIRST.match(texts[number]) is not None
    return found


def _have_no_end(texts: Sequence[str], kinds: Kinds, bounds: Numbers) -> Flags:
    """Whether each text lacks a mark that ends sentences, or ends with an abbreviation."""
    last = bounds[1:] - 2  # before the line end
    for _ in range(_MAX_CLOSERS):
        last = last - ((kinds[last] & (_CLOSER | _END)) == _CLOSER)
    found = ((kinds[last] & _END) == 0) | (last < bounds[:-1])
    is_short = np.zeros(len(texts), bool)  # the last word, as abbreviations are
    for back in range(1, _MAX_ABBREVIATION + 1):
        is_short |= (kinds[np.maximum(bounds[1:] - 2 - back, 0)] & (_BLANK | _OPEN)) != 0
    for number in np.flatnonzero(is_short & ~found).tolist():
        found[number] = texts[number].endswith(_ABBREVIATIONS)
    return found


@cache
def _kinds() -> Kinds:
    """What kind of character each code point is."""
    kinds = np.zeros(sys.maxunicode + 1, np.uint16)
    for code in range(0x20000):  # beyond are ideographs, which need no rule
        category = unicodedata.category(chr(code))
        if category[0] in "LM":
            kinds[code] |= _LETTER
        if category in ("Zs", "Zl", "Zp"):
            kinds[code] |= _BLANK
        if category == "Sm" or 0x370 <= code < 0x400 or 0x1D400 <= code < 0x1D800:
            kinds[code] |= _MATH
        if category == "Ll" or chr(code) in _NO_OPENERS:
            kinds[code] |= _MIDDLE
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
