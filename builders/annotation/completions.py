"""Sentences that people completed because the extraction of a paper had broken them.

Annotators write the whole sentence beside the broken one, which stays as it is. The maintainer may
do so too, in the sheet ``completions.csv`` of a batch, which names the paper of each pair; what it
says overrides the annotators, and settles what they complete differently.

Source: SciNLI, section 3.3, first step: sentences that were broken by the extraction are completed.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The columns of completed sentences: the first sentence, and the second.
COLUMNS = ("completed_premise", "completed_hypothesis")
#: The sheet that overrides those of the annotators.
COMPLETIONS_FILE = "completions.csv"
_DECIDED = COMPLETIONS_FILE.removesuffix(".csv")
#: The share of the letters of a broken sentence, by threes, that a completion must have. Of 100,000
#: random pairs of SciNLI's sentences 21 have as much in common.
MIN_SHARED = 0.5

#: By pair, the completed first and second sentence; None for one that stays as it is.
CompletedTexts = Mapping[str, tuple[str | None, str | None]]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A sentence that people completed differently.

    Attributes:
        id: The id of the pair.
        key: Its key in the sheets.
        column: One of ``COLUMNS``.
        texts: What each of them wrote.
    """

    id: str
    key: str
    column: str
    texts: Mapping[str, str]


@dataclass(frozen=True)
class Completions:
    """The completed sentences of annotated pairs.

    Attributes:
        texts: The completed sentences by pair.
        conflicts: The sentences that people completed differently and nobody has decided on.
        by_person: How many sentences each of them completed.
    """

    texts: CompletedTexts
    conflicts: tuple[Conflict, ...]
    by_person: Mapping[str, int]

    @property
    def n_sentences(self) -> int:
        """The number of sentences that are completed."""
        return count_sentences(self.texts)

    def as_json(self) -> dict[str, Any]:
        """Return all completions in plain types."""
        return {
            "pairs": len(self.texts),
            "sentences": self.n_sentences,
            "by_person": dict(self.by_person),
            "texts": {
                id_: dict(zip(COLUMNS, texts, strict=True)) for id_, texts in self.texts.items()
            },
            "conflicts": [
                {"id": one.id, "key": one.key, "column": one.column, "texts": dict(one.texts)}
                for one in self.conflicts
            ],
        }


@dataclass(frozen=True, slots=True)
class Completed:
    """What one person wrote in place of the two sentences of a pair; blank where nothing.

    Attributes:
        person: The annotator, or ``completions``.
        key: The key of the pair.
        texts: The completed first and second sentence.
    """

    person: str
    key: str
    texts: tuple[str, str]


def count_sentences(texts: CompletedTexts) -> int:
    """Return the number of sentences that are completed."""
    return sum(text is not None for pair in texts.values() for text in pair)


def plain_completion(text: str) -> str:
    """Return a completed sentence with single blanks between words, as spreadsheets may not."""
    return " ".join(text.split())


def is_slip(original: str, completed: str) -> bool:
    """Return whether a completion has so little of the original that it is likely another's.

    That is so of a column that was sorted or moved by itself, and of a sentence that was replaced.
    """
    was, now = ("".join(filter(str.isalnum, text)).casefold() for text in (original, completed))
    parts = {was[start : start + 3] for start in range(max(1, len(was) - 2))}
    return sum(part in now for part in parts) < MIN_SHARED * len(parts)


def settle_completions(
    given: Mapping[str, Sequence[Completed]], originals: Mapping[str, tuple[str, str]]
) -> Completions:
    """Settle which text each sentence has.

    What ``completions.csv`` says is taken; the original text there keeps it as it is. Elsewhere a
    sentence is completed as the annotators did who completed it, if they all wrote the same. If
    they did not, that is a conflict: the sentence stays as it is until ``completions.csv`` decides.
    A completion that equals the original is none.

    Args:
        given: By pair, what people wrote.
        originals: By pair, the first and the second sentence.
    """
    texts: dict[str, tuple[str | None, str | None]] = {}
    conflicts: list[Conflict] = []
    by_person: Counter[str] = Counter()
    for id_, found in sorted(given.items()):
        chosen: list[str | None] = []
        for place, column in enumerate(COLUMNS):
            original = plain_completion(originals[id_][place])
            wrote = {one.person: one.texts[place] for one in found if one.texts[place]}
            by_person.update(name for name, text in wrote.items() if text != original)
            decided = wrote.pop(_DECIDED, None)
            changed = {name: text for name, text in wrote.items() if text != original}
            options = {decided} if decided else set(changed.values())
            if len(options) > 1:
                conflicts.append(Conflict(id_, found[0].key, column, changed))
            text = options.pop() if len(options) == 1 else original
            chosen.append(None if text == original else text)
        if any(text is not None for text in chosen):
            texts[id_] = (chosen[0], chosen[1])
    return Completions(texts, tuple(conflicts), dict(sorted(by_person.items())))
