"""Mend what the extraction from PDF has damaged, where it is certain what stood there.

The mark of a note between two sentences ends the first ("as shown.3 We then"), and a word that was
broken at the end of a line is put together ("evalua- tion") where it stands elsewhere in the paper.
"""

import re
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .arrays import Numbers, Texts
from .damage import BROKEN_WORD, DAMAGE, RUNNING_HEAD, WHOLE, Joined

_STOP, _BLANK = ord("."), ord(" ")
_NOTE = re.compile(rb"[.?!][\"')\]]*([0-9]{1,2}) (?=[A-Z])")
#: Behind these a number belongs to the word: "Fig.3 We", "Sec.2 The", "et al.5".
_ABBREVIATED = re.compile(
    rb"(?:^|[^a-z])(?:figs?|sects?|secs?|eqn?s?|tabs?|al|ch|vol|nos?|refs?|app|cf|vs|pp)\Z", re.I
)
_BROKEN = re.compile(rb"(?<![A-Za-z-])([A-Za-z]+(?:-[A-Za-z]+)*)- ([a-z]+)(?![a-z])")
#: "two- and three-word phrases" is whole.
_SUSPENDED = frozenset((b"and", b"or", b"to", b"nor", b"but", b"vs", b"versus", b"as", b"than"))
#: "of 315 Computational Linguistics Volume", "the Proceedings of the Workshop 46".
_HEAD = re.compile(
    rb"\b[0-9]{1,4} ((?:[A-Z][A-Za-z]+,? ){2}[A-Za-z]+)|((?:\b[A-Z][A-Za-z]+,? ){2,5})[0-9]{1,4}\b"
)
_LEAST_REPEATS = 3
_NO_WORD = bytes(
    code if bytes([code]).isalpha() or code in b"-" or code >= 0x80 else _BLANK
    for code in range(256)
)


def split_at_notes(
    texts: Texts, starts: Numbers, openings: Numbers
) -> tuple[Texts, Numbers, Numbers]:
    """Split sentences at marks of notes, which are left out.

    Args:
        texts: The sentences of n papers.
        starts: n + 1 numbers of sentences: the first of each paper, and the end of the last.
        openings: Numbers of some sentences.

    Returns:
        The sentences, and the two as numbers of these.
    """
    content = np.frombuffer(texts.content, np.uint8)
    digits = np.flatnonzero(content - np.uint8(ord("0")) < 10)
    digits = digits[(digits > 2) & (digits < len(content) - 3)]
    behind = content[digits + 1]
    is_end = (behind == _BLANK) | (content[digits + 2] == _BLANK)
    before = content[digits - 1]
    is_mark = is_end & np.isin(before, np.frombuffer(b".?!\"')]", np.uint8))
    cuts: list[tuple[int, int]] = []
    for digit in digits[is_mark].tolist():
        start = max(digit - 8, 0)
        found = _NOTE.search(texts.content, start, digit + 4)
        if found is None or found.start(1) != digit:
            continue
        word = texts.content[max(found.start() - 6, 0) : found.start()]
        if word[-2:].isalpha() and word[-2:].islower() and not _ABBREVIATED.search(word):
            cuts.append((found.start(1), found.end()))
    if not cuts:
        return texts, starts, openings
    ends, begins = np.array(cuts).T
    sentence = np.searchsorted(texts.start, ends, side="right") - 1
    is_inside = begins < texts.end[sentence]
    ends, begins, sentence = ends[is_inside], begins[is_inside], sentence[is_inside]
    split = Texts(
        texts.content,
        np.insert(texts.start, sentence + 1, begins),
        np.insert(texts.end, sentence, ends),
    )

    def renumber(numbers: Numbers) -> Numbers:
        return numbers + np.searchsorted(sentence, numbers, side="left")

    return split, renumber(starts), renumber(openings)


def mend(
    sentences: list[bytes],
    damage: npt.NDArray[np.int8],
    papers: Numbers,
    contents: Sequence[bytes],
) -> None:
    """Put broken words together, and mark what shows itself as damage only in the whole paper.

    Args:
        sentences: n sentences in UTF-8; those that are mended are replaced.
        damage: n numbers of ``DAMAGE`` or ``WHOLE``; those of what cannot be mended are replaced.
        papers: n numbers of papers.
        contents: The text of each paper.
    """
    words: dict[int, PaperWords] = {}
    joined = Joined(sentences)

    def of_paper(number: int) -> PaperWords:
        paper = int(papers[number])
        return words.setdefault(paper, PaperWords(contents[paper]))

    for number in joined.find((b"a- a",)):
        if damage[number] == WHOLE:
            mended = of_paper(number).join(sentences[number])
            if mended is None:
                damage[number] = DAMAGE.index(BROKEN_WORD)
            else:
                sentences[number] = mended
    for number in joined.find((b"9 Aa", b"a 9")):
        for head in _HEAD.finditer(sentences[number]):
            if damage[number] == WHOLE and of_paper(number).repeats(head):
                damage[number] = DAMAGE.index(RUNNING_HEAD)


class PaperWords:
    """The words of a paper, which tell what a damaged sentence was.

    Args:
        content: The text of the paper, in UTF-8.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content

    @cached_property
    def _words(self) -> frozenset[bytes]:
        return frozenset(self._content.translate(_NO_WORD).lower().split())

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
                if joined.lower() in self._words:
                    return joined
            is_certain = False
            return broken[0]

        mended = _BROKEN.sub(put, text)
        return mended if is_certain else None

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
