"""Judge which sentences are not fit for a pair: mathematical, broken, damaged, too short or long.

SciNLI's authors cleaned their evaluation pairs by hand: they left out those with too many
mathematical terms and mended sentences that the extraction from PDF had broken (section 3.3). The
rules here are ours. Their bounds were set on the released, cleaned pairs of SciNLI: each rule keeps
more than 98 % of their sentences, that on mathematics 95 %: of sentences with two terms, most are
damaged where a PDF was read.
"""

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from ....loaders.corpora.papers.sentences import UNFINISHED
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

_LETTER, _BLANK, _MATH, _OPEN, _CLOSE, _DAMAGED, _END, _CLOSER = (
    np.uint8(1 << bit) for bit in range(8)
)
_COUNTED = _MATH | _OPEN | _CLOSE | _DAMAGED
_NO_OPENERS = ".,;:!?)]}%#"
_END_MARKS = ".!?:;。！？：；…।॥۔؟።։"  # noqa: RUF001
_CLOSERS = "\"'’”»)]}›」』）"  # noqa: RUF001
_MATH_SIGNS = "=<>|^{}\\_"
#: Behind a variable; the last one does so only where it has an index: "J. Smith" is a name.
_STOPS = ",;:!?."
_WORDS_OF_A_LETTER = "aAI"
_INDICES = "ijk"
#: "bi-", "di", "hi" and "pi" are words.
_BEFORE_I = "bdhp"
#: What was cut behind one of these is a fragment, and the next sentence the rest of it. A few
#: sentences do end with "et al."; 2 in 1,000 of the ACL's are lost.
_ABBREVIATIONS = tuple(
    word.encode()
    for word in (
        *sorted(UNFINISHED),
        *("al.", "Ref.", "Refs.", "ref.", "refs.", "No.", "Nos.", "pp.", "Vol.", "Ch.", "Chap."),
        *("App.", "Ex.", "Def.", "Thm."),
    )
)
_ABBREVIATION = re.compile(rb"(?<![A-Za-z])(?:%b)$" % b"|".join(map(re.escape, _ABBREVIATIONS)))
_MAX_CLOSERS = 3
_MAX_ABBREVIATION = max(map(len, _ABBREVIATIONS))
#: Beyond are ideographs, which need no rule.
_N_CODES = 0x20000
_YEAR_FIRST = re.compile(rb"\((?:19|20)\d\d[a-z]?\)")


