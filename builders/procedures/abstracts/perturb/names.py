"""Names of entities: where they stand, and whether two may be of one entity."""

import re
import unicodedata
from functools import lru_cache

_AMONG = r"(?:[^()]*[^()\w])?"  # GAP-43 (neuromodulin, B-50)


def find_name(name: str, text: str, *, ignore_case: bool = False) -> list[re.Match[str]]:
    """Find a name where it stands as a whole: not IL-1 in IL-10, yet p53 in p53-dependent.

    Args:
        name: The name.
        text: The text to search.
        ignore_case: Whether letters match in either case.

    Returns:
        The matches, in the order of the text.
    """
    # Most names are not in most texts, and compiling takes a hundred times as long as a look.
    is_there = name.casefold() in text.casefold() if ignore_case else name in text
    flags = re.IGNORECASE if ignore_case else 0
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    return list(re.finditer(pattern, text, flags)) if is_there else []


@lru_cache(maxsize=1 << 14)
def plain_name(name: str) -> str:
    r"""Reduce a name to what all its spellings share: no case, Greek letters, dashes or spaces.

    >>> plain_name("TNF-\N{GREEK SMALL LETTER ALPHA}"), plain_name("Tnf alpha")
    ('tnfalpha', 'tnfalpha')
    """
    spelled = "".join(_spell_greek(c) for c in name.casefold())
    return "".join(c for c in spelled if c.isalnum())


def _spell_greek(character: str) -> str:
    if character.isascii():
        return character
    words = unicodedata.name(character, "").lower().split()
    return words[-1].replace("lamda", "lambda") if words[:1] == ["greek"] else character


def may_be_same(one: str, other: str, text: str) -> bool:
    """Return whether two names may be of one entity.

    They may where they differ only in spelling, where the words of one are among those of the other
    (IL-6 and IL-6 protein), where one may abbreviate the other (TBP and TATA box binding protein),
    or where the text gives one in brackets after the other, perhaps among more.

    Args:
        one: The first name.
        other: The second name.
        text: The text that may mention both.
    """
    words, other_words = _split_name(one), _split_name(other)
    if "".join(words) == "".join(other_words) or set(words) <= set(other_words):
        return True
    if set(other_words) <= set(words) or _abbreviates(one, other_words):
        return True
    if _abbreviates(other, words):
        return True
    a, b = re.escape(one), re.escape(other)
    return _is_found(one, other, rf"{a} ?\({_AMONG}{b}(?!\w)|{b} ?\({_AMONG}{a}(?!\w)", text)


@lru_cache(maxsize=1 << 14)
def _split_name(name: str) -> tuple[str, ...]:
    """Split a name into plain words without a plural s."""
    words = [plain_name(word).rstrip("s") for word in re.split(r"[\s/‐‑–-]+", name)]  # noqa: RUF001
    return tuple(word for word in words if word)


def _abbreviates(name: str, words: tuple[str, ...]) -> bool:
    """Return whether the letters of a name begin two or more of the words, in their order.

    A word may be skipped, as in TBP for TATA box binding protein, or give several letters, as in
    ATM for AT mutated.
    """
    letters = "".join(c for c in plain_name(name) if c.isalpha())
    reached = {(0, 0)}  # pairs: letters matched, words that gave some
    for word in words:
        reached |= {
            (n_letters + n, n_words + 1)
            for n_letters, n_words in reached
            for n in range(1, len(word) + 1)
            if letters.startswith(word[:n], n_letters)
        }
    return any(n_letters == len(letters) and n_words > 1 for n_letters, n_words in reached)


def stand_together(one: str, other: str, text: str) -> bool:
    """Return whether a text names two entities side by side, as in ``TNF and IL-1``.

    What it says of one then often holds for the other.

    Args:
        one: The name of the first entity.
        other: The name of the second entity.
        text: The text that may mention both.
    """
    a, b = re.escape(one), re.escape(other)
    join = r"(?:,|,? and|,? or|/| and/or| as well as)"
    return _is_found(one, other, rf"(?:{a}{join} ?{b}|{b}{join} ?{a})(?!\w)", text)


def _is_found(one: str, other: str, pattern: str, text: str) -> bool:
    """Return whether a text has a pattern of two names; compile it only where both occur."""
    folded = text.casefold()
    if one.casefold() not in folded or other.casefold() not in folded:
        return False
    return re.search(rf"(?<!\w)(?:{pattern})", text, re.IGNORECASE) is not None
