"""The folder of batches: its layout, written once and read in every later session.

::

    batch-001/
        batch.json            label set and number of annotators
        key.csv               the id of each key; ids may tell labels, so annotators must not
                              see it
        for_annotators/
            annotator-1.csv   one for each annotator, to fill in
            tasks.json        the same pairs for Label Studio
            labels.xml        and its labelling configuration
            instructions.md
        answers/              the answers that came back
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...loaders.errors import AnnotationError, Defect
from .label_studio import KEY
from .sheets import read_sheet

SETTINGS_FILE = "batch.json"
KEY_FILE = "key.csv"
SHEETS_FOLDER = "for_annotators"
TASKS_FILE = f"{SHEETS_FOLDER}/tasks.json"
CONFIG_FILE = f"{SHEETS_FOLDER}/labels.xml"
INSTRUCTIONS_FILE = f"{SHEETS_FOLDER}/instructions.md"
ANSWERS_FOLDER = "answers"
KEY_COLUMNS = ("key", "id")

_NAME = re.compile(r"batch-([0-9]{3,})")


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair as annotators saw it.

    Attributes:
        id: The id of the candidate.
        premise: The first sentence.
        hypothesis: The second sentence.
    """

    id: str
    premise: str
    hypothesis: str


@dataclass(frozen=True)
class Batch:
    """An exported batch.

    Attributes:
        folder: Its folder.
        labels: The label set, without ``unclear``.
        n_annotators: How many annotators are asked for an answer to each pair.
        pairs: Its pairs, by the key that annotators see.
    """

    folder: Path
    labels: tuple[str, ...]
    n_annotators: int
    pairs: Mapping[str, Pair]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of its pairs."""
        return frozenset(pair.id for pair in self.pairs.values())

    @property
    def annotators(self) -> tuple[str, ...]:
        """The names of the annotators who answer in sheets."""
        return annotator_names(self.n_annotators)

    @property
    def sheets(self) -> Path:
        """The folder for the annotators, who get nothing else."""
        return self.folder / SHEETS_FOLDER

    def answer_files(self) -> list[Path]:
        """Return the files of answers that came back, sorted, without hidden files."""
        folder = self.folder / ANSWERS_FOLDER
        if not folder.is_dir():
            return []
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def annotator_names(n_annotators: int) -> tuple[str, ...]:
    """Return the names of annotators, which are also the names of their files."""
    return tuple(f"annotator-{number}" for number in range(1, n_annotators + 1))


def batch_name(number: int) -> str:
    """Return the name of the folder of a batch, counted from 1."""
    return f"batch-{number:03d}"


def read_batches(folder: Path) -> list[Batch]:
    """Read the batches of a folder.

    Args:
        folder: The folder of batches.

    Returns:
        The batches in order; none where the folder does not exist.

    Raises:
        AnnotationError: A batch or a file of it is missing or damaged, a pair is in two batches,
            or label sets or numbers of annotators differ between batches; lists every defect.
    """
    found = sorted(
        (int(match[1]), path)
        for path in (folder.iterdir() if folder.is_dir() else ())
        if (match := _NAME.fullmatch(path.name))
    )
    defects: list[Defect] = []
    batches: list[Batch] = []
    there = {number for number, _ in found}
    for number in set(range(1, max(there, default=0))) - there:
        defects.append(Defect(str(folder / batch_name(number)), 0, "", "the batch is missing"))
    for _, path in found:
        batch = _read_batch(path, defects)
        if batch is not None:
            batches.append(batch)
    defects += _contradictions(batches)
    if defects:
        raise AnnotationError(defects, "Put back what was exported.")
    return batches


def check_batches(batches: Iterable[Batch], candidates: pa.Table) -> None:
    """Check that the annotated pairs are unchanged among the candidates.

    Args:
        batches: The batches.
        candidates: The candidates.

    Raises:
        AnnotationError: A pair is no longer a candidate, or has another text; lists every pair.
    """
    columns = (candidates[name].to_pylist() for name in ("id", "premise", "hypothesis"))
    now = {id_: Pair(id_, *texts) for id_, *texts in zip(*columns, strict=True)}
    defects = [
        Defect(
            str(batch.folder / KEY_FILE),
            0,
            f"pair {key}",
            f"{pair.id!r} {'has another text now' if pair.id in now else 'is not a candidate'}",
        )
        for batch in batches
        for key, pair in batch.pairs.items()
        if now.get(pair.id) != pair
    ]
    if defects:
        raise AnnotationError(defects, "Give the version that the batches were drawn from.")


def _read_batch(folder: Path, defects: list[Defect]) -> Batch | None:
    """Read a batch; where it is damaged, return None and add to the defects."""
    n_before = len(defects)
    settings = _read_json(folder / SETTINGS_FILE, defects)
    tasks = _read_json(folder / TASKS_FILE, defects)
    rows, wrong = read_sheet(folder / KEY_FILE, KEY_COLUMNS)
    defects += wrong
    if len(defects) > n_before:
        return None
    ids = {row["key"]: row["id"] for _, row in rows}
    try:
        labels = tuple(map(str, settings["labels"]))
        n_annotators = int(settings["n_annotators"])
        data = [task["data"] for task in tasks]
        texts = {str(d[KEY]): (str(d["premise"]), str(d["hypothesis"])) for d in data}
    except (KeyError, TypeError, ValueError) as error:
        problem = f"not as it was exported: {type(error).__name__} {error}"
        defects.append(Defect(str(folder), 0, f"{SETTINGS_FILE} or {TASKS_FILE}", problem))
        return None
    if ids.keys() != texts.keys() or len(ids) < len(rows) or not ids:
        problem = f"its keys are not those of {TASKS_FILE}"
        defects.append(Defect(str(folder / KEY_FILE), 0, "", problem))
        return None
    pairs = {key: Pair(id_, *texts[key]) for key, id_ in ids.items()}
    return Batch(folder, labels, n_annotators, pairs)


def _read_json(path: Path, defects: list[Defect]) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        defects.append(Defect(str(path), 0, "", f"cannot be read: {error.strerror}"))
    except (ValueError, RecursionError) as error:
        defects.append(Defect(str(path), 0, "", f"not JSON: {error}"))
    return None


def _contradictions(batches: Sequence[Batch]) -> list[Defect]:
    defects = [
        Defect(
            str(batch.folder / SETTINGS_FILE),
            0,
            "",
            f"{', '.join(batch.labels)} by {batch.n_annotators} annotators; the first batch has "
            f"{', '.join(batches[0].labels)} by {batches[0].n_annotators}",
        )
        for batch in batches[1:]
        if (batch.labels, batch.n_annotators) != (batches[0].labels, batches[0].n_annotators)
    ]
    times = Counter(pair.id for batch in batches for pair in batch.pairs.values())
    defects += [
        Defect(str(batch.folder / KEY_FILE), 0, f"pair {key}", f"{pair.id!r} occurs twice")
        for batch in batches
        for key, pair in batch.pairs.items()
        if times[pair.id] > 1
    ]
    return defects
