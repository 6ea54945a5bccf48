"""What a dataset that is made from abstracts depends on, besides the abstracts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ....loaders.errors import UnknownNameError, UsageError
from ..splits import ByRatio
from .mechanisms.find import MechanismRules
from .perturb.apply import NAMES

#: Shares of training and validation mechanisms as in BioNLI: 8,489, 3,000 and 2,000.
PAPER_SPLIT = ByRatio(0.63, 0.22)


@dataclass(frozen=True)
class Recipe:
    """How a dataset is made from abstracts.

    Attributes:
        rules: How mechanisms are found.
        strategies: The names of the rule-based strategies to use.
        splitting: How abstracts are split.
        max_per_category: Rows of a rule-based category that the balanced training set has at most.
        seed: Decides every random choice.
    """

    rules: MechanismRules = field(default_factory=MechanismRules)
    strategies: Sequence[str] = NAMES
    splitting: ByRatio = PAPER_SPLIT
    max_per_category: int = 500
    seed: int = 1

    def __post_init__(self) -> None:
        for name in self.strategies:
            if name not in NAMES:
                raise UnknownNameError.of("strategy", name, NAMES)
        if not self.strategies or len(set(self.strategies)) < len(self.strategies):
            raise UsageError(f"{', '.join(self.strategies)}: expected strategies, each once.")
        if not -(2**63) <= self.seed < 2**63:
            raise UsageError(f"{self.seed} is no seed; expected a number of 64 bits.")
        if self.max_per_category < 1:
            raise UsageError(f"{self.max_per_category} rows of a category; expected 1 or more.")

    def parameters(self) -> Mapping[str, Any]:
        """All that the rows depend on, besides the abstracts."""
        rules = self.rules
        return {
            "conclusion_phrases": {name: list(told) for name, told in rules.phrases.sets.items()},
            "supporting_sentences": [rules.min_supporting, rules.max_supporting],
            "max_sentences_after": rules.max_after,
            "roles_by_order": rules.by_order,
            "strategies": list(self.strategies),
            "split": {"by": "ratio", **asdict(self.splitting)},
            "max_per_category": self.max_per_category,
            "seed": self.seed,
        }
