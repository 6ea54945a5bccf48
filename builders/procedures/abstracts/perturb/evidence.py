"""Judge from the abstract whether two names may be of one entity, and what may hold of others.

Concept ids decide where they are known and equal. Names decide besides: two ids may be of a disease
and its kind, and few corpora annotate every mention. Every doubt refuses a name.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from ..mechanisms.mechanism import Mechanism
from .grammar import word_list
from .names import find_name, fold_text, plain_name

#: Between a name and another of the same entity: GAP-43 (neuromodulin, B-50).
_IN_BRACKETS = re.compile(r" ?\((?:[^()]*[^()\w])?")
_JOIN = r"(?:\s*(?:,? and/or|,? and|,? or|, as well as| as well as|/|,|\+|-and-))"
_LISTED = re.compile(rf"(?:{_JOIN} ?[^\s,;.()]+(?: [^\s,;.()]+)?){{0,4}}?{_JOIN} ?", re.IGNORECASE)
_REACH = 120
_MUTUAL = re.compile(
    r"\b(?:each other|one another|mutual\w*|reciprocal\w*|bidirectional\w*|vice versa|feedback"
    r"|cross-?talk|interdependen\w+)\b",
    re.IGNORECASE,
)
#: Letters in which words from one stem agree: hypertension, hypertensive.
_STEM = 6
#: Greatest number of letters and digits of an abbreviation.
_SHORT = 10


def may_be_same(one: str, other: str, text: str) -> bool:
    """Return whether two names may be of one entity.

    They may where the words of one, or words from the same stems, are among those of the other
    (IL-6 and IL-6 protein; nephrotoxic, nephrotoxicity), where one may abbreviate the other (TBP,
    TATA box binding protein; Cdc25, Cdc25A), or where the text gives one in brackets after the
    other, perhaps among more.
    """
    if _are_alike(*sorted((one, other))):
        return True
    return any(_IN_BRACKETS.fullmatch(between) for between in _between(one, other, text))


@lru_cache(maxsize=1 << 15)
def _are_alike(one: str, other: str) -> bool:
    stems, other_stems = _split_name(one), _split_name(other)
    if stems <= other_stems or other_stems <= stems or plain_name(one) == plain_name(other):
        return True
    return _may_abbreviate(one, other) or _may_abbreviate(other, one)


@lru_cache(maxsize=1 << 14)
def _split_name(name: str) -> frozenset[str]:
    """Return the plain words of a name without a plural s, cut to their stems."""
    words = (plain_name(word).rstrip("s") for word in re.split(r"[\s/‐‑–-]+", name))  # noqa: RUF001
    return frozenset(word[:_STEM] if word.isalpha() else word for word in words if word)


def _may_abbreviate(short: str, name: str) -> bool:
    """Return whether the letters of a short name with a capital stand in a longer one in order.

    All digits are the same: IL-2 is not interleukin-4. So is the first letter, unless one stands
    before it for the species: hTAFII250.

    Source: the order of letters is that of Schwartz and Hearst (2003).
    """
    letters, long = plain_name(short), plain_name(name)
    if short.islower() or not 1 < len(letters) <= min(len(long), _SHORT):
        return False
    if re.findall(r"\d+", letters) != re.findall(r"\d+", long):
        return False
    if letters[0] != long[0]:
        return long[1:] == letters
    rest = iter(long)
    return all(letter in rest for letter in letters)


def is_general(name: str) -> bool:
    """Return whether a name says nothing but a kind of thing: injury, side effects.

    What holds for an entity may hold for its kind.
    """
    kinds = word_list("general names")
    words = re.findall(r"\w+", name.lower())
    return all(word in kinds or word.removesuffix("s") in kinds for word in words)


def may_hold_for(mechanism: Mechanism, entity: str, kept: str, name: str) -> bool:
    """Return whether the abstract may say of a name what the conclusion says of an entity.

    It may where a supporting sentence has the name beside the entity that stays, or in one list
    with the entity that it would replace: what is said of one often holds for the other.

    Args:
        mechanism: The mechanism.
        entity: The entity that would be replaced.
        kept: The one that stays.
        name: The name that would replace it.
    """
    listed = _between(entity, name, " ".join(mechanism.supporting))
    return any(map(_LISTED.fullmatch, listed)) or any(
        find_name(name, sentence, ignore_case=True) and find_name(kept, sentence, ignore_case=True)
        for sentence in mechanism.supporting
    )


def is_mutual(mechanism: Mechanism) -> bool:
    """Return whether a sentence says of both entities that they act on each other."""
    return any(
        _MUTUAL.search(sentence) and all(find_name(name, sentence) for name in mechanism.names)
        for sentence in mechanism.sentences
    )


def _between(one: str, other: str, text: str) -> Iterator[str]:
    """Yield what stands between two names, for each two of their mentions that are near."""
    folded = fold_text(text)
    if one.casefold() not in folded or other.casefold() not in folded:
        return
    others = find_name(other, text, ignore_case=True)
    for a in find_name(one, text, ignore_case=True):
        for b in others:
            early, late = sorted((a.span(), b.span()))
            if late[0] - early[1] <= _REACH:
                yield text[early[1] : late[0]]
