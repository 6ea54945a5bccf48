"""The rules by which pairs are taken from a paper: all of a recipe that reading a paper needs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ....loaders.errors import UsageError
from .cleaning import Cleaning
from .phrases import LinkingPhrases


@dataclass(frozen=True)
class PairRules:
    """How pairs are taken from a paper.

    Attributes:
        phrases: The linking phrases.
        cleaning: The bounds of the rules on sentences.
        within: What two adjacent sentences must share, ``paragraph`` or ``section``.
        seed: Decides every random choice.
    """

    phrases: LinkingPhrases = field(default_factory=LinkingPhrases.read)
    cleaning: Cleaning = field(default_factory=Cleaning)
    within: str = "paragraph"
    seed: int = 1

    def __post_init__(self) -> None:
        if self.within not in ("paragraph", "section"):
            raise UsageError(f"within is {self.within!r}; expected paragraph or section.")

    def as_json(self) -> Mapping[str, Any]:
        """Return the rules as plain values."""
        return {
            **self.phrases.as_json(),
            "cleaning": asdict(self.cleaning),
            "within": self.within,
            "seed": self.seed,
        }
