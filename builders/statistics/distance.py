"""How far two sentences are apart, counted in words."""

from collections.abc import Hashable, Sequence

from ...loaders.corpora.abstracts.markers import MARKER
from .tokens import tokenize


def marked_words(text: str) -> list[str]:
    """The tokens of a sentence (see ``tokenize``), a marker of an entity counted as one.

    >>> marked_words("The <re> ABA <er>-induced rise.")
    ['the', '<re>', 'aba', '<er>', '-', 'induced', 'rise', '.']
    """
    words = []
    end = 0
    for marker in MARKER.finditer(text):
        words += [*tokenize(text[end : marker.start()]), marker[0]]
        end = marker.end()
    return words + tokenize(text[end:])


def count_changes(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many words have to be put in, taken out or replaced to make one sentence the other.

    Args:
        one: n words.
        other: m words.

    Returns:
        From 0, where they are the same, to max(n, m).

    Source: Levenshtein (1966), "Binary codes capable of correcting deletions, insertions and
        reversals"; computed a row at a time in the bits of a number, as Hyyrö (2003), "A
        bit-vector algorithm for computing Levenshtein and Damerau edit distances", does.

    >>> count_changes("foxes calm hens".split(), "hens calm foxes".split())
    2
    """
    if not one:
        return len(other)
    places: dict[Hashable, int] = {}
    for place, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << place
    every, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    # Where the distance grows, and where it shrinks, from one prefix of ``one`` to the next.
    grows, shrinks, distance = every, 0, len(one)
    for word in other:
        same = places.get(word, 0)
        diagonal = (((same & grows) + grows) ^ grows) | same | shrinks
        more = shrinks | (every & ~(diagonal | grows))
        less = diagonal & grows
        distance += bool(more & last) - bool(less & last)
        more, less = more << 1 | 1, less << 1
        grows = less | ~(diagonal | more)
        shrinks = diagonal & more
        grows &= every
        shrinks &= every
    return distance
