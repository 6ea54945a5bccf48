"""Mend words that the extraction from PDF has damaged, where the paper shows what stood there."""

import re
from collections.abc import Sequence

_BROKEN = re.compile(r"\b([A-Za-z]+)- ([a-z]+)\b")
_HYPHEN = re.compile(r"-([a-z]{3,})\b(?!-)")
_MAX_WORD = 20
#: So many times as often a paper writes a compound with its hyphen, where it is lost.
_LEAST_RATIO = 2
#: An expression of RE2 that every sentence with the mark of a note matches.
MAY_HAVE_NOTES = r"[.?!][\"')\]]*[0-9]{1,2} ?[A-Z]"
_NOTE = re.compile(r"(?<=[a-z]{2})[.?!][\"')\]]*([0-9]{1,2} ?)(?=[A-Z])")
#: Behind these a number belongs to the word: "Fig.3 We", "Sec.2 The", "et al.5".
_ABBREVIATED = re.compile(
    r"\b(?:figs?|sects?|secs?|eqn?s?|tabs?|al|ch|vol|nos?|refs?|app|cf|vs|pp)\Z", re.IGNORECASE
)


def mend_words(sentences: Sequence[str], paper: str) -> list[str]:
    """Put together broken words, and put back lost hyphens, as they stand elsewhere in their paper.

    Args:
        sentences: Some sentences of a paper.
        paper: All of its text.

    >>> mend_words(["The evalua- tion is rulebased."], "A rule-based evaluation, rule-based.")
    ['The evaluation is rule-based.']
    """

    def join(broken: re.Match[str]) -> str:
        head, tail = broken.groups()
        words = (head + tail, f"{head}-{tail}")
        return next((word for word in words if stands_in_paper(word)), broken[0])

    def stands_in_paper(word: str) -> bool:
        return word in paper and re.search(_whole(word), paper) is not None  # the first is faster

    together = "\n".join(sentences)
    mended = [_BROKEN.sub(join, one) if "- " in one else one for one in sentences]
    for word, compound in find_compounds(paper).items():
        if word in together and paper.count(compound) >= _LEAST_RATIO * paper.count(word):
            mended = [re.sub(_whole(word), compound, one) if word in one else one for one in mended]
    return mended


def _whole(word: str) -> str:
    return rf"(?<![\w-]){word}(?![\w-])"


def find_compounds(paper: str) -> dict[str, str]:
    """Return the words of two parts of a paper, by the same without their hyphen."""
    compounds = {}
    for hyphen in _HYPHEN.finditer(paper):
        head = paper[max(0, hyphen.start() - _MAX_WORD) : hyphen.start()].rpartition(" ")[2]
        if head.isascii() and head.isalpha():
            compounds[head + hyphen[1]] = f"{head}-{hyphen[1]}"
    return compounds


def split_at_notes(sentence: str) -> list[str]:
    """Split what is taken for one sentence at the marks of notes, which are left out.

    >>> split_at_notes("It is shown.3 We then go on.")
    ['It is shown.', 'We then go on.']
    >>> split_at_notes("See Fig.3 We go on.")
    ['See Fig.3 We go on.']
    """
    pieces = []
    begin = 0
    for note in _NOTE.finditer(sentence):
        if not _ABBREVIATED.search(sentence[: note.start()]):
            pieces.append(sentence[begin : note.start(1)])
            begin = note.end()
    return [*pieces, sentence[begin:]]
