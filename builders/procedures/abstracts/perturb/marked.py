"""Conclusions with their two marked entities, as text with places."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .....loaders.corpora.abstracts.markers import MARKER, REGULATED, REGULATOR
from ..mechanisms.mechanism import Mechanism
from .names import find_name

#: The markers of the regulator and of the regulated entity.
MARKERS = {"regulator": REGULATOR, "regulated": REGULATED}
#: Stands for every character of an entity, so that no rule sees into a name. It is of Unicode's
#: private use and no letter, digit or blank.
NAME = "\ue000"
_PLACES = {
    role: re.compile(f"{opens} (\\S|\\S.*?\\S) {closes}")
    for role, (opens, closes) in MARKERS.items()
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a marked entity stands: offsets of its name and of the whole with its markers."""

    name_start: int
    name_end: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence with two marked entities.

    Attributes:
        text: The sentence with its markers.
        regulator: Where the regulator stands.
        regulated: Where the regulated entity stands.
        masked: The text with ``NAME`` for each character of an entity or a marker; as long.
    """

    text: str
    regulator: Place
    regulated: Place
    masked: str

    @property
    def in_order(self) -> tuple[Place, Place]:
        """The two places, the first in the sentence first."""
        first, second = sorted((self.regulator, self.regulated), key=lambda place: place.start)
        return first, second

    def name_at(self, place: Place) -> str:
        """The name at a place."""
        return self.text[place.name_start : place.name_end]


@lru_cache(maxsize=1)  # the strategies ask for the same one after the other
def read_marked(mechanism: Mechanism) -> MarkedSentence | None:
    """Finds the markers of a mechanism's conclusion; None where they are not well formed.

    Well formed are exactly one ``<re> X <er>`` and one ``<el> Y <le>`` with one blank inside the
    markers, neither in the other, around the names that the mechanism has.
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


def find_places(text: str) -> tuple[Place, Place] | None:
    """The places of regulator and regulated entity; None where the markers are not well formed."""
    if len(MARKER.findall(text)) != 2 * len(MARKERS):
        return None
    found = [pattern.search(text) for pattern in _PLACES.values()]
    if found[0] is None or found[1] is None:
        return None
    if any(MARKER.search(match[1]) for match in found if match is not None):
        return None
    regulator, regulated = (
        Place(match.start(1), match.end(1), match.start(), match.end())
        for match in found
        if match is not None
    )
    return regulator, regulated


def _mask(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + NAME * (end - start) + text[end:]
    return text


def mask_names(text: str, names: Iterable[str]) -> str:
    """Puts ``NAME`` for each character of whole names, longer ones first: IL-6 receptor, IL-6."""
    for name in sorted({n for n in names if n.strip()}, key=lambda n: (-len(n), n)):
        text = _mask(text, (match.span() for match in find_name(name, text)))
    return text
