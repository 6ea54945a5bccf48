"""How mechanisms are found: the phrases that mark a conclusion, and the other options.

``phrases.json`` holds the phrases in sets. ``paper`` has the thirteen of BioNLI's Table 7. The
others are ours, for abstracts that conclude in other words: ``conclude`` has other forms of
"conclude" and the headings of structured abstracts, ``results`` what results are said to do ("these
data suggest"), ``inference`` words of inference ("thus", "suggesting that"), ``hedge`` words of a
careful claim ("may play"). The later the set, the more of its sentences are not called conclusions
by their authors.

A phrase matches whole words, ignoring case and the amount of whitespace. ``a/b`` in a phrase stands
for either word; ``:`` may directly follow a word.

Source: BioNLI, section 3.1 and Table 7 (Appendix A), after Bastan et al. (2022).
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Annotated

from cyclopts import Parameter

from .....loaders.errors import UnknownNameError
from ...options import parse_names, read_by

#: The name of the paper's set of phrases.
PAPER = ("paper",)
#: Greatest number of sentences after a conclusion.
MAX_AFTER = 2

Phrases = Mapping[str, tuple[str, ...]]


def read_phrases(sets: Sequence[str] = PAPER) -> Phrases:
    """Return the phrases of conclusions, by the name of their set.

    Args:
        sets: The names of the sets; ``all`` alone takes all. Those of an earlier set are preferred.

    Raises:
        UnknownNameError: There is no set of that name.
    """
    found = json.loads((files(__package__) / "phrases.json").read_text(encoding="utf-8"))
    names = found if list(sets) == ["all"] else sets
    for name in names:
        if name not in found:
            raise UnknownNameError.of("set of phrases", name, found)
    return {name: tuple(found[name]) for name in names}


@dataclass(frozen=True)
class MechanismRules:
    """How to find mechanisms.

    Attributes:
        phrases: The phrases that mark a conclusion, by set; see ``read_phrases``.
        by_order: Whether to take the entity mentioned first for the regulator where nothing tells
            the direction. Swapping the names in "A and B interact" makes no negative, so by
            default such abstracts give no mechanism.
        min_supporting: Least number of sentences in a supporting set; 0 allows an empty one.
        max_supporting: Greatest number of sentences in a supporting set.
    """

    phrases: Phrases = field(default_factory=read_phrases)
    by_order: bool = False
    min_supporting: int = 3
    max_supporting: int = 15

    def find_conclusions(self, sentences: Sequence[str]) -> list[int]:
        """Find the sentences of an abstract that may be its conclusion.

        Returns:
            For each set of phrases, in order, the index of the last sentence with one of them; sets
            without a match are left out.
        """
        last = (
            max((n for n, one in enumerate(sentences) if pattern.search(one)), default=None)
            for pattern in self._patterns
        )
        return [number for number in last if number is not None]

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        choices = ("|".join(map(_as_pattern, some)) for some in self.phrases.values())
        return [re.compile(rf"(?<!\w)(?:{choice})(?!\w)", re.IGNORECASE) for choice in choices]


def _as_pattern(phrase: str) -> str:
    words = (f"(?:{'|'.join(map(re.escape, word.split('/')))})" for word in phrase.split())
    return r"\s+".join(words).replace(r"\s+(?::)", r"\s*:")


#: The options on mechanisms.
FINDING = Parameter(group="Mechanisms")


@Parameter(name="*")
@dataclass(frozen=True)
class MechanismOptions:
    """How the conclusion of an abstract is found, and which entity regulates which."""

    phrase_sets: Annotated[Sequence[str], FINDING, read_by(parse_names, "SET,...")] = PAPER
    """Sets of conclusion phrases: paper (those of BioNLI), conclude, results, inference, hedge, or
    all."""
    by_order: Annotated[bool, FINDING] = False
    """Take the entity mentioned first for the regulator where nothing states the direction;
    otherwise such abstracts are not taken."""

    def rules(self, *, any_length: bool = False) -> MechanismRules:
        """Return how mechanisms are found.

        Args:
            any_length: Whether a supporting set may have any number of sentences, or none;
                otherwise it has 3 to 15, as in BioNLI.

        Raises:
            UnknownNameError: There is no set of a name.
        """
        given = (self.phrase_sets,) if isinstance(self.phrase_sets, str) else self.phrase_sets
        phrases = read_phrases(given)
        if any_length:
            return MechanismRules(phrases, self.by_order, 0, sys.maxsize)
        return MechanismRules(phrases, self.by_order)
