"""The seven strategies, applied to mechanisms so that all negatives of one differ."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .....loaders.errors import UsageError
from .....loaders.releases.bionli import strip_markers
from ..mechanisms.mechanism import Mechanism
from .entity_pool import EntityPool
from .negate import Negate
from .replace_entities import ReplaceInside, ReplaceOutside
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


#: Why none of a strategy's proposals is taken.
SAME_AS_POSITIVE = "equals the positive"
SAME_AS_ANOTHER = "equals another negative"


@dataclass(frozen=True, slots=True)
class Negatives:
    """One negative of each strategy for a mechanism, or why there is none.

    Attributes:
        made: The negative by strategy, in the order of the strategies.
        refused: The reason by strategy, for those without a negative.
    """

    made: dict[str, Perturbed]
    refused: dict[str, NoNegative]


@dataclass(frozen=True, slots=True)
class AllNegatives:
    """All negatives of each strategy for a mechanism, or why there are none; see ``Negatives``."""

    made: dict[str, tuple[Perturbed, ...]]
    refused: dict[str, NoNegative]


def perturb_mechanism(
    mechanism: Mechanism,
    strategies: Iterable[Strategy],
    seed: int,
    *,
    ignore_markers: bool = False,
) -> Negatives:
    """Make one negative of a mechanism by each strategy; see ``perturb_mechanism_all``.

    So does BioNLI: its Tables 2 and 3 have as many SEN as positives where "each instance is
    perturbed as many times as possible".
    """
    found = perturb_mechanism_all(
        mechanism, strategies, seed, limit=1, ignore_markers=ignore_markers
    )
    return Negatives({name: made[0] for name, made in found.made.items()}, found.refused)


def perturb_mechanism_all(
    mechanism: Mechanism,
    strategies: Iterable[Strategy],
    seed: int,
    *,
    limit: int | None = None,
    ignore_markers: bool = False,
) -> AllNegatives:
    """Make all negatives of a mechanism by each strategy.

    Where a proposal equals the positive or another negative, the strategy's next proposal is taken.
    Strategies choose in the order of their names, whatever order they are given in.

    Args:
        mechanism: The positive.
        strategies: The strategies, each name once.
        seed: Seed of every choice, together with the pmid and the strategy's name.
        limit: Greatest number of negatives by one strategy; None means all.
        ignore_markers: Whether sentences that differ only in their markers count as equal, for
            users who strip the markers: SEP then equals SEN.

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

    def plain(text: str) -> str:
        return strip_markers(text) if ignore_markers else text

    taken = {plain(mechanism.conclusion): SAME_AS_POSITIVE}
    outcomes: dict[str, tuple[Perturbed, ...] | NoNegative] = {}
    for strategy in sorted(chosen, key=lambda s: s.name):
        choices = Choices(seed, mechanism.pmid, strategy.name)
        found = strategy.propose(mechanism, choices)
        outcomes[strategy.name] = (
            found if isinstance(found, NoNegative) else _take(found, limit, taken, plain)
        )
    return AllNegatives(
        {n: o for n in names if not isinstance(o := outcomes[n], NoNegative)},
        {n: o for n in names if isinstance(o := outcomes[n], NoNegative)},
    )


def _take(
    proposals: Iterator[Perturbed],
    limit: int | None,
    taken: dict[str, str],
    plain: Callable[[str], str],
) -> tuple[Perturbed, ...] | NoNegative:
    """Take the first proposals whose texts are not taken yet; at least one is proposed."""
    made: list[Perturbed] = []
    reason = SAME_AS_POSITIVE
    for proposal in proposals:
        text = plain(proposal.text)
        if text in taken:
            reason = taken[text]
            continue
        taken[text] = SAME_AS_ANOTHER
        made.append(proposal)
        if len(made) == limit:
            break
    return tuple(made) or NoNegative(reason)


def list_negatives(mechanism: Mechanism, found: AllNegatives) -> Iterator[dict[str, Any]]:
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
