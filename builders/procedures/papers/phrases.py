"""Linking phrases, the labels that they give, and the sentences that open with or contain one.

The phrases are data, which others may replace.

Source:
    SciNLI, Table 2; MSciNLI, Table 11, has the same. ``phrases.json`` holds them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....loaders.errors import UsageError
from ....loaders.json_text import parse_json
from ....loaders.paths import local_path
from .arrays import Flags, Numbers, Texts

#: How a pair of the neutral class came to be (SciNLI, section 3.2).
APPROACHES = ("BothRand", "FirstRand", "SecondRand")
#: The cut of a sentence in which something stands before the phrase.
AFTER_A_MARK = -1
_MAX_HEAD_BYTES = 4
_LOOK_AHEAD = 12  # characters behind a phrase that tell whether it goes on
_ODD = np.uint32(0x9E3779B1)  # of the golden ratio: scatters what it is multiplied with
_MARKS = "\"'([{“‘„«—–-*•·"  # noqa: RUF001
#: What may stand between a phrase and the rest of its sentence, besides blanks.
_PUNCTUATION = ",:;.，、：；。—–-"  # noqa: RUF001
_BLANKS = " \t\n\u00a0\u2009\u202f"
#: A phrase ends where its word does: "Thusly" and "that is-a" have none.
_END = r"(?![\w'\u2019-])"
#: What makes a longer phrase of any phrase, without a mark between: As a result of, Thus far.
_LONGER = re.compile(r"\s+(?:of|than|far)\b", re.IGNORECASE)
#: The same of one that begins with a preposition: In contrast to, In line with, As opposed from.
_OF_PREPOSITION = re.compile(r"\s+(?:to|with|from)\b", re.IGNORECASE)
_PREPOSITIONS = frozenset(
    ["as", "at", "by", "for", "from", "in", "of", "on", "to", "under", "with"]
)
#: Idioms that take no complement: "In particular to find" goes on with a clause.
_NO_COMPLEMENT = frozenset(["brief", "fact", "general", "particular", "practice", "short", "sum"])
#: The verb of a sentence, not the end of a phrase: That is why, That is to say.
_VERBS = frozenset(["is", "are", "was", "were"])
_OF_VERB = re.compile(r"\s+\w")


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
        phrases = self.phrases
        problems = [f"{label!r} has no phrase" for label, found in self.labels.items() if not found]
        problems += [
            f"{phrase!r} is not a phrase"
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
        source = local_path(path) if path else files(__package__) / "phrases.json"
        try:
            return cls.parse(parse_json(source.read_text(encoding="utf-8")))
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
        labels, neutral = fields["labels"], fields["neutral"]
        for label, found in labels.items():
            if not isinstance(found, list) or not all(isinstance(p, str) for p in found):
                raise UsageError(f"The phrases of {label!r} are {found!r}; expected texts.")
        if not isinstance(neutral, str):
            raise UsageError(f"The neutral label is {neutral!r}; expected a text.")
        return cls({label: tuple(found) for label, found in labels.items()}, neutral)

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


class Linking(NamedTuple):
    """Sentences that open with a linking phrase.

    Attributes:
        sentence: n numbers of sentences, ascending.
        phrase: n numbers of phrases.
        cut: n numbers of bytes that the phrase and the punctuation after it take; ``AFTER_A_MARK``
            where a dash, a quotation mark or the like stands before it.
        is_longer: n booleans, whether the phrase is the beginning of a longer one; see
            ``begins_longer_phrase``.
    """

    sentence: Numbers
    phrase: Numbers
    cut: Numbers
    is_longer: Flags

    def select(self, chosen: Flags) -> "Linking":
        """Return the chosen sentences."""
        return Linking(
            self.sentence[chosen], self.phrase[chosen], self.cut[chosen], self.is_longer[chosen]
        )


def find_linking(texts: Texts, phrases: LinkingPhrases) -> Linking:
    """Find the sentences that open with a linking phrase, perhaps behind a mark."""
    number = {" ".join(phrase.split()): n for n, phrase in enumerate(phrases.phrases)}
    match = _pattern(phrases.phrases).match
    found = []
    places = _may_open_with(texts, phrases.phrases)
    for i, text in zip(places.tolist(), texts.select(places).to_list(), strict=True):
        if (here := match(text.decode("utf-8", "surrogatepass"))) is not None:
            mark, phrase = here.groups()
            if phrase not in number:  # other blanks are in it
                phrase = " ".join(phrase.split())
            cut = AFTER_A_MARK if mark else len(here[0].encode())
            tail = here.string[here.end(2) : here.end(2) + _LOOK_AHEAD]
            found.append((i, number[phrase], cut, begins_longer_phrase(phrase, tail)))
    sentence, phrase_number, cut_bytes, is_longer = np.array(found, np.int64).reshape(-1, 4).T
    return Linking(sentence, phrase_number, cut_bytes, is_longer.astype(bool))


def begins_longer_phrase(phrase: str, tail: str) -> bool:
    """Return whether a phrase is the beginning of a longer one, or of the sentence's own clause.

    Then it links nothing, and what is left without it shows which phrase it was: "to earlier work,
    we ..." after "In contrast", "of this, we ..." after "As a result", "why ..." after "That is".

    Args:
        phrase: The phrase.
        tail: What follows it; its first words suffice.

    >>> begins_longer_phrase("In contrast", " to rules, models learn.")
    True
    >>> begins_longer_phrase("In contrast", ", to learn is easy.")
    False
    >>> begins_longer_phrase("Thus", " to learn is easy."), begins_longer_phrase("Thus", " far, no")
    (False, True)
    >>> begins_longer_phrase("That is", " why"), begins_longer_phrase("That is", ", why")
    (True, False)
    """
    words = phrase.lower().split()
    if _LONGER.match(tail):
        return True
    if words[-1] in _VERBS:
        return _OF_VERB.match(tail) is not None
    takes_complement = words[0] in _PREPOSITIONS and words[-1] not in _NO_COMPLEMENT
    return takes_complement and _OF_PREPOSITION.match(tail) is not None


def contain_phrase(texts: Texts, phrases: LinkingPhrases) -> Flags:
    """Return for each of n texts whether a linking phrase stands anywhere in it.

    Whole words count, in any case: "it thus holds" contains "Thus", "enthusiasm" and
    "task-specifically" contain none. A phrase counts whatever its sense there: "a model that is
    small" contains "That is".
    """
    search = _anywhere(phrases.phrases).search
    decoded = (text.decode("utf-8", "surrogatepass").lower() for text in texts.to_list())
    return np.fromiter((search(text) is not None for text in decoded), bool, len(texts))


@cache
def _anywhere(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Match a phrase in lower-case text, as whole words."""
    choices = "|".join(_words(phrase.lower()) for phrase in phrases)
    return re.compile(rf"(?<![\w-])(?:{choices}){_END}")


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Match what opens a sentence: marks (group 1), a phrase (2), and the punctuation after it.

    "Thus" opens "Thus, we" and "Thus we", not "Thusly". Where one phrase is the beginning of
    another, the longer one is meant.
    """
    longest_first = sorted(phrases, key=len, reverse=True)
    choices = "|".join(map(_words, longest_first))
    marks, punctuation = re.escape(_MARKS + _BLANKS), re.escape(_PUNCTUATION)
    return re.compile(rf"([{marks}]*)({choices}){_END}[\s{punctuation}]*")


def _words(phrase: str) -> str:
    """Return the expression of a phrase with any blanks between its words."""
    return r"\s+".join(map(re.escape, phrase.split()))


def _may_open_with(texts: Texts, phrases: tuple[str, ...]) -> Numbers:
    """Return the sentences whose first letters are those of a phrase, and by chance a few others.

    To look a hash of the first bytes up in a table is the fastest way to pass over most.
    """
    table, length = _heads(phrases)
    return np.flatnonzero(table[_hash_heads(texts, length)])


@cache
def _heads(phrases: tuple[str, ...]) -> tuple[Flags, int]:
    """Return for each hash whether a phrase begins so, and how many bytes are hashed."""
    spellings = [text.encode() for phrase in phrases for text in _spellings(phrase)]
    length = min(_MAX_HEAD_BYTES, *map(len, spellings))
    table = np.zeros(1 << 16, bool)
    table[_hash_heads(Texts.of(spellings), length)] = True
    return table, length


def _hash_heads(texts: Texts, length: int) -> npt.NDArray[np.uint16]:
    """Return hashes of 16 bits of the first bytes of texts."""
    content = np.frombuffer(texts.content, np.uint8)
    head = np.zeros(len(texts), np.uint32)
    for place in range(length):
        head = (head << np.uint32(8)) | content.take(texts.start + place, mode="clip")
    return (head * _ODD >> np.uint32(16)).astype(np.uint16)


def _spellings(phrase: str) -> Iterator[str]:
    """Yield a phrase with other blanks in it, and with marks before it."""
    for blank in _BLANKS:
        yield phrase.replace(" ", blank)
        yield from (phrase.replace(" ", blank + other) for other in _BLANKS)
    for mark in _MARKS:
        yield mark + phrase
        yield f"{mark} {phrase}"
