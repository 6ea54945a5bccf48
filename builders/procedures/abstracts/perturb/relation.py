"""Which words of a sentence say how its two entities relate."""

from functools import lru_cache

from .affirmation import light_verbs
from .clauses import AUXILIARIES, BE, PREPOSITIONS, Words, read_words
from .grammar import base_of_past, base_of_third, word_list
from .names import MarkedSentence

_RELATIVES = frozenset({"which", "who", "whom", "whose", "that", "where"})
_BREAKS = frozenset(
    [
        ";",
        ":",
        "but",
        "whereas",
        "while",
        "although",
        "though",
        "because",
        "since",
        "unless",
        "when",
        "until",
        "if",
    ]
)
_AFTER_NOUN = frozenset(["of", "in", "by", "on", "to", "for", "with", "against"])
#: Greatest number of words between a noun and the entity that it takes: reduction in serum X.
_REACH = 6


@lru_cache(maxsize=1 << 8)
def _places(marked: MarkedSentence) -> tuple[Words, int, int]:
    words = read_words(marked)
    starts = {place.start for place in marked.in_order}
    first, second = (i for i, word in enumerate(words) if word.start in starts)
    return words, first, second


def predicate_relates(marked: MarkedSentence, i: int) -> bool:
    """Return whether the predicate that begins at a word relates the two entities.

    It stands between them in one clause, or says that there is a relation: X blocks Y; there was
    an effect of X on Y. Not in "Z ends the fall of X after Y", nor in "X, which binds Z, blocks Y".
    """
    words, first, second = _places(marked)
    low, high = min(first, i), max(second, i)
    if any(words.at(k) in _BREAKS for k in range(low + 1, high)):
        return False
    if first < i < second:
        return not _is_inserted(words, first, i, second)
    if second < i and _is_mutual(words, first, i, second):
        return True
    if words.at(i) not in AUXILIARIES:
        return False
    if second < i and any(words.at(k) in {",", *_RELATIVES} for k in range(second + 1, i)):
        return False
    verb = words.skip_adverbs(i + 1)
    while words.at(verb) in ("be", "been", "being"):
        verb = words.skip_adverbs(verb + 1)
    text = words.at(verb)
    if text in ("why", "how", "when", "where", "what"):
        return False
    if words.at(i - 1) == "there" and text not in ("a", "an"):
        return False  # there is not evidence
    if text in light_verbs():
        return True
    return words.at(i) in BE and i < first and not _is_verb(text)


def term_relates(marked: MarkedSentence, i: int, last: int) -> bool:
    """Return whether a term stands between the two entities, or governs them as their noun.

    Args:
        marked: The sentence.
        i: Position of the first word of the term.
        last: Position of its last word.
    """
    words, first, second = _places(marked)
    if first <= i <= second:  # X-induced is one word with its name
        is_joined = not any(words.at(k) in _BREAKS for k in range(first + 1, second))
        return is_joined and not _is_inserted(words, first, i, second)
    low, high = (last, first) if i < first else (second, i)
    between = [words.at(k) for k in range(low + 1, high)]
    if len(between) > _REACH:
        return False
    if between[:1] == ["("] and between[-1] == ")":
        between = []
    if any(w in _BREAKS or w in _RELATIVES or w in AUXILIARIES or w == "," for w in between):
        return False
    if i < first:
        return not _AFTER_NOUN.isdisjoint([words.at(last), *between[:2]])
    is_finite = base_of_third(words.at(i)) and words.at(i + 1) not in ("of", "in", "by")
    return between in ([], ["-"]) and not is_finite


def _is_mutual(words: Words, first: int, i: int, second: int) -> bool:
    """Return whether a predicate says of both that they do it together: X and Y interact."""
    joined = {words.at(k) for k in range(first + 1, second)} & {"and", "/", "-"}
    verb = words.skip_adverbs(i + 1) if words.at(i) in AUXILIARIES else i
    text = words.at(verb)
    base = base_of_third(text) or base_of_past(text) or text
    return bool(joined) and i - second <= _REACH and base in word_list("mutual")


def _is_inserted(words: Words, first: int, i: int, second: int) -> bool:
    """Return whether a word stands in an insertion between commas: X, which binds Z, blocks Y."""
    commas = [k for k in range(first + 1, second) if words.at(k) == ","]
    opening = [
        k
        for k in commas
        if k < i and words.at(k + 1) in {*_RELATIVES, *PREPOSITIONS, "a", "an", "the"}
    ]
    return bool(opening) and any(k > i for k in commas)


def _is_verb(text: str) -> bool:
    return (base_of_third(text) or base_of_past(text)) is not None or text.endswith(("ed", "ing"))
