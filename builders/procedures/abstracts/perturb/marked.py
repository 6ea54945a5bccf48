"""Conclusions with the offsets of their two marked entities."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .....loaders.corpora.abstracts.markers import MARKER, REGULATED, REGULATOR
from ..mechanisms.mechanism import Mechanism
from .names import find_name

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

    def name_at(self, place: EntityPlace) -> str:
        """Return the name at a place."""
        return self.text[place.name_start : place.name_end]


@lru_cache(maxsize=1)  # the strategies read the same conclusion one after the other
def locate_entities(mechanism: Mechanism) -> MarkedSentence | None:
    """Find the marked entities of a mechanism's conclusion, and mask all names in it.

    Args:
        mechanism: The mechanism. Well formed are exactly one ``<re> X <er>`` and one
            ``<el> Y <le>``, with one space inside the markers, neither in the other, around the
            mechanism's two names.

    Returns:
        The sentence with its places; None where the markers are not well formed.
    """
    text = mechanism.conclusion
    places = find_places(text)
    if places is None:
        return None
    regulator, regulated = places
    masked = _mask(text, [(place.start, place.end) for place in places])
    others = {mention.text for mention in mechanism.mentions}
    masked = mask_names(masked, {*others, mechanism.regulator, mechanism.regulated})
    marked = MarkedSentence(text, regulator, regulated, masked)
    names = (marked.name_at(regulator), marked.name_at(regulated))
    return marked if names == (mechanism.regulator, mechanism.regulated) else None


def find_places(text: str) -> tuple[EntityPlace, EntityPlace] | None:
    """Find the places of regulator and regulated entity; None where markers are malformed."""
    if len(MARKER.findall(text)) != 2 * len(MARKERS):
        return None
    found = [pattern.search(text) for pattern in _PLACES.values()]
    if found[0] is None or found[1] is None:
        return None
    if any(MARKER.search(match[1]) for match in found if match is not None):
        return None
    regulator, regulated = (
        EntityPlace(match.start(1), match.end(1), match.start(), match.end())
        for match in found
        if match is not None
    )
    return regulator, regulated


def _mask(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + NAME * (end - start) + text[end:]
    return text


def mask_names(text: str, names: Iterable[str]) -> str:
    """Replace whole names by ``NAME`` characters, longer ones first: IL-6 receptor, IL-6."""
    for name in sorted({n for n in names if n.strip()}, key=lambda n: (-len(n), n)):
        text = _mask(text, (match.span() for match in find_name(name, text)))
    return text
