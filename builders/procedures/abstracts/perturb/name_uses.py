"""How sentences use a name: bare or with an article, as a modifier, in which number.

Entity annotation calls adjectives diseases (nephrotoxic), and types say nothing of number or
article. So the sentences around a name decide, and its ending where they are silent.
"""

import re
from collections.abc import Iterable
from enum import Flag, auto
from functools import lru_cache

from .....loaders.releases.bionli import strip_markers
from .grammar import base_of_past, base_of_third, is_base, is_plural, word_list
from .names import find_name


class Uses(Flag):
    """The uses of a name; those of several sentences are joined with ``|``."""

    NONE = 0
    #: It ends a noun phrase without an article: of insulin.
    BARE = auto()
    #: It ends a noun phrase with an article or another determiner: the insulin receptor is.
    DETERMINED = auto()
    #: A noun follows, or a hyphen: renal failure patients, aspirin-treated.
    MODIFIER = auto()
    #: The verb after it is singular.
    SINGULAR = auto()


_FUNCTION = (
    word_list("prepositions")
    | word_list("breaks")
    | word_list("modals")
    | word_list("negative")
    | word_list("before not")
    | frozenset(
        [
            "is",
            "are",
            "was",
            "were",
            "be",
            "been",
            "has",
            "have",
            "had",
            "does",
            "do",
            "did",
            "or",
            "nor",
            "not",
            "also",
            "both",
        ]
    )
)
_DETERMINERS = word_list("determiners") | frozenset({"his", "her", "our", "another", "any", "no"})
_SINGULAR = frozenset({"is", "was", "has", "does"})
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:ic|ous|ive|ian|al|ed|ar|less)$", re.IGNORECASE)
#: Endings that few nouns have, enough where no sentence shows the use.
_SURELY_ADJECTIVE = re.compile(r"[a-z]{4,}(?:toxic|ensive|genic|ous|less|otic)$", re.IGNORECASE)
_NEXT = re.compile(r"(\s*)([\w'’]+|\S)?")  # noqa: RUF001
_PREVIOUS = re.compile(r"([\w'’-]+|[^\s\w])\s*$")  # noqa: RUF001
_JOINED = re.compile(r"(?:\b(?:and|n?or|both|of|in|to|with|by|for)|[,/])\s+(?:the\s+)?$")
_DASHES = "-‐‑–/"  # noqa: RUF001
_MAX_BEFORE = 4


def observe_uses(name: str, sentences: Iterable[str]) -> Uses:
    """Observe how sentences, with or without markers, use a name.

    Args:
        name: The name as the sentences have it, in any case.
        sentences: The sentences.
    """
    return _observe(name, tuple(sentences))


@lru_cache(maxsize=1 << 12)
def _observe(name: str, sentences: tuple[str, ...]) -> Uses:
    uses = Uses.NONE
    folded = name.casefold()
    for sentence in sentences:
        if folded not in sentence.casefold():
            continue
        plain = strip_markers(sentence)
        for match in find_name(name, plain, ignore_case=True):
            uses |= _use_at(plain, match.start(), match.end())
    return uses


def _use_at(text: str, start: int, end: int) -> Uses:
    if is_modifier(text, end):
        return Uses.MODIFIER
    found = _NEXT.match(text, end)
    word = (found[2] or "").lower() if found else ""
    uses = Uses.DETERMINED if has_determiner(text, start) else Uses.BARE
    if not _JOINED.search(text[:start]):  # A and B are
        uses |= Uses.SINGULAR if word in _SINGULAR else Uses.NONE
    return uses


def is_modifier(text: str, end: int) -> bool:
    """Return whether the name that ends at an offset stands before its noun, or in a compound."""
    found = _NEXT.match(text, end)
    word = found[2] if found else None
    if not word:
        return False
    if not found[1] and word in _DASHES:  # type: ignore[index]
        return True
    if not word[0].isalnum():
        return False
    small = word.lower()
    is_verb = (
        base_of_third(small) is not None
        or base_of_past(small) is not None
        or is_base(small)
        or small.endswith(("ed", "ing"))
    )
    return (
        small not in _FUNCTION and small not in _DETERMINERS and not is_verb and small[-2:] != "ly"
    )


def has_determiner(text: str, start: int) -> bool:
    """Return whether the noun phrase of the name that begins at an offset has a determiner."""
    before = text[:start]
    for _ in range(_MAX_BEFORE):
        found = _PREVIOUS.search(before)
        if found is None:
            return False
        word = found[1].lower()
        if word in _DETERMINERS or word.endswith(("'s", "’s")):  # noqa: RUF001
            return True
        if word in _FUNCTION or not word[0].isalnum() or base_of_third(word) or is_base(word):
            return False
        before = before[: found.start()]
    return False


def is_adjective(name: str, uses: Uses) -> bool:
    """Return whether a name is an adjective: it looks like one, and never ends a noun phrase."""
    last = re.split(r"[\s-]", name)[-1]
    if uses is Uses.NONE:
        return _SURELY_ADJECTIVE.match(last) is not None
    ends_phrase = uses & (Uses.BARE | Uses.DETERMINED)
    return _ADJECTIVE.match(last) is not None and not (
        ends_phrase and not _is_predicative(name, uses)
    )


def _is_predicative(name: str, uses: Uses) -> bool:
    """Return whether a use that ends a phrase may be after a verb: were hypertensive."""
    last = re.split(r"[\s-]", name)[-1]
    return _SURELY_ADJECTIVE.match(last) is not None and Uses.DETERMINED not in uses


def is_many(name: str, uses: Uses) -> bool:
    """Return whether a name is a plural by its ending, and no verb after it is singular."""
    return Uses.SINGULAR not in uses and is_plural(name)


def takes_article(uses: Uses) -> bool | None:
    """Return whether a name needs an article: the insulin receptor; None where nothing tells."""
    ends = uses & (Uses.BARE | Uses.DETERMINED)
    if ends is Uses.DETERMINED:
        return True
    return False if Uses.BARE in ends else None
