"""What a dataset that is made from a pattern bank depends on, besides the bank."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ....loaders.errors import UsageError
from ..about import check_domain
from ..option_groups import Option
from ..procedure import Recipe

_GROUP = "Problems"


@dataclass(frozen=True)
class PatternsRecipe(Recipe):
    """Draw problems from the patterns of a bank of yours, as SpaceNLI does from its own.

    The bank is a folder with one XML file of patterns and one YAML file, the mini world that fills
    them. Defects are reported together, by file, line and pattern.
    """

    per_pattern: Annotated[
        int, Option("Problems of a pattern; one that has fewer gives all.", _GROUP)
    ] = 200
    domain: Annotated[str, Option("Domain of the problems.", _GROUP)] = "spatial"

    def __post_init__(self) -> None:
        check_domain(self.domain)
        for name in ("per_pattern", "seed"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise UsageError(f"{name} is {value!r}; expected a whole number.")
        if self.per_pattern < 1:
            raise UsageError(f"per_pattern is {self.per_pattern}; expected 1 or more.")
        if self.seed < 0:  # Python's random takes -5 for 5
            raise UsageError(f"seed is {self.seed}; expected 0 or more.")

    def parameters(self) -> Mapping[str, Any]:
        """Return all that the rows depend on, besides the bank, as plain values."""
        return {"seed": self.seed, "per_pattern": self.per_pattern}
