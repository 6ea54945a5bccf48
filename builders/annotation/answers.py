"""Strict reading of annotators' answers: whatever is not an answer to its pair is a defect."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...loaders.errors import AnnotationError, Defect, UsageError
from .answer_files import (
    list_unreplaced,
    name_answer_files,
    read_answer_file,
    store_answer_files,
)
from .batches import ANSWERS_FOLDER, AnnotationBatch
from .completions import (
    COLUMNS,
    COMPLETIONS_FILE,
    Completed,
    Completions,
    is_slip,
    plain_completion,
    settle_completions,
)
from .sheets import Entries, Entry, read_sheet_answers

_ADVICE = "Nothing was imported. Correct the files, or have the annotators correct them."


@dataclass(frozen=True)
class Answers:
    """All answers of annotators to all batches.

    Attributes:
        by_pair: For every pair of the batches, by id, the answers by annotator: a label or another
            answer of the batch, as ``unclear``. A pair without answers has an empty mapping.
        not_answered: By annotator with a file, the number of unanswered pairs in the batches that
            the files belong to.
        completions: The sentences that people completed.
    """

    by_pair: Mapping[str, Mapping[str, str]]
    not_answered: Mapping[str, int]
    completions: Completions


def read_answers(batches: Sequence[AnnotationBatch]) -> Answers:
    """Read all answers of annotators that came back.

    The file name of a sheet names its annotator, ``annotator-1.csv``; in an export of Label Studio
    each answer names its own. Case and surrounding blanks of a label do not count. The sentences
    must have the letters and digits of the pair (spreadsheets change other characters), so that a
    column sorted by itself is noticed. Sentences are completed in columns of their own, in which
    most of the sentence must be found again; ``completions.csv`` has these columns alone.

    Args:
        batches: All batches of a folder.

    Raises:
        AnnotationError: A file is neither a CSV nor an export of Label Studio, lacks a column, or
            is not named after an annotator; a pair is unknown, of another batch or has other
            sentences; an annotator answered or completed a pair twice, even with the same words;
            an answer is not among those of the batch; a sentence is completed by other words, or
            where the batch does not ask for that. Lists every defect with file, line and value.
    """
    return _read({batch.folder: batch.answer_files() for batch in batches}, batches)


def add_answers(
    batches: Sequence[AnnotationBatch], batch: AnnotationBatch, files: Sequence[Path]
) -> Answers:
    """Copy files of answers into the folder of their batch, and return all answers to all batches.

    A sheet replaces the earlier sheet of its annotator, an export of Label Studio the earlier one.

    Args:
        batches: All batches of the folder.
        batch: The batch that the files answer.
        files: The files.

    Raises:
        AnnotationError: A file has a defect that ``read_answers`` lists; nothing is copied.
        UsageError: Two of the files would have the same name.
        OutputError: The folder cannot be written to.
    """
    names = name_answer_files(files, person="annotator")
    sources = {each.folder: each.answer_files() for each in batches}
    kept = list_unreplaced(sources[batch.folder], names)
    answers = _read({**sources, batch.folder: [*kept, *files]}, batches)
    store_answer_files(batch.folder / ANSWERS_FOLDER, names, files)
    return answers


def check_answered(batches: Sequence[AnnotationBatch]) -> None:
    """Check that the last annotation batch has answers, before the next one is drawn.

    Raises:
        AnnotationError: A file of it has a defect that ``read_answers`` lists.
        UsageError: It has no answer.
    """
    if batches and not _is_answered(batches[-1]):
        raise UsageError(
            f"{batches[-1].folder} has no answers yet; import them first: nlihub annotate import."
        )


def import_answer_files(
    folder: Path, batches: Sequence[AnnotationBatch], files: Sequence[Path], command: str
) -> None:
    """Import annotators' answers to the last batch, or completions to the batch that they name.

    Args:
        folder: The folder of batches.
        batches: All batches that are in it.
        files: The files of answers.
        command: The command that makes a batch.

    Raises:
        AnnotationError: A file has a defect that ``read_answers`` lists; nothing is imported.
        UsageError: There is no batch, nothing is answered, or two files would have one name.
        OutputError: The folder cannot be written to.
    """
    if not batches:
        raise UsageError(f"{folder} has no batch; make one: {command}.")
    batch = _answered_batch(batches, files)
    answers = add_answers(batches, batch, files)
    if not _is_answered(batch) and not answers.completions.by_person:
        names = ", ".join(file.name for file in files)
        raise UsageError(f"{names}: no pair is answered; submit answers before exporting.")


def _answered_batch(batches: Sequence[AnnotationBatch], files: Sequence[Path]) -> AnnotationBatch:
    """Return the last batch; for completions alone the one whose key comes first in the file."""
    if [file.name for file in files] == [COMPLETIONS_FILE]:
        entries, _ = read_sheet_answers(files[0])
        keys = {entry.key for entry in entries[:1]}
        return next((batch for batch in batches if keys & batch.pairs.keys()), batches[-1])
    return batches[-1]


def _is_answered(batch: AnnotationBatch) -> bool:
    return any(read_answers([batch]).by_pair.values())


def _read(files: Mapping[Path, Sequence[Path]], batches: Sequence[AnnotationBatch]) -> Answers:
    homes = {key: batch.folder.name for batch in batches for key in batch.pairs}
    by_pair: dict[str, dict[str, str]] = {id_: {} for batch in batches for id_ in batch.ids}
    not_answered: Counter[str] = Counter()
    completed: defaultdict[str, list[Completed]] = defaultdict(list)
    defects: list[Defect] = []
    for batch in batches:
        reader = _BatchReader(batch, homes)
        for path in files[batch.folder]:
            reader.read(path)
        defects += reader.defects
        for annotator, labels in reader.given.items():
            not_answered[annotator] += len(batch.pairs) - len(labels)
            for key, label in labels.items():
                by_pair[batch.pairs[key].id][annotator] = label
        for one in reader.completed.values():
            completed[batch.pairs[one.key].id].append(one)
    if defects:
        raise AnnotationError(defects, _ADVICE)
    texts = {
        pair.id: (pair.premise, pair.hypothesis)
        for batch in batches
        for pair in batch.pairs.values()
    }
    return Answers(by_pair, not_answered, settle_completions(completed, texts))


class _BatchReader:
    """A reader of the files of one batch."""

    def __init__(self, batch: AnnotationBatch, homes: Mapping[str, str]) -> None:
        self.given: defaultdict[str, dict[str, str]] = defaultdict(dict)  # by annotator and key
        self.completed: dict[tuple[str, str], Completed] = {}  # by annotator and key
        self.defects: list[Defect] = []
        self._batch = batch
        self._homes = homes  # of the keys of all batches
        self._labels = {_plain(label): label for label in (*batch.labels, *batch.others)}

    def read(self, path: Path) -> None:
        entries, defects = _entries(path, self._batch)
        self.defects += defects
        if len(entries) > 1 and all(self._misplaced(entry) for entry in entries):
            self.defects.append(
                Defect(
                    str(path),
                    0,
                    "",
                    f"none of its {len(entries):,} pairs is as in {self._batch.folder.name}: is it "
                    "a file of another batch, or of another annotation?",
                )
            )
            return
        for entry in entries:
            given = self.given[entry.annotator] if path.name != COMPLETIONS_FILE else {}
            problems = list(self._problems(entry, given))
            self.defects += (Defect(str(path), entry.line, entry.where, p) for p in problems)
            if problems:
                continue
            if _plain(entry.answer):
                given[entry.key] = self._labels[_plain(entry.answer)]
            texts = (plain_completion(entry.completed[0]), plain_completion(entry.completed[1]))
            if any(texts):
                one = Completed(entry.annotator, entry.key, texts)
                self.completed[entry.annotator, entry.key] = one

    def _misplaced(self, entry: Entry) -> str:
        """Return what is wrong with the key or the sentences of an entry; empty if nothing is."""
        key = entry.key
        pair = self._batch.pairs.get(key)
        if pair is None:
            home = self._homes.get(key)
            other = f"of {home}, not of {self._batch.folder.name}" if home else "unknown"
            return f"the pair {key!r} is {other}"
        if _core(entry.premise, entry.hypothesis) != _core(pair.premise, pair.hypothesis):
            return f"the sentences are not those of the pair {key!r}: were they moved or edited?"
        return ""

    def _problems(self, entry: Entry, given: Mapping[str, str]) -> Iterator[str]:
        key, answer = entry.key, _plain(entry.answer)
        if misplaced := self._misplaced(entry):
            yield misplaced
        pair = self._batch.pairs.get(key)
        if pair is None:
            return
        if answer and key in given:
            yield f"{entry.annotator} has already answered the pair {key!r}"
        if answer and answer not in self._labels:
            expected = ", ".join(self._labels.values())
            yield f"the answer {entry.answer!r} is unknown; expected {expected}"
        if not any(map(str.strip, entry.completed)):
            return
        if not self._batch.may_complete:
            yield "a sentence is completed, but the batch does not ask for that; leave it blank"
        if (entry.annotator, key) in self.completed:
            yield f"{entry.annotator} has already completed the pair {key!r}"
        originals = (pair.premise, pair.hypothesis)
        for column, was, text in zip(COLUMNS, originals, entry.completed, strict=True):
            if text.strip() and is_slip(was, text):
                yield (
                    f"{column} of the pair {key!r} is {_shortened(text)}, which has little of its "
                    f"sentence {_shortened(was)}: was the column sorted by itself?"
                )


def _entries(path: Path, batch: AnnotationBatch) -> Entries:
    return read_answer_file(
        path, batch.annotators, role="an annotator", takes_completions=batch.may_complete
    )


def _plain(answer: str) -> str:
    return answer.strip().casefold()


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


def _core(*texts: str) -> list[str]:
    """Return the characters that spreadsheets keep: they trim blanks and change line ends."""
    return ["".join(filter(str.isalnum, text)) for text in texts]
