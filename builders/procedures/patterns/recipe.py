"""What a dataset made from a pattern bank depends on, besides the bank."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from ....loaders.errors import UsageError
from ..procedure import Recipe, check_domain

_PROBLEMS = Parameter(group="Problems")

OFFICIAL_SEED = 42
OFFICIAL_PER_PATTERN = 200
ALL_PROBLEMS = -1
ONLY_EXAMPLES = 0


@dataclass(frozen=True)
class SamplingConfig:
    """What to draw from each pattern of a bank."""

    per_pattern: int = OFFICIAL_PER_PATTERN
    """Problems of a pattern; -1 draws all, 0 only the hand-written examples."""
    seed: int = OFFICIAL_SEED
    """Given to Python's random anew for each pattern."""
    with_examples: bool = True
    """Whether hand-written examples may be drawn."""

    def __post_init__(self) -> None:
        for name, value in (("per_pattern", self.per_pattern), ("seed", self.seed)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise UsageError(f"{name} is {value!r}; expected a whole number.")
        if self.per_pattern < ALL_PROBLEMS:
            raise UsageError(f"per_pattern is {self.per_pattern}; expected -1, 0 or more")
        if self.per_pattern == ONLY_EXAMPLES and not self.with_examples:
            raise UsageError("per_pattern 0 means examples only, which were to be left out")


@dataclass(frozen=True)
class PatternsRecipe(Recipe):
    """Draw problems from the patterns of a bank of yours, as SpaceNLI does from its own.

    The bank is a folder with one XML file of patterns and one YAML file, the mini world that fills
    them. Defects are reported together, by file, line and pattern.
    """

    per_pattern: Annotated[int, _PROBLEMS] = 200
    """Problems of a pattern; one that has fewer gives all."""
    domain: Annotated[str, _PROBLEMS] = "spatial"
    """Domain of the problems."""

    def __post_init__(self) -> None:
        check_domain(self.domain)
        if self.sampling.per_pattern < 1:
            raise UsageError(f"per_pattern is {self.per_pattern}; expected 1 or more.")
        if self.seed < 0:  # Python's random takes -5 for 5
            raise UsageError(f"seed is {self.seed}; expected 0 or more.")

    @property
    def sampling(self) -> SamplingConfig:
        """What to draw."""
        return SamplingConfig(self.per_pattern, self.seed)

    def parameters(self) -> Mapping[str, Any]:
        """Return all that the rows depend on, besides the bank, as plain values."""
        return {"seed": self.seed, "per_pattern": self.per_pattern}
