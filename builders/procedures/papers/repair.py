"""Mend words that the extraction from PDF has damaged, where the paper shows what stood there."""

import re
from collections.abc import Sequence

_BROKEN = re.compile(r"\b([A-Za-z]+)- (?!(?:and|or|nor|to|und|oder)\b)([a-z]+)\b")
_HYPHEN = re.compile(rb"-[a-z]{3,}\b(?!-)")
_COMPOUND = re.compile(rb"(?:[A-Za-z]+-)+[a-z]+")
_TOKEN = re.compile(r"[\w-]+")
#: Makes blanks of all bytes that are in no ASCII word.
_BLANKS = bytes(n if _TOKEN.match(chr(n)) and n < 128 else ord(" ") for n in range(256))
_OF_WORD = re.compile(rb"[\w-]|[^\x00-\x7f]")
#: An expression of RE2 that every sentence with the mark of a note matches.
MAY_HAVE_NOTES = r"[.?!][\"')\]]*[0-9]{1,2} ?[A-Z]"
_NOTE = re.compile(r"(?<=[a-z]{2})[.?!][\"')\]]*([0-9]{1,2} ?)(?=[A-Z])")
#: Behind these a number belongs to the word: "Fig.3 We", "Sec.2 The", "et al.5".
_ABBREVIATED = re.compile(
    r"\b(?:figs?|sects?|secs?|eqn?s?|tabs?|al|ch|vol|nos?|refs?|app|cf|vs|pp)\Z", re.IGNORECASE
)


def mend_words(sentences: Sequence[str], paper: bytes) -> list[str]:
    """Put together broken words, and put back lost hyphens, as they stand elsewhere in their paper.

    Args:
        sentences: Some sentences of a paper.
        paper: All of its text, in UTF-8.

    >>> mend_words(["The evalua- tion is rulebased."], b"A rule-based evaluation, rule-based.")
    ['The evaluation is rule-based.']
    """

    def join(broken: re.Match[str]) -> str:
        head, tail = broken.groups()
        words = (head + tail, f"{head}-{tail}")
        return next((word for word in words if _stands_in(paper, word.encode())), broken[0])

    mended = [_BROKEN.sub(join, one) if "- " in one else one for one in sentences]
    compounds = find_compounds(paper)
    words = "\n".join(sentences).encode().translate(_BLANKS).split()
    lost = {
        word.decode(): compounds[word].decode()
        for word in compounds.keys() & words
        if paper.count(compounds[word]) >= paper.count(word)
    }
    if not lost:
        return mended
    return [
        _TOKEN.sub(lambda token: lost.get(token[0], token[0]), one)
        if any(word in one for word in lost)
        else one
        for one in mended
    ]


def _stands_in(paper: bytes, word: bytes) -> bool:
    """Return whether a word stands in a paper, not as a part of another."""
    place = paper.find(word)
    while place >= 0:
        around = paper[place - 1 : place] + paper[place + len(word) : place + len(word) + 1]
        if not _OF_WORD.search(around):
            return True
        place = paper.find(word, place + 1)
    return False


def find_compounds(paper: bytes) -> dict[bytes, bytes]:
    """Return the words with hyphens of a paper, by the same without one of them."""
    found = dict.fromkeys(
        paper[paper.rfind(b" ", 0, hyphen.start()) + 1 : hyphen.end()]
        for hyphen in _HYPHEN.finditer(paper)
    )
    compounds = {}
    for compound in filter(_COMPOUND.fullmatch, found):
        head, _, tail = compound.rpartition(b"-")
        compounds[head + tail] = compound
        if b"-" in head:
            compounds[compound.replace(b"-", b"", 1)] = compound
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
