"""Names of entities: where they stand in a conclusion, and whether two may be of one entity."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .....loaders.corpora.abstracts.markers import MARKER, REGULATED, REGULATOR
from ..mechanisms.mechanism import Mechanism

#: The markers of the regulator and of the regulated entity.
MARKERS = {"regulator": REGULATOR, "regulated": REGULATED}
#: Replaces every character of an entity, so that no rule looks inside a name. A private-use
#: character: not a letter, digit or space.
NAME = "\ue000"
_PLACES = {
    role: re.compile(f"{opens} (\\S|\\S.*?\\S) {closes}")
    for role, (opens, closes) in MARKERS.items()
}


@dataclass(frozen=True, slots=True)
class EntityPlace:
    """The offsets of a marked entity: of its name, and of the name with its markers."""

    name_start: int
    name_end: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence with two marked entities.

    Attributes:
        text: The sentence with its markers.
        regulator: The place of the regulator.
        regulated: The place of the regulated entity.
        masked: The text with ``NAME`` for each character of an entity or a marker; of equal length.
    """

    text: str
    regulator: EntityPlace
    regulated: EntityPlace
    masked: str

    @property
    def in_order(self) -> tuple[EntityPlace, EntityPlace]:
        """Return the two places in the order of the sentence."""
        first, second = sorted((self.regulator, self.regulated), key=lambda place: place.start)
        return first, second

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of the regulator and of the regulated entity."""
        return self.name_at(self.regulator), self.name_at(self.regulated)

    def name_at(self, place: EntityPlace) -> str:
        """Return the name at a place."""
        return self.text[place.name_start : place.name_end]


@lru_cache(maxsize=1)  # the strategies read the same conclusion one after the other
def locate_entities(mechanism: Mechanism) -> MarkedSentence | None:
    """Find the marked entities of a mechanism's conclusion, and mask all names in it.

    Returns:
        The sentence with its places; None unless it has exactly one ``<re> X <er>`` and one
        ``<el> Y <le>``, with one space inside the markers, neither in the other, around the
        mechanism's two names.
    """
    text = mechanism.conclusion
    places = find_places(text)
    if places is None:
        return None
    regulator, regulated = places
    masked = _mask(text, [(place.start, place.end) for place in places])
    others = {mention.text for mention in mechanism.mentions}
    masked = mask_names(masked, {*others, *mechanism.names})
    marked = MarkedSentence(text, regulator, regulated, masked)
    return marked if marked.names == mechanism.names else None


def find_places(text: str) -> tuple[EntityPlace, EntityPlace] | None:
    """Find the places of regulator and regulated entity; None where markers are malformed."""
    if len(MARKER.findall(text)) != 2 * len(MARKERS):
        return None
    regulator, regulated = (_find_place(pattern, text) for pattern in _PLACES.values())
    return None if regulator is None or regulated is None else (regulator, regulated)


def _find_place(pattern: re.Pattern[str], text: str) -> EntityPlace | None:
    match = pattern.search(text)
    if match is None or MARKER.search(match[1]):
        return None
    return EntityPlace(match.start(1), match.end(1), match.start(), match.end())


def _mask(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + NAME * (end - start) + text[end:]
    return text


def mask_names(text: str, names: Iterable[str]) -> str:
    """Replace whole names by ``NAME`` characters, longer ones first: IL-6 receptor, IL-6."""
    for name in sorted({n for n in names if n.strip()}, key=lambda n: (-len(n), n)):
        text = _mask(text, (match.span() for match in find_name(name, text)))
    return text


_AMONG = r"(?:[^()]*[^()\w])?"  # GAP-43 (neuromodulin, B-50)


def find_name(name: str, text: str, *, ignore_case: bool = False) -> list[re.Match[str]]:
    """Find a name where it stands as a whole: not IL-1 in IL-10, yet p53 in p53-dependent."""
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
    """
    words, other_words = _split_name(one), _split_name(other)
    if (
        "".join(words) == "".join(other_words)
        or set(words) <= set(other_words)
        or set(other_words) <= set(words)
        or _abbreviates(one, other_words)
        or _abbreviates(other, words)
    ):
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
