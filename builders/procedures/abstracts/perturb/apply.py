"""Applies strategies to a mechanism, and sees to it that all negatives differ."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .....loaders.errors import UsageError
from .....loaders.releases.bionli import strip_markers
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
    """The paper's rule-based strategies, in its order, with our defaults.

    Args:
        pool: The entities that SREO takes from.
        antonyms: The terms that LPR changes; None takes ours.

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


#: Why a strategy's only proposals are not taken.
SAME_AS_POSITIVE = "equals the positive"
SAME_AS_ANOTHER = "equals another negative"


@dataclass(frozen=True, slots=True)
class Negatives:
    """What strategies made of a mechanism: each stands in one of the two.

    Attributes:
        made: By strategy its negative, in the order of the strategies.
        refused: By strategy why there is none.
    """

    made: dict[str, Perturbed]
    refused: dict[str, NoNegative]


@dataclass(frozen=True, slots=True)
class AllNegatives:
    """All that strategies made of a mechanism: each stands in one of the two.

    Attributes:
        made: By strategy its negatives, at least one, in the order of the strategies.
        refused: By strategy why there is none.
    """

    made: dict[str, tuple[Perturbed, ...]]
    refused: dict[str, NoNegative]


def perturb(
    mechanism: Mechanism,
    strategies: Iterable[Strategy],
    seed: int,
    *,
    ignore_markers: bool = False,
) -> Negatives:
    """Applies every strategy once.

    Where a proposal equals the positive or another negative, the strategy's next one is taken.
    Which strategy comes first in that is decided by their names, not by their order.

    Args:
        mechanism: The positive.
        strategies: The strategies, each name once.
        seed: Decides every choice, with the pmid and the strategy's name.
        ignore_markers: Whether sentences that differ in their markers alone are equal, for users
            who strip them: SEP is then the same as SEN.

    Returns:
        Negatives and refusals, together as many as strategies.

    Raises:
        UsageError: Two strategies have one name.
    """
    found = perturb_all(mechanism, strategies, seed, limit=1, ignore_markers=ignore_markers)
    return Negatives({name: made[0] for name, made in found.made.items()}, found.refused)


def perturb_all(
    mechanism: Mechanism,
    strategies: Iterable[Strategy],
    seed: int,
    *,
    limit: int | None = None,
    ignore_markers: bool = False,
) -> AllNegatives:
    """Applies every strategy in all ways that there are; otherwise as ``perturb``.

    Args:
        mechanism: The positive.
        strategies: The strategies, each name once.
        seed: Decides every choice, with the pmid and the strategy's name.
        limit: How many negatives of a strategy at most; None means all.
        ignore_markers: As for ``perturb``.

    Raises:
        UsageError: Two strategies have one name, or the limit is none.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"{limit} negatives of a strategy at most; expected 1 or more.")
    chosen = list(strategies)
    names = [strategy.name for strategy in chosen]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"Strategies are given twice: {', '.join(twice)}; expected each once.")

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
    """The first proposals that are not taken, which then are; at least one is proposed."""
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


def list_lines(mechanism: Mechanism, found: AllNegatives) -> Iterator[dict[str, Any]]:
    """The negatives of a mechanism, by strategy and in the order in which they were drawn.

    Args:
        mechanism: The positive.
        found: What was made of it.

    Yields:
        For each negative its fields. The ``id`` has pmid and strategy, and from the second negative
        of a strategy on its number; ``edits`` are offsets in ``positive``, in characters.
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
