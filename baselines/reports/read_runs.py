"""Reads runs: their folders, found and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...loaders.errors import NLIHubError, PredictionsError, SourceNotFoundError, UsageError
from ...metrics.inputs.files import read_table
from ...metrics.inputs.problems import MetricInputError
from ..evaluation.scoring import flat_scores
from ..runs.config import RunConfig
from ..runs.folder import CONFIG, METRICS, RECORD, RunFolder

#: The facts about its rows that every result has.
_DESCRIBED = ("name", "version", "config", "split", "rows", "digest")


@dataclass(frozen=True)
class Evaluation:
    """A run on one test set.

    Attributes:
        key: A name for the test set that files can have.
        test: What the run calls it.
        dataset: What it is: ``name``, ``version``, ``config``, ``split``, ``rows``, ``digest``.
        file: The file of predictions.
        n_unanswered: Rows without a prediction, counted as wrong.
        metrics: What each metric returned, by its name.
    """

    key: str
    test: str
    dataset: Mapping[str, Any]
    file: Path
    n_unanswered: int
    metrics: Mapping[str, Mapping[str, Any]]

    @cached_property
    def scores(self) -> Mapping[str, float]:
        """The scores of all metrics, from 0 to 1, by name.

        The names are those of ``flat_scores``, and ``recall SEN``, ``macro_recall neural``,
        ``accuracy projective`` and ``pattern_accuracy 0.95 projective``.
        """
        found: dict[str, float] = {}
        for metric, result in self.metrics.items():
            found |= flat_scores(metric, result) | _scores_by_category(result)
        return found


def _scores_by_category(result: Mapping[str, Any]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for category, found in result.get("by_category", {}).items():
        scores[f"accuracy {category}"] = found["accuracy"]
        for threshold, value in zip(result["thresholds"], found["pattern_accuracy"], strict=True):
            scores[f"pattern_accuracy {threshold} {category}"] = value
    for category, found in result.get("recall_by_category", {}).items():
        scores[f"recall {category}"] = found["recall"]
    macro = result.get("macro_recall", {}).items()
    return scores | {f"macro_recall {kind}": value for kind, value in macro if value is not None}


def read_columns(file: Path, *columns: str) -> pa.Table:
    """A file of rows of a run.

    Raises:
        PredictionsError: It cannot be read, or has not these columns.
    """
    try:
        table = read_table(file)
    except (MetricInputError, OSError) as error:
        raise PredictionsError(f"{file} cannot be read: {error}") from None
    if missing := [name for name in columns if name not in table.column_names]:
        listed = ", ".join(table.column_names)
        raise PredictionsError(f"{file}: there is no column {', '.join(missing)}; it has {listed}.")
    return table


@dataclass(frozen=True)
class Run:
    """A run that came to its end.

    Attributes:
        folder: Its folder.
        place: Its folder as seen from the one that was given.
        config: What it was asked to do.
        record: What it was made with.
        evaluations: How it did, by the digest of the test rows.
    """

    folder: Path
    place: str
    config: RunConfig
    record: Mapping[str, Any]
    evaluations: Mapping[str, Evaluation]


def find_runs(folder: Path) -> list[Path]:
    """The folders of runs in a folder, which may be one, in the order of their paths.

    A run has a ``config.json`` and, once it is done, a ``record.json``. Other folders with a
    ``config.json``, such as those of models, are no runs.

    Raises:
        SourceNotFoundError: There are none.
    """
    found = sorted(path.parent for path in folder.rglob(CONFIG) if _is_run(path.parent))
    if not found:
        raise SourceNotFoundError(
            f"{folder} has no runs; expected folders with {CONFIG} and {RECORD}."
        )
    return found


def _is_run(folder: Path) -> bool:
    if (folder / RECORD).is_file():
        return True
    try:
        return {"method", "tests", "seed"} <= RunFolder(folder).read_json(CONFIG).keys()
    except UsageError:
        return False


def read_run(folder: Path, place: str) -> Run:
    """Reads a run that is done.

    Args:
        folder: Its folder.
        place: What the folder is called in the report.

    Raises:
        SourceNotFoundError: A file is missing.
        UsageError: A file is malformed, or a test has no result.
    """
    kept = RunFolder(folder)
    record = kept.read_json(RECORD)
    try:
        config = RunConfig.from_json(kept.read_json(CONFIG))
    except (NLIHubError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{folder / CONFIG} is no config of a run: {error}") from error
    path = folder / METRICS
    entries = kept.read_json(METRICS).get("evaluations")
    if not isinstance(entries, dict) or not entries:
        raise UsageError(f"{path} has no evaluations.")
    read = [_read_evaluation(folder, key, entry) for key, entry in entries.items()]
    if missing := sorted(set(config.tests) - {evaluation.test for evaluation in read}):
        raise UsageError(f"{path} has no evaluation of {', '.join(missing)}.")
    return Run(folder, place, config, record, {str(e.dataset["digest"]): e for e in reversed(read)})


def _read_evaluation(folder: Path, key: str, entry: Any) -> Evaluation:
    path = folder / METRICS
    try:
        dataset = {name: entry["dataset"][name] for name in _DESCRIBED}
        file, n_unanswered = folder / str(entry["predictions"]), int(entry["n_unanswered"])
        found = Evaluation(key, str(entry["test"]), dataset, file, n_unanswered, entry["metrics"])
        wrong = [name for name, value in found.scores.items() if not 0 <= value <= 1]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: the evaluation {key} is malformed: {error!r}.") from error
    if wrong:
        raise UsageError(f"{path}: {', '.join(wrong)} of {key} are no scores from 0 to 1.")
    if not file.is_file():
        raise SourceNotFoundError(f"{file} is missing; the run is not whole.")
    return found
