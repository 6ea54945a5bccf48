"""Finds the sentences that open with a linking phrase."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Flags, Numbers
from .phrases import LinkingPhrases

#: The cut of a sentence in which something stands before the phrase.
AFTER_A_MARK = -1
_MARKS = "\"'([{“‘„«—–-*•·"  # noqa: RUF001
_BLANKS = " \t\n\u00a0\u2009\u202f"


@dataclass(frozen=True)
class Linking:
    """Sentences that open with a linking phrase.

    Attributes:
        sentence: n numbers of sentences, ascending.
        phrase: n numbers of phrases.
        cut: How many characters the phrase and the punctuation after it take; ``AFTER_A_MARK``
            where a dash, a quotation mark or the like stands before it.
    """

    sentence: Numbers
    phrase: Numbers
    cut: Numbers

    def select(self, chosen: Flags) -> "Linking":
        """The chosen ones of them."""
        return Linking(self.sentence[chosen], self.phrase[chosen], self.cut[chosen])


def find_linking(texts: Sequence[str], phrases: LinkingPhrases) -> Linking:
    """Finds the sentences that open with a phrase, perhaps behind a mark.

    Args:
        texts: The sentences.
        phrases: The phrases.
    """
    length = min(map(len, phrases.phrases))
    heads = {text[:length] for phrase in phrases.phrases for text in _spellings(phrase)}
    number = {phrase: n for n, phrase in enumerate(phrases.phrases)}
    match = phrases.pattern.match
    found = []
    # Looking a few letters up in a set is the fastest way to pass over all other sentences.
    for i in [i for i, text in enumerate(texts) if text[:length] in heads]:
        rest = texts[i].lstrip(_MARKS + _BLANKS)
        if (here := match(rest)) is not None:
            is_first = len(rest) == len(texts[i])
            phrase = number[" ".join(here[1].split())]
            found.append((i, phrase, here.end() if is_first else AFTER_A_MARK))
    columns = np.array(found, np.int64).reshape(-1, 3)
    return Linking(columns[:, 0], columns[:, 1], columns[:, 2])


def _spellings(phrase: str) -> Iterator[str]:
    """A phrase with other blanks in it, and with marks before it."""
    for blank in _BLANKS:
        yield phrase.replace(" ", blank)
        yield from (phrase.replace(" ", blank + other) for other in _BLANKS)
    for mark in _MARKS:
        yield mark + phrase
        yield f"{mark} {phrase}"
