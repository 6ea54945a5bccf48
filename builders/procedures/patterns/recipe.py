"""What a dataset made from a pattern bank depends on, besides the bank."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from ....loaders.errors import UsageError
from ..procedure import Recipe, check_domain
from .declaration import SamplingConfig

_PROBLEMS = Parameter(group="Problems")


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
