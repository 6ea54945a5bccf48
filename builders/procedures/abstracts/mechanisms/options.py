"""The options of finding mechanisms; importing them is cheap, for the command line."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .....loaders.errors import UsageError
from .....loaders.paths import local_path
from ...option_groups import Option, OptionGroup

if TYPE_CHECKING:
    from .find import MechanismRules

GROUP = "Mechanisms"


def parse_names(text: str) -> tuple[str, ...]:
    """Parse the names in an option of a recipe, separated by commas.

    Raises:
        UsageError: A name is empty.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise UsageError(f"{text!r} is not a list of names separated by commas.")
    return names


@dataclass(frozen=True)
class MechanismOptions(OptionGroup):
    """How the conclusion of an abstract is found, and which entity regulates which."""

    conclusion_phrases: Annotated[
        Path | None,
        Option(
            'JSON file with other phrases of conclusions, {"SET": ["PHRASE", ...], ...}.',
            GROUP,
            "FILE",
        ),
    ] = None
    phrase_sets: Annotated[
        Sequence[str],
        Option(
            "Sets of conclusion phrases: paper (those of BioNLI), conclude, results, inference, "
            "hedge, or all; by default paper, or all of a file of yours.",
            GROUP,
            "SET,...",
            parse_names,
        ),
    ] = ()
    by_order: Annotated[
        bool,
        Option(
            "Take the entity mentioned first for the regulator where nothing states the direction; "
            "otherwise such abstracts are not taken.",
            GROUP,
        ),
    ] = False

    def rules(self, *, any_length: bool = False) -> "MechanismRules":
        """Return how mechanisms are found.

        Args:
            any_length: Whether a supporting set may have any number of sentences, or none;
                otherwise it has 3 to 15, as in BioNLI.

        Raises:
            UsageError: The file is missing, or not of its form.
            UnknownNameError: There is no set of a name.
        """
        from .find import MechanismRules
        from .phrases import PAPER, ConclusionPhrases

        sets = [self.phrase_sets] if isinstance(self.phrase_sets, str) else list(self.phrase_sets)
        path = self.conclusion_phrases
        phrases = ConclusionPhrases.read(
            local_path(path) if path is not None else None,
            sets or (PAPER if path is None else None),
        )
        rules = MechanismRules(phrases=phrases, by_order=self.by_order)
        if any_length:
            return replace(rules, min_supporting=0, max_supporting=sys.maxsize)
        return rules
