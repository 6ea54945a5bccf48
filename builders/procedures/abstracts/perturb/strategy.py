"""The base of the strategies: named ways to turn a conclusion into one that does not follow."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from .....loaders.errors import UsageError
from ....core.keyed import keyed_number
from ..mechanisms.mechanism import Mechanism
from .names import MarkedSentence, TextEdit, find_places, locate_entities, names_both

#: Why no strategy takes a conclusion whose markers are not as expected.
BROKEN_MARKERS = "the markers are broken or not around the two entities"
#: Why no negative is made of what was proposed, or written.
SAME_AS_POSITIVE = "equals the positive"
SAME_AS_ANOTHER = "equals another negative"
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
            conclusion: The original conclusion.
            edits: The changes, which must not overlap; those that change nothing are left out.
        """
        real = sorted(e for e in edits if conclusion[e.start : e.end] != e.new)
        parts, details, end = [], [], 0
        for edit in real:
            parts += [conclusion[end : edit.start], edit.new]
            old = conclusion[edit.start : edit.end].strip()
            details.append(f"{old} -> {edit.new}")
            end = edit.end
        return cls("".join(parts) + conclusion[end:], "; ".join(details), tuple(real))


@dataclass(frozen=True, slots=True)
class NoNegative:
    """Why a strategy, or a model, makes no negative of a mechanism.

    Attributes:
        reason: The reason, in a few words; the same for all of its kind.
    """

    reason: str


#: Negatives in the order in which they are drawn, and reasons why there are no more of them.
Proposals = Iterator[Perturbed | str]


class Strategy(ABC):
    """A way to make a conclusion wrong.

    Attributes:
        name: The paper's name, e.g. ``"SEN"``; a category of the dataset.
        otherwise: The reason where it finds nothing to change.
    """

    name: ClassVar[str]
    otherwise: ClassVar[str]

    def propose(
        self,
        mechanism: Mechanism,
        choices: Choices,
        *,
        limit: int | None = None,
        taken: Collection[str] = (),
    ) -> tuple[Perturbed, ...] | NoNegative:
        """Make negatives, in the order in which they are drawn.

        Args:
            mechanism: The positive.
            choices: The random choices for its abstract.
            limit: Greatest number of negatives; None means all.
            taken: Texts of other negatives, which it does not make.

        Returns:
            One negative or more, all different from the positive; or why there is none.
        """
        marked = locate_entities(mechanism)
        if marked is None:
            return NoNegative(BROKEN_MARKERS)
        reason, is_taken = self.otherwise, False
        made: dict[str, Perturbed] = {}
        for one in self._propose(marked, mechanism, choices):
            if isinstance(one, str):
                reason = one
            elif one.text in taken:
                is_taken = True
            elif one.text != mechanism.conclusion and find_places(one.text) is not None:
                made.setdefault(one.text.casefold(), one)
                if len(made) == limit:
                    break
        return tuple(made.values()) or NoNegative(SAME_AS_ANOTHER if is_taken else reason)

    @abstractmethod
    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        """Propose changes of a well-formed conclusion, in the order in which they are drawn."""


@dataclass(frozen=True, slots=True)
class Negatives(Generic[T]):
    """The negatives of a mechanism by each strategy, or why there is none.

    Attributes:
        made: The negative, or the tuple of all, by strategy, in the order of the strategies.
        refused: The reason by strategy, for those without a negative.
    """

    made: dict[str, T]
    refused: dict[str, NoNegative]


def perturb_mechanism(
    mechanism: Mechanism, strategies: Iterable[Strategy], seed: int
) -> Negatives[Perturbed]:
    """Make one negative of a mechanism by each strategy; see ``perturb_mechanism_all``.

    So does BioNLI: its Tables 2 and 3 have as many SEN as positives where "each instance is
    perturbed as many times as possible".
    """
    found = perturb_mechanism_all(mechanism, strategies, seed, limit=1)
    return Negatives({name: made[0] for name, made in found.made.items()}, found.refused)


def perturb_mechanism_all(
    mechanism: Mechanism, strategies: Iterable[Strategy], seed: int, *, limit: int | None = None
) -> Negatives[tuple[Perturbed, ...]]:
    """Make all negatives of a mechanism by each strategy.

    Where a proposal equals another negative, the strategy's next proposal is taken. Strategies
    choose in the order of their names, whatever order they are given in.

    Args:
        mechanism: The positive.
        strategies: The strategies, each name once.
        seed: Seed of every choice, together with the pmid and the strategy's name.
        limit: Greatest number of negatives by one strategy; None means all.

    Returns:
        Each strategy's negatives, or why it made none.

    Raises:
        UsageError: Two strategies have one name, or the limit is less than 1.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"The limit is {limit} negatives by one strategy; expected 1 or more.")
    given = list(strategies)
    by_name = {strategy.name: strategy for strategy in given}
    if len(by_name) < len(given):
        names = ", ".join(strategy.name for strategy in given)
        raise UsageError(f"The strategies are {names}; expected each once.")
    taken: set[str] = set()
    made, refused = {}, {}
    for name in sorted(by_name):
        choices = Choices(seed, mechanism.pmid, name)
        one = by_name[name].propose(mechanism, choices, limit=limit, taken=taken)
        if isinstance(one, NoNegative):
            refused[name] = one
        else:
            made[name] = one
            taken.update(negative.text for negative in one)
    return Negatives(
        {name: made[name] for name in by_name if name in made},
        {name: refused[name] for name in by_name if name in refused},
    )


#: Why a sentence is not changed that states something of some cases, or at some times.
PARTIAL = "the sentence is about part of the cases, and its opposite may be true of others"
#: Words of part of the cases: in some patients, often.
PARTLY = re.compile(
    r"(?:%|percent|per cent) of\b|\bin \d|\d ?(?:/|(?:out )?of(?: the)?) ?\d"
    r"|\b(?:in (?:one|two|three)|thirds?|quarters?|cases|some|several|many|various|selected|certain"
    r"|few|others|often|frequently|usually|generally|typically|commonly|sometimes|occasionally"
    r"|somewhere|somewhat|part|partly|partially|mainly|largely|half|halves|subsets?|proportion"
    r"|portion|fraction|majority|minority|at times|isoforms? of"
    r"|one (?:study|trial|report|case|patient|group))\b",
    re.IGNORECASE,
)
#: Why a sentence is not changed into one that the abstract may state.
SUPPORTED = "a supporting sentence of both entities may say so"


def is_supported(mechanism: Mechanism, says: Callable[[str], bool]) -> bool:
    """Return whether a supporting sentence that names both entities says something."""
    return any(
        names_both(mechanism, sentence) and says(sentence) for sentence in mechanism.supporting
    )
