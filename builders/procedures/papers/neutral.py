"""Draw neutral pairs of sentences, by keys alone: which papers come together changes none of them.

Source:
    SciNLI, section 3.2; MSciNLI, section 3.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...core.keyed import draw, subkeys
from .cleaning import Flags, match
from .phrases import APPROACHES

Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
#: Returns which of n pairs of sentences are fit: of n sentences, n others, and n approaches.
IsFit = Callable[[Numbers, Numbers, Numbers], Flags]

_MAX_DRAWS = 64
_BOTH, _FIRST, _SECOND = range(len(APPROACHES))
_CONTENT_WORD = re.compile(r"[^\W\d_]{4,}")
#: Words in a larger share of a paper's sentences say little about any one of them.
_MAX_SHARE = 0.1


def draw_neutral(
    second: Numbers, start: Numbers, size: Numbers, keys: Words, is_fit: IsFit
) -> tuple[Numbers, Numbers, Numbers, Flags]:
    """Draw a neutral pair for each of n labelled ones, from the same paper.

    A fit pair is looked for in at most 64 draws.

    Args:
        second: n second sentences of labelled pairs; the first stand before them.
        start: n first sentences of their papers.
        size: n numbers of sentences of their papers.
        keys: n keys of their papers.
        is_fit: Returns which of some drawn pairs are fit.

    Returns:
        n first and n second sentences, n approaches, and whether a fit pair was found.
    """
    keys = subkeys(keys, second - start)
    approach = (draw(keys, 0) % len(APPROACHES)).astype(np.int64)
    sides = np.stack((second - 1, second))
    is_random = np.stack((approach != _SECOND, approach != _FIRST))
    is_found = np.zeros(len(second), bool)
    for attempt in range(_MAX_DRAWS):
        waiting = np.flatnonzero(~is_found)
        if not len(waiting):
            break
        for side in (0, 1):
            some = waiting[is_random[side, waiting]]
            drawn = draw(keys[some], 2 * attempt + side + 1) % size[some].astype(np.uint64)
            sides[side, some] = start[some] + drawn.astype(np.int64)
        is_found[waiting] = is_fit(sides[0, waiting], sides[1, waiting], approach[waiting])
    return sides[0], sides[1], approach, is_found


def neutral_rule(
    sentences: Sequence[str],
    paper: Numbers,
    is_opening: Flags,
    distance: int,
    overlap: float,
    unlike: str | None,
) -> IsFit:
    """Return the rule that tells which neutral pairs are fit.

    Args:
        sentences: n sentences.
        paper: n numbers of their papers, ascending.
        is_opening: Whether each of n opens with a linking phrase; no random sentence may.
        distance: Least distance of the two sentences.
        overlap: Largest share of content words of the sentence with fewer that they may share.
        unlike: An expression that two random sentences may not match, perhaps none.
    """
    contains = match(pa.array(sentences), unlike) if unlike else np.zeros(len(sentences), bool)

    @cache
    def content_words(number: int) -> Sequence[frozenset[str]]:
        begin, end = np.searchsorted(paper, (number, number + 1))
        return _content_words(sentences[begin:end])

    def share(one: int, other: int) -> float:
        begin = int(np.searchsorted(paper, paper[one]))
        words = content_words(int(paper[one]))
        a, b = words[one - begin], words[other - begin]
        return len(a & b) / max(min(len(a), len(b)), 1)

    def is_fit(first: Numbers, second: Numbers, approach: Numbers) -> Flags:
        fit: Flags = np.abs(first - second) >= distance
        fit &= ~((approach != _SECOND) & is_opening[first])
        fit &= ~((approach != _FIRST) & is_opening[second])
        fit &= ~((approach == _BOTH) & (contains[first] | contains[second]))
        if overlap < 1:
            for n in np.flatnonzero(fit).tolist():
                fit[n] = share(int(first[n]), int(second[n])) <= overlap
        return fit

    return is_fit


def _content_words(sentences: Sequence[str]) -> Sequence[frozenset[str]]:
    """Return the content words of each sentence of a paper.

    A content word has four letters or more and stands in at most a tenth of the sentences, so no
    list of a language's function words is needed. Case and a plural s do not count.
    """
    words = [
        {word.removesuffix("s") for word in _CONTENT_WORD.findall(sentence.lower())}
        for sentence in sentences
    ]
    counts = Counter(word for own in words for word in own)
    most = max(1, _MAX_SHARE * len(words))
    return [frozenset(word for word in own if counts[word] <= most) for own in words]
