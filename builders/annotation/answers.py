"""Answers that came back: read strictly, stored in one file, and the sentences people completed.

Whatever is not an answer to its item is a defect.

Source: SciNLI, section 3.3, first step: sentences that were broken by the extraction are completed.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from ...loaders.atomic_write import whole_file
from ...loaders.errors import AnnotationError, Defect, UsageError
from ...loaders.json_text import parse_json
from .batch import COMPLETIONS_FILE, Batch, Item
from .questions import Question
from .sheets import ANSWER, COMPLETED, TEXTS, Entries, Entry, read_label_studio, read_sheet

ANSWERS_FILE = "answers.json"
_MAINTAINER = COMPLETIONS_FILE.removesuffix(".csv")
#: The share of the letters of a broken sentence, by threes, that a completion must have. Of 100,000
#: random pairs of SciNLI's sentences 21 have as much in common.
MIN_SHARED = 0.5

#: By key and person, what they wrote into the columns ``answer`` and ``COMPLETED``.
_Stored = Mapping[str, Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True)
class Conflict:
    """A sentence that people completed differently.

    Attributes:
        id: The id of the item.
        key: Its key in the sheets.
        column: One of ``COMPLETED``.
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
        pairs: Number of pairs with a completed sentence.
        sentences: Number of completed sentences.
        by_person: How many sentences each person completed.
        texts: By id and column of ``COMPLETED``, the completed sentence.
        conflicts: The sentences that people completed differently and nobody has decided on.
    """

    pairs: int
    sentences: int
    by_person: Mapping[str, int]
    texts: Mapping[str, Mapping[str, str]]
    conflicts: Sequence[Conflict]


@dataclass(frozen=True)
class Answers:
    """All answers to all batches.

    Attributes:
        by_key: For every item, by key, the answers by person; empty where nobody has answered.
        completions: The sentences that people completed.
    """

    by_key: Mapping[str, Mapping[str, str]]
    completions: Completions


def read_answers(folder: Path, batches: Sequence[Batch]) -> Answers:
    """Read all answers that were imported into a folder of batches.

    Raises:
        AnnotationError: ``answers.json`` is damaged, or not of these batches.
    """
    items = {key: item for batch in batches for key, item in batch.items.items()}
    try:
        stored = _read_stored(folder)
        by_key: dict[str, dict[str, str]] = {key: {} for key in items}
        for key, given in stored.items():
            by_key[key] = {name: cells[ANSWER] for name, cells in given.items() if cells[ANSWER]}
        completions = settle_completions(items, stored)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"not as it was written: {type(error).__name__} {error}"
        defect = Defect(str(folder / ANSWERS_FILE), 0, "", problem)
        raise AnnotationError(
            [defect], f"Restore {ANSWERS_FILE}, or delete it and import the answers again."
        ) from None
    return Answers(by_key, completions)


def import_files(folder: Path, batches: Sequence[Batch], files: Sequence[Path]) -> None:
    """Import files of answers to any batches, all or none.

    The file name of a sheet names its person; in an export of Label Studio each answer names its
    own. The keys tell the batch. What a person answers replaces what the same person answered to
    that batch before. The texts must have the letters and digits of the item (spreadsheets change
    other characters), so that a column sorted by itself is noticed. Sentences are completed in
    columns of their own, in which most of the sentence must be found again; ``completions.csv``
    has these columns alone.

    Raises:
        AnnotationError: A file is neither a sheet nor an export of Label Studio, lacks a column, or
            is not named after a person; an item is unknown or has other texts; a person answered an
            item twice; an answer is not among those of the question; a sentence is completed by
            other words, or where that is not asked for. Lists every defect with file and line.
        AnnotationError: The answers in the folder are damaged.
        UsageError: Nothing is answered.
        OutputError: The folder cannot be written to.
    """
    items = {key: item for batch in batches for key, item in batch.items.items()}
    question = batches[0].question
    new: defaultdict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    defects: list[Defect] = []
    for path in files:
        entries, wrong = read_answer_file(path, batches[0])
        defects += wrong
        if len(entries) > 1 and all(_find_misplaced(entry, items) for entry in entries):
            problem = f"none of its {len(entries):,} pairs is of these batches"
            defects.append(Defect(str(path), 0, "", problem))
            continue
        for entry in entries:
            problems = [_find_misplaced(entry, items)]
            if entry.key in items:
                problems += _find_problems(entry, items[entry.key], question)
            cells = {ANSWER: question.read_cell(entry.cells[ANSWER])[0]}
            cells |= {column: _plain(entry.cells[column]) for column in COMPLETED}
            if any(cells.values()):  # a blank sheet leaves what was answered before
                if entry.person in new[entry.key]:
                    problems.append(f"{entry.person} has already answered the pair {entry.key!r}")
                new[entry.key][entry.person] = cells
            defects += (Defect(str(path), entry.line, entry.where, p) for p in problems if p)
    if defects:
        advice = "Nothing was imported. Correct the files, or have the annotators correct them."
        raise AnnotationError(defects, advice)
    if not new:
        names = ", ".join(file.name for file in files) or "no file"
        raise UsageError(f"{names}: no pair is answered; submit answers before exporting.")
    with FileLock(folder / ".answers.lock"):  # others may import at the same time
        read_answers(folder, batches)  # for its error
        stored = {**_read_stored(folder)}
        for batch in batches:
            people = {person for key in batch.items for person in new.get(key, ())}
            for key in batch.items:
                kept = {name: c for name, c in stored.get(key, {}).items() if name not in people}
                stored[key] = dict(sorted({**kept, **new.get(key, {})}.items()))
        with whole_file(folder / ANSWERS_FILE) as partial:
            partial.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def _read_stored(folder: Path) -> _Stored:
    path = folder / ANSWERS_FILE
    return parse_json(path.read_bytes()) if path.is_file() else {}


def read_answer_file(path: Path, batch: Batch) -> Entries:
    """Read a sheet or an export of Label Studio: its entries, and the defects of the rest.

    Args:
        path: The file: a sheet, or a JSON, JSON-MIN, CSV or TSV export.
        batch: A batch of the folder, which tells who has a sheet.
    """
    if (found := read_label_studio(path)) is not None:
        return found
    # Not any name: "annotator-1-b001 (1).csv", saved twice, would vote twice.
    match = re.fullmatch(rf"({batch.question.person}-[0-9]+)(-b[0-9]+)?\.csv", path.name)
    if path.name == COMPLETIONS_FILE and batch.question.may_complete:
        person, required, optional = _MAINTAINER, [*COMPLETED], [ANSWER]
    elif match and match[1] in batch.people:
        person, required, optional = match[1], [ANSWER], [*COMPLETED]
    else:
        problem = (
            f"neither named after {' or '.join(batch.people)}, as in {batch.people[0]}-b001.csv, "
            "nor an export of Label Studio in JSON or CSV"
        )
        return [], [Defect(str(path), 0, "", problem)]
    rows, defects = read_sheet(path, ("id", *TEXTS, *required), optional)
    entries = [
        Entry(line, "", person, row["id"], tuple(row[name] for name in TEXTS), row)
        for line, row in rows
    ]
    return entries, defects


def _find_misplaced(entry: Entry, items: Mapping[str, Item]) -> str:
    """Return what is wrong with the key or the texts of an entry; empty if nothing is."""
    if entry.key not in items:
        return f"the pair {entry.key!r} is unknown"
    item = items[entry.key]
    # Spreadsheets trim blanks and change line ends.
    if [*map(_letters, entry.texts)] == [_letters(item.premise), _letters(item.hypothesis)]:
        return ""
    return f"the sentences are not those of the pair {entry.key!r}: were they moved or edited?"


def _find_problems(entry: Entry, item: Item, question: Question) -> Iterator[str]:
    yield question.read_cell(entry.cells[ANSWER])[1]
    for column, was in zip(COMPLETED, (item.premise, item.hypothesis), strict=True):
        text = _plain(entry.cells[column])
        if text and not question.may_complete:
            yield "a sentence is completed, but the batch does not ask for that; leave it blank"
        elif text and looks_misplaced(was, text):
            yield (
                f"{column} of the pair {entry.key!r} is {text[:60]!r}, which has little of its "
                f"sentence {was[:60]!r}: was the column sorted by itself?"
            )


def looks_misplaced(original: str, completed: str) -> bool:
    """Return whether a completion has so little of the original that it is likely another's.

    That is so of a column that was sorted or moved by itself, and of a sentence that was replaced.
    """
    was, now = _letters(original).casefold(), _letters(completed).casefold()
    parts = {was[start : start + 3] for start in range(max(1, len(was) - 2))}
    return sum(part in now for part in parts) < MIN_SHARED * len(parts)


def settle_completions(items: Mapping[str, Item], written: _Stored) -> Completions:
    """Settle which text each sentence has.

    What ``completions.csv`` says is taken; the original text there keeps it as it is. Elsewhere a
    sentence is completed as the annotators did who completed it, if they all wrote the same. If
    they did not, that is a conflict: the sentence stays as it is until ``completions.csv`` decides.
    A completion that equals the original is none.

    Args:
        items: The items by key.
        written: By key and person, what they wrote into the columns of ``COMPLETED``.
    """
    texts: dict[str, dict[str, str]] = {}
    conflicts: list[Conflict] = []
    by_person: Counter[str] = Counter()
    for key in sorted(written, key=lambda key: items[key].id):
        item = items[key]
        settled: dict[str, str] = {}
        for column, text in zip(COMPLETED, (item.premise, item.hypothesis), strict=True):
            original = _plain(text)
            given = {name: cells[column] for name, cells in written[key].items() if cells[column]}
            changed = {name: text for name, text in given.items() if text != original}
            by_person.update(changed.keys())
            decided = given.get(_MAINTAINER)
            options = {decided} if decided else set(changed.values())
            if len(options) > 1:
                conflicts.append(Conflict(item.id, key, column, changed))
            elif options - {original}:
                settled[column] = options.pop()
        if settled:
            texts[item.id] = settled
    n_sentences = sum(map(len, texts.values()))
    return Completions(len(texts), n_sentences, dict(sorted(by_person.items())), texts, conflicts)


def _plain(text: str) -> str:
    """Return a text with single blanks between words, as spreadsheets may not."""
    return " ".join(text.split())


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
