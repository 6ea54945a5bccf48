"""Whether the abstract itself supports a sentence in which an entity is exchanged.

Simple means: the annotated relations, lists, and sentences with both names and a word of the
relation. They find some of the true sentences, and refuse some that are false.
"""

import re
from functools import lru_cache

from ..mechanisms.mechanism import Mechanism
from .grammar import word_list
from .names import NAME, MarkedSentence, find_name
from .synonyms import stand_together

_STEM = 5
_MUTUAL = re.compile(
    r"\b(?:each other|one another|mutual\w*|reciprocal\w*|bidirectional\w*|vice versa|feedback"
    r"|cross-?talk|interdependen\w+)\b",
    re.IGNORECASE,
)
_PREPOSITIONS = word_list("prepositions")
_WORD = re.compile(r"[a-z]{4,}", re.IGNORECASE)


def relation_stems(marked: MarkedSentence) -> frozenset[str]:
    """Return the beginnings of the content words between and beside the two entities."""
    first, second = marked.in_order
    between = marked.masked[first.end : second.start]
    passed = word_list("prepositions") | word_list("modals") | word_list("determiners")
    words = (word.lower() for word in _WORD.findall(between.replace(NAME, " ")))
    return frozenset(word[:_STEM] for word in words if word not in passed)


def is_stated(
    one: str, other: str, stems: frozenset[str], mechanism: Mechanism, *, in_order: bool = False
) -> bool:
    """Return whether a supporting sentence has two names with a word of the relation between them.

    Args:
        one: A name.
        other: Another.
        stems: The beginnings of the relation's words.
        mechanism: The mechanism.
        in_order: Whether the first must act on the second: only the order of the arguments counts,
            and no preposition may stand between them, as in "is induced by" and "activation of".
    """
    a_folded, b_folded = one.casefold(), other.casefold()
    folded = _fold(mechanism.supporting)
    for sentence, small in zip(mechanism.supporting, folded, strict=True):
        if a_folded not in small or b_folded not in small:
            continue
        ones, others = (find_name(name, sentence, ignore_case=True) for name in (one, other))
        for a in ones:
            for b in others:
                if in_order and a.start() > b.start():
                    continue
                early, late = sorted((a.span(), b.span()))
                between = sentence[early[1] : late[0]].lower()
                if in_order and not _PREPOSITIONS.isdisjoint(re.findall(r"\w+", between)):
                    continue
                if any(word[:_STEM] in stems for word in _WORD.findall(between)):
                    return True
    return False


def may_hold_for(
    mechanism: Mechanism,
    marked: MarkedSentence,
    entity: str,
    other: tuple[str, tuple[str, ...]],
    name: str,
    ids: tuple[str, ...],
) -> bool:
    """Return whether the abstract may say of a name what the conclusion says of an entity.

    Args:
        mechanism: The mechanism.
        marked: Its conclusion.
        entity: The entity that would be replaced.
        other: The one that stays, with its ids.
        name: The name that would replace it.
        ids: The ids of that name.
    """
    if stand_together(entity, name, " ".join(mechanism.supporting)):
        return True
    kept, kept_ids = other
    if any({*pair} & {*ids} and {*pair} & {*kept_ids} for pair in mechanism.related):
        return True
    return is_stated(name, kept, relation_stems(marked), mechanism)


def is_mutual(mechanism: Mechanism) -> bool:
    """Return whether a sentence says of both entities that they act on each other."""
    return any(
        all(find_name(name, sentence) for name in mechanism.names)
        for sentence in _mutual(mechanism.sentences)
    )


@lru_cache(maxsize=4)  # SEN and SEP read the same sentences one after the other
def _mutual(sentences: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sentence for sentence in sentences if _MUTUAL.search(sentence))


@lru_cache(maxsize=4)
def _fold(sentences: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sentence.casefold() for sentence in sentences)
