"""Linking phrases, the labels that they give, and the sentences that open with one.

The phrases are data, which others may replace.

Source:
    SciNLI, Table 2; MSciNLI, Table 11, has the same. ``phrases.json`` holds them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from ....loaders.errors import UsageError
from ....loaders.json_text import parse_json
from ....loaders.paths import local_path

#: How a pair of the neutral class came to be (SciNLI, section 3.2).
APPROACHES = ("BothRand", "FirstRand", "SecondRand")
_BLANKS = " \t\n\u00a0\u2009\u202f"
#: What may stand before a phrase.
_MARKS = _BLANKS + "\"'([{“‘„«—–-*•·"  # noqa: RUF001
#: What may stand between a phrase and the rest of its sentence.
_PUNCTUATION = _BLANKS + ",:;.，、：；。—–-"  # noqa: RUF001
#: These make a longer phrase of any phrase: As a result of, In contrast to, Thus far.
_LONGER = re.compile(r"\s+(?:of|than|far|to|with|from)\b", re.IGNORECASE)
#: A phrase with a verb goes on with any word: That is why.
_VERBS = ("is", "are", "was", "were")
_WORD = re.compile(r"\s+\w")


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

    def _problems(self) -> Iterator[str]:
        if not self.labels:
            yield "there are none"
        yield from (f"{label!r} has no phrase" for label, own in self.labels.items() if not own)
        for n, phrase in enumerate(self.phrases):
            if not phrase or phrase != " ".join(phrase.split()) or phrase in APPROACHES:
                yield f"{phrase!r} is not a phrase"
            if phrase in self.phrases[:n]:
                yield f"{phrase!r} is given twice"
        for label in self.label_names:
            if re.fullmatch(r"\w[\w -]*", label) is None:
                yield f"the label {label!r} has characters besides letters, digits, blanks, _ and -"
        if self.neutral in self.labels:
            yield f"the neutral label {self.neutral!r} has phrases"

    @classmethod
    def read(cls, path: Path | None = None) -> "LinkingPhrases":
        """Read linking phrases from a JSON file of the form of ``phrases.json``.

        Args:
            path: The file; None takes SciNLI's phrases.

        Raises:
            UsageError: The file is missing, or not of that form.
        """
        source = local_path(path) if path else files(__package__) / "phrases.json"
        try:
            fields = parse_json(source.read_text(encoding="utf-8"))
            for label, own in fields["labels"].items():
                if not isinstance(own, list):
                    raise UsageError(f"the phrases of {label!r} are not a list")
            labels = {label: tuple(own) for label, own in fields["labels"].items()}
            return cls(labels, fields["neutral"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{source} holds no linking phrases ({error}); expected "
                '{"labels": {"LABEL": ["PHRASE", ...], ...}, "neutral": "LABEL"}.'
            ) from error

    def as_json(self) -> dict[str, Any]:
        """Return the phrases as plain values, of the form of the file."""
        return {
            "labels": {label: list(own) for label, own in self.labels.items()},
            "neutral": self.neutral,
        }

    @property
    def label_names(self) -> tuple[str, ...]:
        """The label set; a label's id is its position."""
        return (*self.labels, self.neutral)

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """All phrases, those of a label together."""
        return tuple(phrase for own in self.labels.values() for phrase in own)

    @property
    def categories(self) -> tuple[str, ...]:
        """How a pair may have come to be: the phrases, then the approaches to neutral pairs."""
        return (*self.phrases, *APPROACHES)

    @cached_property
    def label_of_category(self) -> tuple[int, ...]:
        """For each category the id of its label."""
        ids = [n for n, own in enumerate(self.labels.values()) for _ in own]
        return (*ids, *[len(self.labels)] * len(APPROACHES))

    @property
    def anywhere(self) -> str:
        """A regular expression (RE2) of any phrase within a sentence, as whole words in any case.

        "it thus holds" contains "Thus", "enthusiasm" and "task-specifically" contain none. A phrase
        counts whatever its sense there: "a model that is small" contains "That is".
        """
        choices = "|".join(_any_blanks(phrase, r"[\s\p{Z}]+") for phrase in self.phrases)
        return rf"(?i)(?:^|[^\p{{L}}\p{{N}}_-])(?:{choices})(?:[^\p{{L}}\p{{N}}_'\x{{2019}}-]|$)"


def find_openings(
    sentences: Sequence[str], phrases: LinkingPhrases
) -> Iterator[tuple[int, int, int, bool, bool]]:
    """Yield the sentences that open with a linking phrase, perhaps behind a mark.

    "Thus" opens "Thus, we" and "Thus we", not "Thusly". Where one phrase is the beginning of
    another, the longer one is meant.

    Yields:
        The number of the sentence and that of the phrase; how many characters the phrase and the
        punctuation behind it take; whether a dash, a quotation mark or the like stands before the
        phrase; and whether it is the beginning of a longer one.
    """
    number = {phrase: n for n, phrase in enumerate(phrases.phrases)}
    longest_first = sorted(number, key=len, reverse=True)
    choices = "|".join(_any_blanks(phrase, r"\s+") for phrase in longest_first)
    match = re.compile(
        rf"([{re.escape(_MARKS)}]*)({choices})(?![\w'\u2019-])[{re.escape(_PUNCTUATION)}]*"
    ).match
    for n, sentence in enumerate(sentences):
        if found := match(sentence):
            marks, words = found.groups()
            phrase = " ".join(words.split())
            longer = begins_longer_phrase(phrase, sentence[found.end(2) :])
            yield n, number[phrase], found.end(), bool(marks), longer


def begins_longer_phrase(phrase: str, tail: str) -> bool:
    """Return whether a phrase is the beginning of a longer one, or of the sentence's own clause.

    Then it links nothing, and what is left without it shows which phrase it was: "to earlier work,
    we ..." after "In contrast", "of this, we ..." after "As a result", "why ..." after "That is".

    Args:
        phrase: The phrase.
        tail: What follows it.

    >>> begins_longer_phrase("In contrast", " to rules, models learn.")
    True
    >>> begins_longer_phrase("In contrast", ", to learn is easy.")
    False
    >>> begins_longer_phrase("That is", " why"), begins_longer_phrase("That is", ", why")
    (True, False)
    """
    goes_on = _WORD if phrase.split()[-1] in _VERBS else _LONGER
    return goes_on.match(tail) is not None


def _any_blanks(phrase: str, blanks: str) -> str:
    """Return the expression of a phrase with any blanks between its words."""
    return blanks.join(map(re.escape, phrase.split()))
