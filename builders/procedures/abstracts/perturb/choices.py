"""Random choices of a strategy that depend on names alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ....core.keyed import key_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choices:
    """What a strategy draws for an abstract: a hash of these three names.

    Attributes:
        seed: Another one gives other choices.
        pmid: The abstract.
        strategy: The strategy's name.
    """

    seed: int
    pmid: str
    strategy: str

    def draw(self, purpose: str) -> int:
        """A number of 64 bits for a purpose."""
        text = "\0".join((self.pmid, self.strategy, purpose))
        return key_of(self.seed, "perturb", text)

    def arrange(self, options: Sequence[T], purpose: str) -> list[T]:
        """The options in a random order, the first of them the one to take."""
        order = sorted(range(len(options)), key=lambda i: self.draw(f"{purpose}:{i}"))
        return [options[i] for i in order]
