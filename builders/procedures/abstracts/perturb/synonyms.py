"""Whether two names may be of one entity, or of one kind and a part of it.

Concept ids decide where they are known and equal. Names decide besides: two ids may be of a disease
and its kind, and few corpora annotate every mention.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from .grammar import word_list
from .names import find_name, fold_text, plain_name

#: Between a name and another of the same entity: GAP-43 (neuromodulin, B-50).
_IN_BRACKETS = re.compile(r" ?\((?:[^()]*[^()\w])?")
_JOIN = r"(?:\s*(?:,? and/or|,? and|,? or|, as well as| as well as|/|,|\+|-and-))"
_LISTED = re.compile(rf"(?:{_JOIN} ?[^\s,;.()]+(?: [^\s,;.()]+)?){{0,4}}?{_JOIN} ?", re.IGNORECASE)
_REACH = 120
_DERIVED = re.compile(
    r"(?:icit(?:y|ie)|otic|osi|emia|emic|ism|ian|ive|ion|ia|ic|ical|tic|ed|ity|ou|al|y|e|a)$"
)
_MIN_STEM = 5
#: Letters at a gene's name that make its receptor or ligand of it, not a kind: IL-2R, FasL.
_PARTNERS = ("r", "l")
_SPECIES = "hmrbdpy"
_MAX_KIND = 3


def may_be_same(one: str, other: str, text: str) -> bool:
    """Return whether two names may be of one entity.

    They may where they differ only in spelling, where the words of one are among those of the other
    (IL-6 and IL-6 protein), where their words are derived from one stem (nephrotoxic,
    nephrotoxicity), where one may abbreviate the other (TBP and TATA box binding protein; RB and
    retinoblastoma), where one is a kind of the other by a letter more (Cdc25, Cdc25A), or where the
    text gives one in brackets after the other, perhaps among more.
    """
    if _are_alike(*sorted((one, other))):
        return True
    return any(_IN_BRACKETS.fullmatch(between) for between in _between(one, other, text))


@lru_cache(maxsize=1 << 15)
def _are_alike(one: str, other: str) -> bool:
    words, other_words = _split_name(one), _split_name(other)
    stems, other_stems = ({_stem(word) for word in some} for some in (words, other_words))
    joined, other_joined = "".join(words), "".join(other_words)
    return (
        joined == other_joined
        or stems <= other_stems
        or other_stems <= stems
        or _is_kind(joined, other_joined)
        or _is_kind(other_joined, joined)
        or _abbreviates(one, other_words)
        or _abbreviates(other, words)
        or _shortens(one, other)
        or _shortens(other, one)
    )


@lru_cache(maxsize=1 << 14)
def _split_name(name: str) -> tuple[str, ...]:
    """Split a name into plain words without a plural s."""
    words = [plain_name(word).rstrip("s") for word in re.split(r"[\s/‐‑–-]+", name)]  # noqa: RUF001
    return tuple(word for word in words if word)


def _stem(word: str) -> str:
    stem = _DERIVED.sub("", word)
    return stem if len(stem) >= _MIN_STEM and word.isalpha() else word


def _is_kind(name: str, longer: str) -> bool:
    """Return whether a name has a digit and a longer one adds a letter or two: Cdc25, Cdc25A."""
    if len(longer) == len(name) + 1 and longer[1:] == name:
        return name[-1:].isdigit() and longer[0] in _SPECIES  # hTAFII250
    rest = longer.removeprefix(name)
    return (
        rest != longer
        and name[-1:].isdigit()
        and rest.isalpha()
        and (len(rest) <= _MAX_KIND or rest in ("alpha", "beta", "gamma", "delta"))
        and rest not in _PARTNERS
    )


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


def _shortens(short: str, name: str) -> bool:
    """Return whether capitals stand in a longer name in their order: RB, retinoblastoma.

    The first letters are the same, as are all digits: IL-2 is not interleukin-4. So that RB is not
    rhabdoid tumor bank, the letters come from the first word alone, or from the first and the rest
    written out: LTbetaR, lymphotoxin beta receptor.

    Source: the order of letters is that of Schwartz and Hearst (2003).
    """
    letters, long = plain_name(short), plain_name(name)
    if len(short) > 1 and not short[:2].isupper():
        return False
    if re.findall(r"\d+", letters) != re.findall(r"\d+", long) or letters[:1] != long[:1]:
        return False
    if 2 * len(letters) > len(long) + 4 or not re.match(r"[^\W\d_]{6}", name):
        return False
    at = 0
    for letter in letters:
        at = long.find(letter, at) + 1
        if not at:
            return False
    return True


def is_general(name: str) -> bool:
    """Return whether a name says nothing but a kind of thing: injury, side effects.

    What holds for an entity may hold for its kind.
    """
    kinds = word_list("general names")
    words = re.findall(r"\w+", name.lower())
    return all(word in kinds or word.removesuffix("s") in kinds for word in words)


def stand_together(one: str, other: str, text: str) -> bool:
    """Return whether a text names two entities in one list: TNF and IL-1; aspirin, zinc, or iron.

    What it says of one then often holds for the other.
    """
    return any(_LISTED.fullmatch(between) for between in _between(one, other, text))


def _between(one: str, other: str, text: str) -> Iterator[str]:
    """Yield what stands between two names, for each two of their mentions."""
    folded = fold_text(text)
    if one.casefold() not in folded or other.casefold() not in folded:
        return
    others = find_name(other, text, ignore_case=True)
    for a in find_name(one, text, ignore_case=True):
        for b in others:
            early, late = sorted((a.span(), b.span()))
            if late[0] - early[1] <= _REACH:
                yield text[early[1] : late[0]]
