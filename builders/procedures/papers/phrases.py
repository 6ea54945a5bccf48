"""Linking phrases and the labels that they give: data, which others may replace.

Source:
    SciNLI, Table 2; MSciNLI, Table 11, has the same. ``phrases.json`` holds them.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from ....loaders.errors import UsageError

#: How a pair of the neutral class came to be (SciNLI, section 3.2).
APPROACHES = ("BothRand", "FirstRand", "SecondRand")


@dataclass(frozen=True)
class LinkingPhrases:
    """Linking phrases by label.

    Attributes:
        labels: For each label, in the order of ids, its phrases, as they open a sentence.
        neutral: The label of random pairs; the last id.
    """

    labels: Mapping[str, tuple[str, ...]]
    neutral: str

    def __post_init__(self) -> None:
        if problems := list(self._problems()):
            raise UsageError(f"The linking phrases are wrong: {'; '.join(problems)}.")

    def _problems(self) -> list[str]:
        phrases = [phrase for found in self.labels.values() for phrase in found]
        problems = [f"{label!r} has no phrase" for label, found in self.labels.items() if not found]
        problems += [
            f"{phrase!r} is no phrase"
            for phrase in phrases
            if not phrase or phrase != phrase.strip() or phrase in APPROACHES
        ]
        twice = sorted({phrase for phrase in phrases if phrases.count(phrase) > 1})
        problems += [f"{phrase!r} is given twice" for phrase in twice]
        problems += [
            f"the label {label!r} has other characters than letters, digits, blanks, _ and -"
            for label in (*self.labels, self.neutral)
            if re.fullmatch(r"\w[\w -]*", label) is None
        ]
        if not self.labels:
            problems.append("there are none")
        if not self.neutral or self.neutral in self.labels:
            problems.append(f"the neutral label {self.neutral!r} must be one without phrases")
        return problems

    @classmethod
    def read(cls, path: Path | None = None) -> "LinkingPhrases":
        """Read linking phrases from a JSON file of the form of ``phrases.json``.

        Args:
            path: The file; None takes SciNLI's phrases.

        Raises:
            UsageError: The file is missing, or not of that form.
        """
        source = path or files(__package__) / "phrases.json"
        try:
            return cls.parse(json.loads(source.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, UsageError):
                raise UsageError(f"{source}: {error}") from error
            raise UsageError(
                f"{source} holds no linking phrases ({error!r}); expected "
                '{"labels": {"LABEL": ["PHRASE", ...], ...}, "neutral": "LABEL"}.'
            ) from error

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> "LinkingPhrases":
        """Make linking phrases of what ``as_json`` gives.

        Raises:
            UsageError: A phrase is empty, given twice or not a text, or there are none.
        """
        for label, found in fields["labels"].items():
            if not isinstance(found, list) or not all(isinstance(p, str) for p in found):
                raise UsageError(f"The phrases of {label!r} are {found!r}; expected texts.")
        if not isinstance(fields["neutral"], str):
            raise UsageError(f"The neutral label is {fields['neutral']!r}; expected a text.")
        labels = {name: tuple(found) for name, found in fields["labels"].items()}
        return cls(labels, fields["neutral"])

    def as_json(self) -> dict[str, Any]:
        """Return the phrases as plain values, of the form of the file."""
        return {
            "labels": {label: list(found) for label, found in self.labels.items()},
            "neutral": self.neutral,
        }

    @property
    def label_names(self) -> tuple[str, ...]:
        """The label set; a label's id is its position."""
        return (*self.labels, self.neutral)

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """All phrases, those of a label together."""
        return tuple(phrase for found in self.labels.values() for phrase in found)

    @property
    def categories(self) -> tuple[str, ...]:
        """How a pair may have come to be: the phrases, then the approaches to neutral pairs."""
        return (*self.phrases, *APPROACHES)

    @cached_property
    def label_of_category(self) -> tuple[int, ...]:
        """For each category the id of its label."""
        ids = [n for n, found in enumerate(self.labels.values()) for _ in found]
        return (*ids, *[len(self.labels)] * len(APPROACHES))
