"""The base of the strategies: named ways to turn a conclusion into one that does not follow."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, TypeVar

from ....core.keyed import keyed_number
from ..mechanisms.mechanism import Mechanism
from .names import MarkedSentence, find_places, locate_entities

#: Why no strategy takes a conclusion whose markers are not as expected.
BROKEN_MARKERS = "the markers are broken or not around the two entities"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choices:
    """Random choices of a strategy for an abstract, hashed from the three names alone.

    Attributes:
        seed: Seed of every choice.
        pmid: PubMed id of the abstract.
        strategy: Name of the strategy.
    """

    seed: int
    pmid: str
    strategy: str

    def draw(self, purpose: str) -> int:
        """Draw a number of 64 bits for a purpose."""
        return keyed_number(self.seed, "perturb", f"{self.pmid}\0{self.strategy}\0{purpose}")

    def shuffle(self, options: Sequence[T], purpose: str) -> list[T]:
        """Return the options in a random order; the first is the one to take."""
        order = sorted(range(len(options)), key=lambda i: self.draw(f"{purpose}:{i}"))
        return [options[i] for i in order]


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """A replacement of the text between two offsets by new text."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A conclusion that was made wrong.

    Attributes:
        text: The sentence, markers included.
        detail: The changes for a reader, e.g. ``"increase -> decrease"``.
        edits: The changes, by offsets in the positive; they do not overlap.
    """

    text: str
    detail: str
    edits: tuple[TextEdit, ...]

    @classmethod
    def of(cls, conclusion: str, edits: Iterable[TextEdit]) -> "Perturbed":
        """Apply edits to a conclusion.

        Args:
            conclusion: The positive.
            edits: The changes, which must not overlap; those that change nothing are left out.
        """
        real = sorted(e for e in edits if conclusion[e.start : e.end] != e.new)
        parts, details, end = [], [], 0
        for edit in real:
            parts += [conclusion[end : edit.start], edit.new]
            old = conclusion[edit.start : edit.end].strip()
            details.append(f"{old} -> {edit.new or '(nothing)'}")
            end = edit.end
        return cls("".join(parts) + conclusion[end:], "; ".join(details), tuple(real))


@dataclass(frozen=True, slots=True)
class NoNegative:
    """Why a strategy, or a model, makes no negative of a mechanism.

    Attributes:
        reason: One of the ``reasons`` of the strategy or kind.
    """

    reason: str


#: Yields negatives in the order in which they are drawn; where there are none, returns the reason.
Proposals = Generator[Perturbed, None, str | None]


class Strategy(ABC):
    """A way to make a conclusion wrong.

    Attributes:
        name: The paper's name, e.g. ``"SEN"``; a category of the dataset.
        otherwise: The reason where it finds nothing to change.
        others: Further reasons of its own.
    """

    name: ClassVar[str]
    otherwise: ClassVar[str]
    others: ClassVar[tuple[str, ...]] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return all reasons for which it may make no negative."""
        return (BROKEN_MARKERS, *self.others, self.otherwise)

    def propose(self, mechanism: Mechanism, choices: Choices) -> Iterator[Perturbed] | NoNegative:
        """Propose negatives in every possible way, in the order in which they are drawn.

        Args:
            mechanism: The positive.
            choices: The random choices for its abstract.

        Returns:
            One negative or more, all different from the positive; or why there is none.
        """
        marked = locate_entities(mechanism)
        if marked is None:
            return NoNegative(BROKEN_MARKERS)

        def is_negative(one: Perturbed) -> bool:
            return one.text != mechanism.conclusion and find_places(one.text) is not None

        proposals = self._propose(marked, mechanism, choices)
        while True:
            try:
                one = next(proposals)
            except StopIteration as end:
                return NoNegative(end.value or self.otherwise)
            if is_negative(one):
                return chain([one], filter(is_negative, proposals))

    @abstractmethod
    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        """Propose changes of a well-formed conclusion, in the order in which they are drawn."""
