"""Mend what the extraction from PDF has damaged, where it is certain what stood there.

A mark of a note between two sentences ends the first ("as shown.3 We then"), and a word that was
broken at the end of a line is put together ("evalua- tion") where it stands elsewhere in the paper.
A compound that lost a hyphen gets it back ("rulebased", "left-toright") where its parts are words
of the paper, and a letter its accent ("Sch\u00a8utze").
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .arrays import Numbers
from .damage import BROKEN_WORD, NOTE, RUNNING_HEAD, WHOLE, find_damage
from .signs import BLANK, DIGIT, LOWER, UPPER, Signs

_NOTE = re.compile(rb"(?<=[a-z]{2})[.?!][\"')\]]*([0-9]{1,2} ?)(?=[A-Z])")
#: Behind these a number belongs to the word: "Fig.3 We", "Sec.2 The", "et al.5".
_ABBREVIATED = re.compile(
    rb"(?:^|[^a-z])(?:figs?|sects?|secs?|eqn?s?|tabs?|al|ch|vol|nos?|refs?|app|cf|vs|pp)\Z", re.I
)
_BROKEN = re.compile(rb"(?<![A-Za-z-])([A-Za-z]+(?:-[A-Za-z]+)*)- ([a-z]+)(?![a-z])")
#: "two- and three-word phrases" is whole.
_SUSPENDED = frozenset((b"and", b"or", b"to", b"nor", b"but", b"vs", b"versus", b"as", b"than"))
#: Second parts of compounds; hardly a word but a compound ends so.
_SECOND_PARTS = (
    *("annotated", "aware", "based", "dependent", "driven", "generated", "independent", "labeled"),
    *("labelled", "level", "oriented", "specific"),
)
_NO_FIRST_PARTS = frozenset((b"also", b"been", b"only", b"were", b"when", b"then", b"that"))
_GLUED = re.compile(
    rb"(?<![A-Za-z])((?:[a-z]+-)*)([a-z]{4,})(%b)(?![A-Za-z])" % "|".join(_SECOND_PARTS).encode()
)
#: A hyphen between a letter and the second part of a word, group 1.
_HYPHEN = re.compile(rb"-(?<=[A-Za-z]-)(?=([a-z]{3,})(?![A-Za-z-]))")
_MAX_WORD = 20
_PLAIN_WORD = re.compile(rb"(?<![A-Za-z-])[A-Za-z]+(?![A-Za-z-])")
#: Letters and hyphens; all else is blank, in the second the letters beyond ASCII too.
_LETTERS = bytes(c if bytes([c]).isalpha() or c in b"-" or c > 127 else 32 for c in range(256))
_PLAIN_LETTERS = bytes(c if bytes([c]).isalpha() or c in b"-" else 32 for c in range(256))
#: "part-ofspeech", "characterto-character"; of "stateof-the-art" the first piece.
_GLUED_SMALL = re.compile(
    rb"(?<![A-Za-z-])([A-Za-z]{3,})(to|of|by|and|the)(?=-[a-z])"
    rb"|(?<=[a-z]-)(ofthe|to|of(?!f)|by|and|the)([a-z]{3,})(?![A-Za-z])"
)
_LOOSE_ACCENT = re.compile("([A-Za-z\u0131]?)([\u00a8\u00b4])([A-Za-z\u0131]?)")
_COMBINING = {"\u00a8": "\u0308", "\u00b4": "\u0301"}
#: "of 315 Computational Linguistics Volume", "Jane Doe and John Roe 46".
_HEAD = re.compile(
    rb"\b[0-9]{2,4} ((?:[A-Z][A-Za-z]+,? ){2}[A-Za-z]+)|((?:\b[A-Z][A-Za-z]+,? ){2,5})[0-9]{2,4}\b"
)
_LEAST_REPEATS = 3
#: So many times as often a paper writes a compound with its hyphen, where it is lost.
_LEAST_RATIO = 2
#: A piece between notes is a sentence if it has so many blanks.
_LEAST_BLANKS = 4


class MendedSentences(NamedTuple):
    """n sentences as far as they could be mended.

    Attributes:
        as_first: The sentences as they stand before another one.
        as_second: The sentences as they stand behind another one.
        damage: n numbers of ``DAMAGE``, of what could not be mended, or ``WHOLE``.
    """

    as_first: Sequence[bytes]
    as_second: Sequence[bytes]
    damage: npt.NDArray[np.int8]


def mend(sentences: Sequence[bytes], papers: Numbers, contents: Sequence[bytes]) -> MendedSentences:
    """Mend sentences, and tell which are still damaged.

    Args:
        sentences: n sentences in UTF-8.
        papers: n numbers of papers.
        contents: The text of each paper.
    """
    signs = Signs(sentences)
    damage = find_damage(sentences, signs)
    mended = list(sentences)
    words: dict[int, PaperWords] = {}

    def of_paper(number: int) -> PaperWords:
        paper = int(papers[number])
        return words.setdefault(paper, PaperWords(contents[paper]))

    for number in _may_be_broken(signs).tolist():
        joined = of_paper(number).join(mended[number])
        if joined is None:
            damage[number] = min(damage[number], BROKEN_WORD)
        else:
            mended[number] = joined
    for number, glued in _find_lost_hyphens(sentences, papers, of_paper):
        mended[number] = of_paper(number).split(mended[number], glued)
    for number in _may_be_glued(signs).tolist():
        mended[number] = of_paper(number).part(mended[number])
    for number in _may_have_loose_accents(signs).tolist():
        mended[number] = put_accents(mended[number].decode("utf-8", "surrogatepass")).encode(
            "utf-8", "surrogatepass"
        )
    for number in _may_have_heads(signs).tolist():
        for head in _HEAD.finditer(mended[number]):
            if damage[number] == WHOLE and of_paper(number).repeats(head):
                damage[number] = RUNNING_HEAD
    as_first, as_second = mended.copy(), mended
    for number in _may_have_notes(signs).tolist():
        pieces = split_at_notes(mended[number])
        as_first[number], as_second[number] = pieces[-1], pieces[0]
        if min(pieces[0].count(b" "), pieces[-1].count(b" ")) < _LEAST_BLANKS:
            damage[number] = min(damage[number], NOTE)
    return MendedSentences(as_first, as_second, damage)


def _may_be_broken(signs: Signs) -> Numbers:
    is_broken = (signs[0] == ord("-")) & (signs[-1] == LOWER) & (signs[1] == BLANK)
    return signs.texts_with(is_broken & (signs[2] == LOWER))


def _find_lost_hyphens(
    sentences: Sequence[bytes], papers: Numbers, of_paper: Callable[[int], "PaperWords"]
) -> Iterator[tuple[int, bytes]]:
    """Yield the sentences with a word that stands with a hyphen elsewhere in their paper.

    Args:
        sentences: n sentences.
        papers: n numbers of papers, ascending.
        of_paper: Returns the words of the paper of a sentence.
    """
    bounds = [0, *(np.flatnonzero(np.diff(papers)) + 1).tolist(), len(sentences)]
    for first, end in pairwise(bounds):
        if first < end:
            words = set(b"\n".join(sentences[first:end]).translate(_LETTERS).split())
            for glued in sorted(words & of_paper(first).hyphenated.keys()):
                for number in range(first, end):
                    if glued in sentences[number]:
                        yield number, glued


def _may_be_glued(signs: Signs) -> Numbers:
    is_glued = np.zeros(len(signs[0]), bool)
    for small in (b"to", b"of", b"by", b"and", b"the"):
        is_glued |= signs.follow(small) | signs.precede(small)
    is_glued &= (signs[0] == ord("-")) & (signs[1] == LOWER)
    glued = signs.texts_with(is_glued)
    return np.union1d(glued, signs.texts_with_ending([part.encode() for part in _SECOND_PARTS]))


def _may_have_loose_accents(signs: Signs) -> Numbers:
    return signs.texts_with((signs[0] == 0xC2) & ((signs[1] == 0xA8) | (signs[1] == 0xB4)))


def _may_have_heads(signs: Signs) -> Numbers:
    is_page = (signs[1] == BLANK) & (signs[2] == UPPER) & (signs[3] == LOWER)
    is_page &= signs[-1] == DIGIT
    is_counted = signs.follow(b"able ") | signs.follow(b"igure ") | signs.follow(b"tion ")
    is_page |= (signs[-1] == BLANK) & (signs[-2] == LOWER) & (signs[1] == DIGIT) & ~is_counted
    return signs.texts_with((signs[0] == DIGIT) & is_page)


def _may_have_notes(signs: Signs) -> Numbers:
    is_last = (signs[1] == BLANK) | (signs[1] == DIGIT) | (signs[1] == UPPER)
    is_behind = np.zeros(len(is_last), bool)
    for mark in b".?!\"')]":
        is_behind |= signs[-1] == mark
    return signs.texts_with((signs[0] == DIGIT) & is_behind & is_last)


def split_at_notes(sentence: bytes) -> list[bytes]:
    """Split what is taken for one sentence at the marks of notes, which are left out.

    >>> split_at_notes(b"It is shown.3 We then go on.")
    [b'It is shown.', b'We then go on.']
    >>> split_at_notes(b"See Fig.3 We go on.")
    [b'See Fig.3 We go on.']
    """
    pieces = []
    begin = 0
    for note in _NOTE.finditer(sentence):
        if not _ABBREVIATED.search(sentence[: note.start()]):
            pieces.append(sentence[begin : note.start(1)])
            begin = note.end()
    return [*pieces, sentence[begin:]]


def put_accents(text: str) -> str:
    """Put the accents that stand before or behind their letters on them.

    >>> put_accents("Sch\u00a8utze, Schu\u00a8tze and Mart\u00b4\u0131nez")
    'Sch\u00fctze, Sch\u00fctze and Mart\u00ednez'
    """

    def put(found: re.Match[str]) -> str:
        before, accent, behind = found.groups()
        for letter, is_behind in ((behind, True), (before, False)):
            if letter and letter.lower() in "aeiouy\u0131":
                whole = letter.replace("\u0131", "i") + _COMBINING[accent]
                whole = unicodedata.normalize("NFC", whole)
                return before + whole if is_behind else whole + behind
        return found[0]

    return _LOOSE_ACCENT.sub(put, text)


class PaperWords:
    """The words of a paper, which tell what a damaged sentence was.

    Args:
        content: The text of the paper, in UTF-8.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content

    @cached_property
    def _lower(self) -> bytes:
        return self._content.lower()

    def _has(self, word: bytes) -> bool:
        """Return whether a word stands in the paper, in any case."""
        word = word.lower()
        place = self._lower.find(word)
        while place >= 0:
            ends = (
                self._lower[place - 1 : place],
                self._lower[place + len(word) : place + len(word) + 1],
            )
            if not any(end.isalpha() or end == b"-" for end in ends):
                return True
            place = self._lower.find(word, place + 1)
        return False

    def join(self, text: bytes) -> bytes | None:
        """Put the broken words of a sentence together.

        "evalua- tion" becomes "evaluation" where that stands elsewhere in the paper, "long- term"
        becomes "long-term" where only that does. "two- and three-word" stays.

        Args:
            text: The sentence.

        Returns:
            The sentence; None where a word is found in neither form.
        """
        is_certain = True

        def put(broken: re.Match[bytes]) -> bytes:
            nonlocal is_certain
            head, tail = broken.groups()
            if tail in _SUSPENDED:
                return broken[0]
            for joined in (head + tail, head + b"-" + tail):
                if self._has(joined):
                    return joined
            is_certain = False
            return broken[0]

        mended = _BROKEN.sub(put, text)
        return mended if is_certain else None

    @cached_property
    def hyphenated(self) -> dict[bytes, bytes]:
        """Words of two parts, by the same without their hyphen."""
        found = {}
        words = b" " * _MAX_WORD + self._content.translate(_PLAIN_LETTERS)
        for hyphen in _HYPHEN.finditer(self._content):
            place = hyphen.start()
            before = words[place : place + _MAX_WORD].rpartition(b" ")[2]
            if b"-" not in before:
                found[before + hyphen[1]] = before + b"-" + hyphen[1]
        return found

    def split(self, text: bytes, glued: bytes) -> bytes:
        """Give a compound its hyphen back that the paper nearly always writes with one.

        Args:
            text: The sentence.
            glued: The compound without its hyphen, one of ``hyphenated``.
        """
        whole = self.hyphenated[glued]
        if self._content.count(whole) < _LEAST_RATIO * self._content.count(glued):
            return text
        return _PLAIN_WORD.sub(lambda word: whole if word[0] == glued else word[0], text)

    def part(self, text: bytes) -> bytes:
        """Give compounds their hyphens back.

        "rulebased" becomes "rule-based", and "left-toright" "left-to-right", where the parts are
        words of the paper; "left-together" stays.

        Args:
            text: The sentence.
        """

        def put_hyphen(glued: re.Match[bytes]) -> bytes:
            before, head, tail = glued.groups()
            if head in _NO_FIRST_PARTS or not self._has(head):
                return glued[0]
            return before + head + (b" " if head.endswith(b"ly") else b"-") + tail

        def put_small(glued: re.Match[bytes]) -> bytes:
            head, small, small_before, tail = glued.groups()
            if head is not None:
                is_glued = self._has(head) and not self._has(head + small)
                return head + b"-" + small if is_glued else glued[0]
            if small_before == b"ofthe":
                return b"of-the" + tail
            is_glued = self._has(tail) and not self._has(small_before + tail)
            return small_before + b"-" + tail if is_glued else glued[0]

        return _GLUED_SMALL.sub(put_small, _GLUED.sub(put_hyphen, text))

    def repeats(self, head: re.Match[bytes]) -> bool:
        """Return whether what stands beside a number does so through the paper, as a head does.

        Args:
            head: A number and the words behind it, or the words before it.
        """
        behind, before = head.groups()
        words = behind or before
        if self._content.count(words) < _LEAST_REPEATS:  # which is faster
            return False
        pattern = rb"\b([0-9]{1,4}) %b" if behind else rb"%b([0-9]{1,4})\b"
        return len(set(re.findall(pattern % re.escape(words), self._content))) >= _LEAST_REPEATS
