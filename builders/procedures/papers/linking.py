"""Find the sentences that open with a linking phrase."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .arrays import Flags, Numbers, Texts
from .phrases import LinkingPhrases

#: The cut of a sentence in which something stands before the phrase.
AFTER_A_MARK = -1
_MAX_HEAD_BYTES = 4
_ODD = np.uint32(0x9E3779B1)  # of the golden ratio: scatters what it is multiplied with
_MARKS = "\"'([{“‘„«—–-*•·"  # noqa: RUF001
#: What may stand between a phrase and the rest of its sentence, besides blanks.
_PUNCTUATION = ",:;.，、：；。—–-"  # noqa: RUF001
_BLANKS = " \t\n\u00a0\u2009\u202f"


class Linking(NamedTuple):
    """Sentences that open with a linking phrase.

    Attributes:
        sentence: n numbers of sentences, ascending.
        phrase: n numbers of phrases.
        cut: n numbers of bytes that the phrase and the punctuation after it take; ``AFTER_A_MARK``
            where a dash, a quotation mark or the like stands before it.
    """

    sentence: Numbers
    phrase: Numbers
    cut: Numbers

    def select(self, chosen: Flags) -> "Linking":
        """Return the chosen sentences."""
        return Linking(*(column[chosen] for column in self))


def find_linking(texts: Texts, phrases: LinkingPhrases) -> Linking:
    """Find the sentences that open with a linking phrase, perhaps behind a mark."""
    number = {" ".join(phrase.split()): n for n, phrase in enumerate(phrases.phrases)}
    match = _pattern(phrases.phrases).match
    found = []
    places = _may_open_with(texts, phrases.phrases)
    for i, text in zip(places.tolist(), texts.select(places).to_list(), strict=True):
        if (here := match(text.decode("utf-8", "surrogatepass"))) is not None:
            mark, phrase = here.groups()
            if phrase not in number:  # other blanks are in it
                phrase = " ".join(phrase.split())
            found.append((i, number[phrase], AFTER_A_MARK if mark else len(here[0].encode())))
    return Linking(*np.array(found, np.int64).reshape(-1, 3).T)


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Match what opens a sentence: marks (group 1), a phrase (2), and the punctuation after it.

    A phrase ends where its word does: "Thus" opens "Thus, we" and "Thus we", not "Thusly". Where
    one phrase is the beginning of another, the longer one is meant.
    """
    longest_first = sorted(phrases, key=len, reverse=True)
    choices = "|".join(r"\s+".join(map(re.escape, p.split())) for p in longest_first)
    marks, punctuation = re.escape(_MARKS + _BLANKS), re.escape(_PUNCTUATION)
    return re.compile(rf"([{marks}]*)({choices})(?![\w'\u2019-])[\s{punctuation}]*")


def _may_open_with(texts: Texts, phrases: tuple[str, ...]) -> Numbers:
    """Return the sentences whose first letters are those of a phrase, and by chance a few others.

    To look a hash of the first bytes up in a table is the fastest way to pass over most.
    """
    table, length = _heads(phrases)
    return np.flatnonzero(table[_hash_heads(texts, length)])


@cache
def _heads(phrases: tuple[str, ...]) -> tuple[Flags, int]:
    """Return for each hash whether a phrase begins so, and how many bytes are hashed."""
    spellings = [text.encode() for phrase in phrases for text in _spellings(phrase)]
    length = min(_MAX_HEAD_BYTES, *map(len, spellings))
    table = np.zeros(1 << 16, bool)
    table[_hash_heads(Texts.of(spellings), length)] = True
    return table, length


def _hash_heads(texts: Texts, length: int) -> npt.NDArray[np.uint16]:
    """Return hashes of 16 bits of the first bytes of texts."""
    content = np.frombuffer(texts.content, np.uint8)
    head = np.zeros(len(texts), np.uint32)
    for place in range(length):
        head = (head << np.uint32(8)) | content.take(texts.start + place, mode="clip")
    return (head * _ODD >> np.uint32(16)).astype(np.uint16)


def _spellings(phrase: str) -> Iterator[str]:
    """Yield a phrase with other blanks in it, and with marks before it."""
    for blank in _BLANKS:
        yield phrase.replace(" ", blank)
        yield from (phrase.replace(" ", blank + other) for other in _BLANKS)
    for mark in _MARKS:
        yield mark + phrase
        yield f"{mark} {phrase}"
