"""The content words of sentences, and how many of them two sentences have in common."""

import re
from collections import Counter

import numpy as np
import numpy.typing as npt

from .arrays import Numbers, Texts

_WORD = re.compile(r"[^\W\d_]{4,}")
#: A word that is in more of a paper's sentences does not tell what one of them is about.
_MAX_SHARE = 0.1


class ContentWords:
    """The content words of the sentences of some papers.

    A content word has four letters or more and stands in at most a tenth of its paper's sentences,
    so no list of a language's function words is needed. Case and a plural s do not count.
    """

    def __init__(self, texts: Texts, starts: Numbers) -> None:
        """Take sentences; their words are read when they are asked for.

        Args:
            texts: n sentences.
            starts: The first sentence of each paper, and n.
        """
        self._texts = texts
        self._starts = starts
        self._of_paper: dict[int, list[frozenset[str]]] = {}

    def overlap(self, first: Numbers, second: Numbers) -> npt.NDArray[np.float64]:
        """Return the overlap of n sentences with n others of the same papers, 0 to 1.

        It is the number of common content words, divided by that of the sentence with fewer; 0
        where a sentence has none.
        """
        papers = np.searchsorted(self._starts, first, side="right") - 1
        found = np.zeros(len(first))
        places = zip(papers.tolist(), first.tolist(), second.tolist(), strict=True)
        for number, (paper, one, other) in enumerate(places):
            words = self._words(paper)
            start = int(self._starts[paper])
            a, b = words[one - start], words[other - start]
            found[number] = len(a & b) / max(min(len(a), len(b)), 1)
        return found

    def _words(self, paper: int) -> list[frozenset[str]]:
        if paper not in self._of_paper:
            numbers = np.arange(self._starts[paper], self._starts[paper + 1])
            words = [_words_of(text) for text in self._texts.select(numbers).to_list()]
            counts = Counter(word for found in words for word in found)
            most = max(1, _MAX_SHARE * len(words))
            frequent = {word for word, n in counts.items() if n > most}
            self._of_paper[paper] = [found - frequent for found in words]
        return self._of_paper[paper]


def _words_of(text: bytes) -> frozenset[str]:
    words = _WORD.findall(text.decode("utf-8", "surrogatepass").lower())
    return frozenset(word.removesuffix("s") for word in words)
