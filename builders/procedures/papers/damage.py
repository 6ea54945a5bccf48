"""Tell which sentences, and which whole papers, the extraction from PDF has damaged.

What is asked here cannot be mended for certain; ``repair`` has what can. The rates in the rules are
shares of sentences: of 139,405 in papers of the ACL Anthology that other programs extracted, and of
the 12,000 in SciNLI's validation and test sets, which people have cleaned
(``benchmarks/extraction_damage.py`` measures them).
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .arrays import Flags, Numbers, Texts

#: Why the pairs of a whole paper are dropped.
DAMAGED_PAPER = "the text of its paper is damaged"
#: So many marks of damage in 100 sentences, and so many at all, are no chance.
_MAX_MARKS = 2
_LEAST_MARKS = 3

#: Every lower-case letter as "a", capital as "A", digit as "9"; the rest as it is.
_SHAPES = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    b"a" * 26 + b"A" * 26 + b"9" * 10,
)
_OPENERS = "We|However|These|Therefore|Thus|Moreover|Furthermore|Although|Our"
_CAPITALS = f"{_OPENERS}|The|This|In|It|For|There|They|When|If|As|That|Then|Let|Since|To|An|A"
_FUNCTION_WORDS = "the|an|of|to|by|with|for|is|are|was|were|on|and|as|from"


def _pattern(*choices: str) -> re.Pattern[bytes]:
    """Compile an expression for UTF-8; "^" matches behind each line break."""
    return re.compile("|".join(choices).encode(), re.MULTILINE)


class _Rule(NamedTuple):
    """A kind of damage.

    Attributes:
        name: Why a sentence that has it is dropped.
        shapes: It has one of these runs of shapes ...
        texts: ... or of these bytes; to look for them is faster than the pattern.
        pattern: Matches the damage.
    """

    name: str
    shapes: Sequence[bytes]
    texts: Sequence[bytes]
    pattern: re.Pattern[bytes]


_RULES = (
    # "it rises.This shows", "drawn from G. We then", "is given by The value", "improves We test"
    _Rule(
        "two sentences in one",
        (b"aa.Aa", b" A. A", b"(A. A", b" a. A", b"(a. A", b'a" A', "a\u201d A".encode()),
        tuple(f" {word} ".encode() for word in f"{_OPENERS}|The|This|It".split("|")),
        _pattern(
            r"[a-z]{2}\.[A-Z][a-z]",
            rf"[ (][A-Zb-z]\. (?:{_CAPITALS})\b",
            f"[a-z](?:\"|\u201d) (?:{_CAPITALS}) [a-z]",
            rf"[a-z] (?:{_OPENERS}) [a-z]",
            rf" (?:{_FUNCTION_WORDS}) (?:The|This|It) [a-z]",
        ),
    ),
    # "12The corpus is", "1 The corpus is", "an ideal 2The corpus", "as shown elsewhere.'"
    _Rule(
        "the mark of a note or heading",
        (b"\n9A", b"\n99A", b"\n9 A", b"\n99 A", b"\n999 A", b"\n9999 A", b"a 9Aa", b"a 99Aa"),
        (b".'\n", b".' "),
        _pattern(
            r"^[0-9]{1,2}[A-Z][a-z]",
            r"^[0-9]{1,4} [A-Z][a-z]",
            r"[a-z] [0-9]{1,2}[A-Z][a-z]+ [a-z]",
            r"^(?![^\n]*(?<!\w)')[^\n]*[a-z]\.'(?=[ \n])",
        ),
    ),
    # "Na?ve Bayes", "the word ?good?", "the phoneme [ ]", "of size ( )", "as where is the number"
    _Rule(
        "lost characters",
        (b"a?a", b"a?A", b"A?A", b" ?a", b" ?A", b"(?a", b"(?A", b"9?9"),
        (b" ()", b"[]", b"[ ", b"( ", b" where is ", b" where and "),
        _pattern(
            r"[A-Za-z]\?[A-Za-z]",
            r"[ (]\?[A-Za-z]",
            r"[0-9]\?[0-9]",
            r"\[\s*\]|(?<!\w)\(\s*\)",
            "[\\[(] (?!\u00a7)",
            r" where (?:is|and)[ ,]",
        ),
    ),
    # "the t;hird", "a t~anslation", "A \u2014* B", "NP\u2701 and"
    _Rule(
        "misread characters",
        tuple(b"a%ba" % sign for sign in (b";", b"!", b"*", b"~", b"^", b"|")),
        (b"\xe2\x80\x94*", b"\xe2\x80\xa2", b"\xc2\xb6", b"\xc2\xac", b"\xe2\x98", b"\xe2\x9c"),
        # In UTF-8: a long dash and a star; a bullet; signs of paragraph and negation; dingbats.
        re.compile(
            rb"[a-z][;!*~^|][a-z]{2}|\xe2\x80\x94\*|\xe2\x80\xa2|\xc2[\xb6\xac]|\xe2[\x98-\x9e]"
        ),
    ),
    # "Average 3 .50 .60 .73 .58", "Table 3: Results", "Per l i s t and"
    _Rule(
        "a piece of a table or figure",
        (b"9 9", b" a a a a ", b" A A A A ", b"9 .9"),
        (b"Table ", b"Figure ", b"Algorithm "),
        _pattern(
            r"(?:[ \n](?:[-+]?[0-9.][0-9.,%]*)(?= )){4}",
            r"(?: [A-Za-z]){4} ",
            r"^(?:Table|Figure) [0-9]+[:.] ",
            r"[a-z] (?:Table|Figure) [0-9]+: [A-Z]",
            r"Algorithm [0-9]+ [A-Z]",
        ),
    ),
    # "A. Smith, editor, Proceedings of the 3rd Workshop, pages 1-10", "Volume 3, Number 1"
    _Rule(
        "an entry of a reference list",
        (b" 9, Aaaaaa 9", b" 99, Aaaaaa 9"),
        (
            b"In Proceedings of",
            b"In Proc",
            b"roceedings of the ",
            b", pages ",
            b" pp. ",
            b", editor",
        ),
        _pattern(
            r"\. In Proc(?:\.|eedings of)",
            r"Proceedings of the [0-9]",
            r"Volume [0-9]+, Number",
            r", pages [0-9]",
            r", editors?[,.]",
            r"[,.] pp\. ?[0-9]+\s?-",
        ),
    ),
    # "the evalua tion of"
    _Rule(
        "a word in pieces",
        (),
        (b" tion ", b" tions ", b" sion ", b" ment ", b" ity ", b" mation ", b" ness "),
        _pattern(r"[a-z] (?:s?sions?|m?a?tions?|ments?|ity|ness)[ ,.]"),
    ),
)
#: What only the whole paper shows; ``repair`` looks for it.
BROKEN_WORD = "a word broken at the end of a line"
RUNNING_HEAD = "a running head"
#: Why a sentence is dropped, in the order in which the rules are asked.
DAMAGE = (*(rule.name for rule in _RULES), BROKEN_WORD, RUNNING_HEAD)
#: The kind of a sentence that has none.
WHOLE = len(DAMAGE)


def find_damage(texts: Sequence[bytes]) -> npt.NDArray[np.int8]:
    """Find for each text the first kind of damage that it has.

    Args:
        texts: n sentences in UTF-8, without line breaks.

    Returns:
        n numbers of ``DAMAGE``, or ``WHOLE``.
    """
    found = np.full(len(texts), WHOLE, np.int8)
    joined = Joined(texts)
    for number, rule in reversed(list(enumerate(_RULES))):
        for suspect in joined.find(rule.shapes, rule.texts):
            if rule.pattern.search(b"\n%b\n" % texts[suspect]):
                found[suspect] = number
    return found


class Joined:
    """Texts one after another, to look for something in all of them at once.

    Args:
        texts: n texts in UTF-8, without line breaks.
    """

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._content = b"\n".join((b"", *texts, b""))
        self._shapes = self._content.translate(_SHAPES)
        self._starts = np.cumsum([0, *map(len, texts)])[:-1] + np.arange(len(texts))

    def find(self, shapes: Sequence[bytes], texts: Sequence[bytes] = ()) -> list[int]:
        """Return the numbers of the texts that have one of some shapes, or of some texts.

        A line break stands before and behind each text. In a shape "a" is any lower-case letter of
        ASCII, "A" any capital, "9" any digit.
        """
        places = [
            place
            for run, needles in ((self._shapes, shapes), (self._content, texts))
            for needle in needles
            for place in _places(run, needle)
        ]
        if not places:
            return []
        found: list[int] = np.unique(np.searchsorted(self._starts, places, side="right")).tolist()
        return [max(number - 1, 0) for number in found]


def are_damaged(texts: Texts, starts: Numbers) -> Flags:
    """Return for each of n papers whether marks of damage stand all over its text.

    Where some are seen ("Na?ve Bayes", "rises.This", "t;hird", "old,new"), there are words that are
    split or glued as well, which nothing shows. Of the sentences that people have cleaned one in a
    thousand has a mark.

    Args:
        texts: The sentences of the papers, one paper after another.
        starts: n + 1 numbers of sentences: the first of each paper, and the end of the last.
    """
    content = np.frombuffer(texts.content.translate(_SHAPES), np.uint8)
    signs = np.flatnonzero(_IS_SIGN[content])
    signs = signs[(signs > 1) & (signs < len(content) - 3)]
    before, sign, after = content[signs - 1], content[signs], content[signs + 1]
    lower, upper = ord("a"), ord("A")
    is_stop = (sign == ord(".")) & (before == lower) & (after == upper)
    is_lost = (sign == ord("?")) & (after != ord(" ")) & ((after == lower) | (after == upper))
    within = (before == lower) & (after == lower) & (sign != ord(".")) & (sign != ord(":"))
    is_comma = within & (sign == ord(","))
    is_mark = is_stop & (content[signs + 2] == lower) | is_lost | within & ~is_comma
    is_mark |= is_comma & (content[signs + 2] == lower) & (content[signs + 3] == lower)
    marks = signs[is_mark]
    ends = texts.end[starts[1:] - 1]
    n_marks = np.diff(np.searchsorted(marks, np.append(texts.start[starts[0]], ends)))
    found: Flags = (n_marks >= _LEAST_MARKS) & (100 * n_marks > _MAX_MARKS * np.diff(starts))
    return found


_IS_SIGN = np.isin(np.arange(256), list(b".?,;!*~^"))


def _places(run: bytes, needle: bytes) -> list[int]:
    places = []
    place = run.find(needle)
    while place >= 0:
        places.append(place)
        place = run.find(needle, place + 1)
    return places
