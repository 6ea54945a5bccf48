"""Applies strategies to a mechanism, and sees to it that all negatives differ."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ....loaders.errors import UsageError
from ..mechanisms.mechanism import Mechanism
from .choices import Choices
from .strategy import Perturbed, Refused, Strategy

#: Why a strategy's only proposals are not taken.
SAME_AS_POSITIVE = "equals the positive"
SAME_AS_ANOTHER = "equals another negative"
_MARKERS = re.compile("<re> | <er>|<el> | <le>")


@dataclass(frozen=True, slots=True)
class Negatives:
    """What strategies made of a mechanism: each stands in one of the two.

    Attributes:
        made: By strategy its negative, in the order of the strategies.
        refused: By strategy why there is none.
    """

    made: dict[str, Perturbed]
    refused: dict[str, Refused]


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
    chosen = list(strategies)
    names = [strategy.name for strategy in chosen]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"Strategies are given twice: {', '.join(twice)}; expected each once.")

    def plain(text: str) -> str:
        return _MARKERS.sub("", text) if ignore_markers else text

    taken = {plain(mechanism.conclusion): SAME_AS_POSITIVE}
    outcomes: dict[str, Perturbed | Refused] = {}
    for strategy in sorted(chosen, key=lambda s: s.name):
        choices = Choices(seed, mechanism.pmid, strategy.name)
        outcome = _take(strategy, mechanism, choices, taken, plain)
        if isinstance(outcome, Perturbed):
            taken[plain(outcome.text)] = SAME_AS_ANOTHER
        outcomes[strategy.name] = outcome
    return Negatives(
        {n: o for n in names if isinstance(o := outcomes[n], Perturbed)},
        {n: o for n in names if isinstance(o := outcomes[n], Refused)},
    )


def _take(
    strategy: Strategy,
    mechanism: Mechanism,
    choices: Choices,
    taken: Mapping[str, str],
    plain: Callable[[str], str],
) -> Perturbed | Refused:
    """The first proposal that is not taken."""
    proposals = strategy.propose(mechanism, choices)
    if isinstance(proposals, Refused):
        return proposals
    reason = SAME_AS_POSITIVE
    for proposal in proposals:
        found = taken.get(plain(proposal.text))
        if found is None:
            return proposal
        reason = found
    return Refused(reason)