@dataclass(frozen=True)
class Cleaning:
    """The bounds that a sentence must keep to be fit for a pair.

    Attributes:
        min_words: Least number of words, split at blanks.
        max_words: Largest number of words.
        max_chars: Largest number of characters.
        max_math_terms: Largest number of mathematical signs, variables ("w", "x1", "pj") and
            functions ("P(w").
        max_math_words: Largest share of words without two letters in a row, 0 to 1.
    """

    min_words: int = 5
    max_words: int = 100
    max_chars: int = 1_000
    max_math_terms: int = 1
    max_math_words: float = 0.35

    def judge(self, texts: Sequence[bytes], opens: bool) -> npt.NDArray[np.int8]:
        """Find for each text the first rule that it breaks.

        Args:
            texts: n sentences, or what is left of them without their linking phrase, in UTF-8.
            opens: Whether the texts begin where their sentences do.

        Returns:
            n numbers of ``RULES``, or ``FIT``.
        """
        found = np.full(len(texts), RULES.index("too short"), np.int8)  # as those of no letter are
        is_plain = np.array(list(map(bytes.isascii, texts)), bool)
        is_empty = np.array([not text for text in texts], bool)
        for chosen in (is_plain & ~is_empty, ~is_plain):  # plain ones are faster by themselves
            if chosen.any():
                some = list(compress(texts, chosen.tolist()))
                found[chosen] = self._judge(_Characters.of(some), opens)
        return found

    def _judge(self, texts: "_Characters", opens: bool) -> npt.NDArray[np.int8]:
        n_words, n_plain = _count_words(texts)
        marks = np.flatnonzero((texts.kinds & _COUNTED) != 0)
        of_marks = texts.kinds[marks]

        def count(kind: np.uint8) -> Numbers:
            return texts.count(marks[(of_marks & kind) != 0])

        broken = {
            "damaged characters": count(_DAMAGED) > 0,
            "too short": n_words < self.min_words,
            "too long": (n_words > self.max_words) | (texts.end - texts.start > self.max_chars),
            "too much mathematics": (count(_MATH) + _count_variables(texts) > self.max_math_terms)
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
    """The characters of n texts, none of them empty, one text after another; a blank ends each.

    Attributes:
        texts: The texts, in UTF-8.
        codes: The code points.
        kinds: The kind of each character.
        start: n offsets where a text begins.
        end: n offsets behind its last character.
    """

    texts: Sequence[bytes]
    codes: npt.NDArray[Any]
    kinds: Kinds
    start: Numbers
    end: Numbers

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> "_Characters":
        """Return the characters of texts."""
        codes: npt.NDArray[Any]
        if all(map(bytes.isascii, texts)):
            content = b"\n".join((*texts, b""))
            codes = np.frombuffer(content, np.uint8)
            kinds = np.frombuffer(content.translate(_kinds()[:256].tobytes()), np.uint8)
            lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        else:
            decoded = [text.decode("utf-8", "surrogatepass") for text in texts]
            characters = "\n".join((*decoded, "")).encode("utf-32-le", "surrogatepass")
            codes = np.frombuffer(characters, np.uint32)
            kinds = _kinds().take(codes, mode="clip")  # which is the fast way, and clips nothing
            lengths = np.fromiter(map(len, decoded), np.int64, len(texts))
        behind = np.cumsum(lengths + 1)
        return cls(texts, codes, kinds, behind - lengths - 1, behind - 1)

    def at(self, places: Numbers) -> Kinds:
        """Return the kinds of the characters at some offsets; one before the first is the first."""
        return self.kinds[np.maximum(places, 0)]

    def count(self, places: Numbers) -> Numbers:
        """Return how many of some ascending offsets are in each text."""
        return np.diff(np.searchsorted(places, np.append(self.start, len(self.kinds))))


def _count_words(texts: _Characters) -> tuple[Numbers, Numbers]:
    """Return for each text its words, and how many of these have two letters in a row."""
    blanks = np.flatnonzero((texts.kinds & _BLANK) != 0)
    words = np.append(0, blanks[:-1] + 1)  # behind each blank begins a word, if no blank does
    words = words[words != blanks]
    if not len(words):
        return np.zeros_like(texts.start), np.zeros_like(texts.start)
    is_letter = (texts.kinds & _LETTER) != 0
    has_two = np.logical_or.reduceat(is_letter[:-1] & is_letter[1:], words)
    return texts.count(words), texts.count(words[has_two])


def _count_variables(texts: _Characters) -> Numbers:
    """Return how many variables, and functions of a letter or two, each text has.

    A variable is a letter, with a number or i, j or k as its index: "w", "x1", "pj". The names of
    parts are none, "(b)", nor are initials, "F1" and words.
    """
    kinds = np.concatenate((texts.kinds, np.full(3, _BLANK)))
    codes = np.concatenate((texts.codes, np.zeros(3, texts.codes.dtype)))
    is_letter = (kinds & _LETTER) != 0
    before = np.concatenate((np.full(1, _BLANK), kinds[:-1]))
    begins = is_letter & ((before & (_BLANK | _OPEN | _MATH)) != 0)
    begins[1:] |= is_letter[1:] & (codes[:-1] == ord(","))
    first = np.flatnonzero(begins[:-3])
    one, two, three = (codes[first + behind] for behind in range(3))
    ends = [(kinds[first + behind] & (_BLANK | _CLOSE | _MATH)) != 0 for behind in range(4)]
    for behind in (1, 2, 3):
        stops = _STOPS[: len(_STOPS) - (behind == 1)]
        ends[behind] |= _are_among(codes[first + behind], stops)
    is_digit = [(codes[first + n] >= ord("0")) & (codes[first + n] <= ord("9")) for n in (1, 2)]
    is_alone = ends[1] & ~_are_among(one, _WORDS_OF_A_LETTER)
    is_alone &= ~(((before[first] & _OPEN) != 0) & ((kinds[first + 1] & _CLOSE) != 0))
    is_numbered = is_digit[0] & (ends[2] | is_digit[1] & ends[3])
    is_numbered &= ~((one == ord("F")) & (two == ord("1")) | (one == ord("L")))
    is_function = (two == ord("(")) & ~ends[2]
    is_function |= is_letter[first + 1] & (three == ord("(")) & ~ends[3]
    is_small = (one > ord("a")) & (one <= ord("z")) & (one != ord("i"))
    is_indexed = is_small & _are_among(two, _INDICES) & ends[2]
    is_indexed &= ~((two == ord("i")) & _are_among(one, _BEFORE_I))
    return texts.count(first[is_alone | is_numbered | is_function | is_indexed])


def _are_among(codes: npt.NDArray[Any], characters: str) -> Flags:
    """Return whether each code point is one of a few characters; ``np.isin`` takes longer."""
    found: Flags = np.logical_or.reduce([codes == ord(character) for character in characters])
    return found


def _begin_in_the_middle(texts: _Characters) -> Flags:
    """Return whether each text begins with a small letter, a closing mark or a year in brackets."""
    found: Flags = _opens_no_sentence().take(texts.codes[texts.start])
    for number in np.flatnonzero((texts.kinds[texts.start] & _OPEN) != 0).tolist():
        found[number] |= _YEAR_FIRST.match(texts.texts[number]) is not None
    return found


def _have_no_end(texts: _Characters) -> Flags:
    """Return whether each text lacks a mark that ends sentences, or ends with an abbreviation."""
    last = texts.end - 1
    end = last
    for _ in range(_MAX_CLOSERS):
        end = end - ((texts.at(end) & (_CLOSER | _END)) == _CLOSER)
    found: Flags = ((texts.at(end) & _END) == 0) | (end < texts.start)
    return found | end_with_abbreviation(texts.texts)


def end_with_abbreviation(texts: Sequence[bytes]) -> Flags:
    """Return whether each of n texts ends with an abbreviation that never ends a sentence."""
    return np.array(
        [
            text.endswith(_ABBREVIATIONS)
            and _ABBREVIATION.search(text[-_MAX_ABBREVIATION - 1 :]) is not None
            for text in texts
        ],
        bool,
    )


@cache
def _opens_no_sentence() -> Flags:
    """Return for each code point whether no sentence begins with it, as with a small letter."""
    found = np.zeros(sys.maxunicode + 1, bool)
    found[:_N_CODES] = _categories() == b"Ll"
    found[list(map(ord, _NO_OPENERS))] = True
    return found


@cache
def _kinds() -> Kinds:
    """Return the kind of character of each code point."""
    kinds = np.zeros(sys.maxunicode + 1, np.uint8)
    categories = _categories()
    known = kinds[:_N_CODES]
    known[np.isin(categories.view("S1")[::2], (b"L", b"M"))] |= _LETTER
    known[np.isin(categories, (b"Zs", b"Zl", b"Zp"))] |= _BLANK
    known[categories == b"Sm"] |= _MATH
    known[np.isin(categories, (b"Cc", b"Cs", b"Co", b"Cn"))] |= _DAMAGED
    kinds[0x1D400:0x1D800] |= _MATH
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


@cache
def _categories() -> npt.NDArray[np.bytes_]:
    """Return the category of each code point below ``_N_CODES``, as Unicode names it."""
    categories = map(unicodedata.category, map(chr, range(_N_CODES)))
    return np.frombuffer("".join(categories).encode(), "S2")
