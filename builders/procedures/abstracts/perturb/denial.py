"""Conclusions that only deny: with other entities they stay true, or nobody knows."""

from .affirm import affirm
from .clauses import read_words
from .deny import deny
from .marked import MarkedSentence

#: Why entities are left as they are.
DENIED = "the sentence only denies, and may with other entities be as true"


def denies(marked: MarkedSentence) -> bool:
    """Whether a sentence has a negated predicate, and no other but those that report.

    So "TNF is not the driving force of cachexia", not "TNF drives cachexia, which is not lethal".
    """
    words = read_words(marked)
    is_neither = any(words.at(i) == "neither" for i in range(len(words)))
    if not is_neither and next(affirm(marked, words), None) is None:
        return False
    return all(flip.is_reporting for flip in deny(marked, words))
