"""What every strategy is: a named way to turn a conclusion into one that does not follow."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import ClassVar, TypeVar

from ....core.keyed import key_of
from ..mechanisms.mechanism import Mechanism
from .marked import MarkedSentence, find_places, read_marked

#: Why any strategy refuses a conclusion whose markers are not those that are expected.
BROKEN_MARKERS = "the markers are broken or not around the two entities"
#: Why it refuses where nothing of what it proposes can be taken.
UNCHANGED = "it proposes nothing but the sentence itself or one with broken markers"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choices:
    """What a strategy draws for an abstract: a hash of these three names.

    Attributes:
        seed: Another one gives other choices.
        pmid: The abstract.
        strategy: The strategy's name.
    """

    seed: int
    pmid: str
    strategy: str

    def draw(self, purpose: str) -> int:
        """A number of 64 bits for a purpose."""
        text = "\0".join((self.pmid, self.strategy, purpose))
        return key_of(self.seed, "perturb", text)

    def arrange(self, options: Sequence[T], purpose: str) -> list[T]:
        """The options in a random order, the first of them the one to take."""
        order = sorted(range(len(options)), key=lambda i: self.draw(f"{purpose}:{i}"))
        return [options[i] for i in order]


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """A change of a text: what stands between two offsets becomes something else."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A conclusion that was made wrong.

    Attributes:
        text: The sentence, markers included.
        detail: What was changed into what, for a reader, e.g. ``"increase -> decrease"``.
        edits: The changes, by offsets in the positive; they do not overlap.
    """

    text: str
    detail: str
    edits: tuple[Edit, ...]

    @classmethod
    def of(cls, conclusion: str, edits: Iterable[Edit]) -> "Perturbed":
        """Applies edits that do not overlap.

        Args:
            conclusion: The positive.
            edits: The changes; those that change nothing are left out.
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
    """A strategy yields nothing.

    Attributes:
        reason: One of the strategy's ``reasons``.
    """

    reason: str


class Strategy(ABC):
    """A way to make a conclusion wrong.

    Attributes:
        name: As the paper calls it, e.g. ``"SEN"``; a category of the dataset.
        section: Where the paper has it.
        precondition: What a mechanism needs for it.
        otherwise: Why it yields nothing where it finds nothing to do.
        others: Other reasons of its own.
    """

    name: ClassVar[str]
    section: ClassVar[str] = "BioNLI, section 3.3.1"
    precondition: ClassVar[str]
    otherwise: ClassVar[str]
    others: ClassVar[tuple[str, ...]] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """All reasons for which it may refuse."""
        return (BROKEN_MARKERS, *self.others, self.otherwise, UNCHANGED)

    def perturb(self, mechanism: Mechanism, choices: Choices) -> Perturbed | NoNegative:
        """Changes the conclusion in one way, drawn where there are several.

        Args:
            mechanism: The positive.
            choices: What decides the draw.
        """
        found = self.propose(mechanism, choices)
        return found if isinstance(found, NoNegative) else next(found)

    def perturb_all(
        self, mechanism: Mechanism, choices: Choices, limit: int | None = None
    ) -> tuple[Perturbed, ...] | NoNegative:
        """Changes the conclusion in all ways that there are, in the order in which they are drawn.

        The dataset itself takes one of each strategy: its Tables 2 and 3 have as many SEN as
        positives where "each instance is perturbed as many times as possible".

        Args:
            mechanism: The positive.
            choices: What decides the order.
            limit: How many at most; None means all.
        """
        found = self.propose(mechanism, choices)
        return found if isinstance(found, NoNegative) else tuple(islice(found, limit))

    def propose(self, mechanism: Mechanism, choices: Choices) -> Iterator[Perturbed] | NoNegative:
        """What ``perturb_all`` gives, one at a time; at least one, all differ from the positive."""
        marked = read_marked(mechanism)
        if marked is None:
            return NoNegative(BROKEN_MARKERS)
        found = self._propose(marked, mechanism, choices)
        if isinstance(found, NoNegative):
            return found
        proposals = iter(found)
        first = next(proposals, None)
        if first is None:
            return NoNegative(self.otherwise)
        good = (
            p
            for p in chain([first], proposals)
            if p.text != mechanism.conclusion and find_places(p.text) is not None
        )
        one = next(good, None)
        return NoNegative(UNCHANGED) if one is None else chain([one], good)

    @abstractmethod
    def _propose(
        self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices
    ) -> Iterable[Perturbed] | NoNegative:
        """The ways to change a well-formed conclusion, in the order in which they are drawn."""
