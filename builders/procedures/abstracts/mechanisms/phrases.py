"""Phrases that tell a conclusion: data, which others may replace.

``phrases.json`` holds them in sets. ``paper`` are those of BioNLI, all thirteen of its Table 7. The
others are ours, for abstracts that conclude with other words: ``conclude`` has other forms of
"conclude" and the headings of structured abstracts, ``results`` what results are said to do ("these
data suggest"), ``inference`` words that draw one ("thus", "suggesting that"), ``hedge`` those of a
careful claim ("may play"). The further down the list, the more sentences of which the authors do
not say that they are conclusions.

A phrase matches whole words, in any case, with any blanks. ``a/b`` in a phrase stands for either
word, ``:`` may stand right behind a word.

Source: BioNLI, section 3.1 and Table 7 (Appendix A), after Bastan et al. (2022).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import islice
from pathlib import Path

from .....loaders.errors import UnknownNameError, UsageError

#: The set that is the paper's.
PAPER = ("paper",)


@dataclass(frozen=True)
class ConclusionPhrases:
    """Phrases, one of which a conclusion has.

    Attributes:
        sets: The phrases of each set that is used; a conclusion with a phrase of an earlier set
            goes before one with a phrase of a later set.
    """

    sets: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        if not any(self.sets.values()):
            raise UsageError("There is no conclusion phrase; expected at least one.")
        for name, phrases in self.sets.items():
            for phrase in phrases:
                if not phrase.strip(" :") or not all(all(w.split("/")) for w in phrase.split()):
                    raise UsageError(f"{phrase!r} in the set {name!r} is no conclusion phrase.")

    @classmethod
    def read(
        cls, path: Path | None = None, sets: str | Sequence[str] | None = PAPER
    ) -> "ConclusionPhrases":
        """Reads them from a JSON file of the form of ``phrases.json``.

        Args:
            path: The file; None takes ours.
            sets: The names of the sets to use, or one name; None or ``all`` uses all.

        Raises:
            UsageError: The file is missing or not of that form, or has no phrase.
            UnknownNameError: It has no set of that name.
        """
        source = path or files(__package__) / "phrases.json"
        try:
            told = json.loads(source.read_text(encoding="utf-8"))
            if not all(isinstance(p, str) for phrases in told.values() for p in phrases):
                raise TypeError("a phrase that is no text")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{source} holds no conclusion phrases ({error}); expected "
                '{"SET": ["PHRASE", ...], ...}.'
            ) from error
        names = [sets] if isinstance(sets, str) else sets
        chosen = told if names is None or list(names) == ["all"] else names
        for name in chosen:
            if name not in told:
                raise UnknownNameError.of("set of phrases", name, told)
        return cls({name: tuple(told[name]) for name in chosen})

    def find(self, sentences: Sequence[str]) -> list[int]:
        """Finds the sentences that may be the conclusion.

        Args:
            sentences: The sentences of an abstract.

        Returns:
            For each set, in order, the number of the last sentence with one of its phrases; none
            for a set whose phrases no sentence has.
        """
        found: list[int] = []
        for pattern in self._patterns:
            having = (n for n in reversed(range(len(sentences))) if pattern.search(sentences[n]))
            found.extend(islice(having, 1))
        return found

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        choices = ("|".join(map(_as_pattern, phrases)) for phrases in self.sets.values() if phrases)
        return [re.compile(rf"(?<!\w)(?:{choice})(?!\w)", re.IGNORECASE) for choice in choices]


def _as_pattern(phrase: str) -> str:
    words = (f"(?:{'|'.join(map(re.escape, word.split('/')))})" for word in phrase.split())
    return r"\s+".join(words).replace(r"\s+(?::)", r"\s*:")
