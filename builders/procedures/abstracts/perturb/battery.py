"""The seven rule-based strategies, by the paper's names."""

from .antonyms import Antonyms
from .negate import Negate
from .pool import EntityPool
from .replace_inside import ReplaceInside
from .replace_outside import ReplaceOutside
from .reverse_polarity import ReversePolarity
from .strategy import Strategy
from .swap_names import SwapNames
from .swap_number import SwapNumber
from .swap_positions import SwapPositions

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
