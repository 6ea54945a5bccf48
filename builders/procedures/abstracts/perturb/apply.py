"""The seven strategies, applied to mechanisms so that all negatives of one differ."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from .....loaders.errors import UsageError
from ..mechanisms.mechanism import Mechanism
from .negate import Negate
from .replace_entities import EntityPool, ReplaceInside, ReplaceOutside
from .reverse_polarity import Antonyms, ReversePolarity
from .strategy import Choices, NoNegative, Perturbed, Strategy
from .swap_entities import SwapNames, SwapPositions
from .swap_number import SwapNumber

#: The names of the seven, in the paper's order.
NAMES = ("SEN", "SEP", "SRE", "SREO", "VNeg", "SN", "LPR")


def make_strategies(pool: EntityPool, antonyms: Antonyms | None = None) -> dict[str, Strategy]:
    """Make BioNLI's seven rule-based strategies, by name in its order, with their default options.

    Args:
        pool: The entities that SREO draws from.
        antonyms: The terms that LPR changes; None takes the package's.

    Source:
        BioNLI, section 3.3.1.
    """
    strategies: tuple[Strategy, ...] = (
        SwapNames(),
        SwapPositions(),
        ReplaceInside(),
        ReplaceOutside(pool),
        Negate(),
        SwapNumber(),
        ReversePolarity(antonyms),
    )
    return {strategy.name: strategy for strategy in strategies}


#: Why no negative is made of what was proposed, or written.
SAME_AS_POSITIVE = "equals the positive"
SAME_AS_ANOTHER = "equals another negative"
T = TypeVar("T")


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
    chosen = list(strategies)
    names = [strategy.name for strategy in chosen]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"Strategies are given twice: {', '.join(twice)}; expected each name once."
        )
    taken: set[str] = set()
    outcomes: dict[str, tuple[Perturbed, ...] | NoNegative] = {}
    for strategy in sorted(chosen, key=lambda s: s.name):
        found = strategy.propose(mechanism, Choices(seed, mechanism.pmid, strategy.name))
        if isinstance(found, NoNegative):
            outcomes[strategy.name] = found
            continue
        new: dict[str, Perturbed] = {}
        for one in found:
            if one.text not in taken:
                new.setdefault(one.text, one)
            if len(new) == limit:
                break
        taken |= new.keys()
        outcomes[strategy.name] = tuple(new.values()) or NoNegative(SAME_AS_ANOTHER)
    return Negatives(
        {n: o for n in names if not isinstance(o := outcomes[n], NoNegative)},
        {n: o for n in names if isinstance(o := outcomes[n], NoNegative)},
    )


def list_negatives(
    mechanism: Mechanism, found: Negatives[tuple[Perturbed, ...]]
) -> Iterator[dict[str, Any]]:
    """List the negatives of a mechanism as records, one for each line of JSON.

    They are in the order of the strategies and of drawing. The ``id`` joins pmid and strategy, and
    from the second negative of a strategy on its number; ``edits`` have character offsets in
    ``positive``.
    """
    for strategy, made in found.made.items():
        for number, perturbed in enumerate(made, start=1):
            name = f"{mechanism.pmid}-{strategy}"
            yield {
                "id": name if number == 1 else f"{name}-{number}",
                "pmid": mechanism.pmid,
                "strategy": strategy,
                "premise": " ".join(mechanism.supporting),
                "positive": mechanism.conclusion,
                "negative": perturbed.text,
                "detail": perturbed.detail,
                "edits": [asdict(edit) for edit in perturbed.edits],
                "regulator": mechanism.regulator,
                "regulated": mechanism.regulated,
            }
