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

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from .....loaders.errors import UnknownNameError, UsageError
from .....loaders.json_text import parse_json
from .....loaders.paths import local_path
from ...options import parse_names, read_by

#: The name of the paper's set of phrases.
PAPER = ("paper",)
#: Greatest number of sentences after a conclusion.
MAX_AFTER = 2

Phrases = Mapping[str, tuple[str, ...]]


def read_phrases(path: Path | None = None, sets: Sequence[str] | None = PAPER) -> Phrases:
    """Read the phrases of conclusions from a JSON file of the form of ``phrases.json``.

    Args:
        path: The file; None takes the package's.
        sets: The names of the sets to use; None or ``all`` uses all.

    Returns:
        The phrases of each set by its name; those of an earlier set are preferred.

    Raises:
        UsageError: The file is missing, not of that form, or without a phrase.
        UnknownNameError: The file has no set of that name.
    """
    source = path or files(__package__) / "phrases.json"
    try:
        found = parse_json(source.read_text(encoding="utf-8"))
        names = found if sets is None or list(sets) == ["all"] else sets
        for phrase in (phrase for phrases in found.values() for phrase in phrases):
            if not phrase.strip(" :") or not all(all(w.split("/")) for w in phrase.split()):
                raise ValueError(f"{phrase!r} is not words, with alternatives as a/b")
        for name in names:
            if name not in found:
                raise UnknownNameError.of("set of phrases", name, found)
        if not any(found[name] for name in names):
            raise ValueError("there is no phrase")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        if isinstance(error, UnknownNameError):
            raise
        raise UsageError(
            f"{source} holds no conclusion phrases ({error}); expected "
            '{"SET": ["PHRASE", ...], ...}.'
        ) from error
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
        choices = ("|".join(map(_as_pattern, some)) for some in self.phrases.values() if some)
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

    conclusion_phrases: Annotated[Path | None, FINDING] = None
    """JSON file with other phrases of conclusions, {"SET": ["PHRASE", ...], ...}."""
    phrase_sets: Annotated[Sequence[str], FINDING, read_by(parse_names, "SET,...")] = ()
    """Sets of conclusion phrases: paper (those of BioNLI), conclude, results, inference, hedge, or
    all; by default paper, or all of a file of yours."""
    by_order: Annotated[bool, FINDING] = False
    """Take the entity mentioned first for the regulator where nothing states the direction;
    otherwise such abstracts are not taken."""

    def rules(self, *, any_length: bool = False) -> MechanismRules:
        """Return how mechanisms are found.

        Args:
            any_length: Whether a supporting set may have any number of sentences, or none;
                otherwise it has 3 to 15, as in BioNLI.

        Raises:
            UsageError: The file is missing, or not of its form.
            UnknownNameError: There is no set of a name.
        """
        given = (self.phrase_sets,) if isinstance(self.phrase_sets, str) else self.phrase_sets
        path = self.conclusion_phrases
        phrases = read_phrases(
            local_path(path) if path is not None else None,
            given or (PAPER if path is None else None),
        )
        if any_length:
            return MechanismRules(phrases, self.by_order, 0, sys.maxsize)
        return MechanismRules(phrases, self.by_order)
