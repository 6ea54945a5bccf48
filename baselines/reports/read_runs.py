"""Find the folders of runs, and read and check their files."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...loaders.errors import NLIHubError, PredictionsError, SourceNotFoundError, UsageError
from ...metrics.inputs.files import read_input_file
from ...metrics.inputs.problems import MetricInputError
from ..evaluation.scoring import flat_scores
from ..runs.config import RunConfig
from ..runs.folder import CONFIG, METRICS, RECORD, RunFolder

#: The facts about its rows that every result has.
_DESCRIBED = ("name", "version", "config", "split", "rows", "digest")


@dataclass(frozen=True)
class Evaluation:
    """The results of a run on one test set.

    Attributes:
        key: The name of the test set in file names.
        test: The name of the test set in the run's config.
        dataset: The description of the test set, like ``GoldRows.description``.
        file: The file of predictions.
        n_unanswered: Number of rows without a prediction, which count as wrong.
        metrics: By name of the metric, its result.
    """

    key: str
    test: str
    dataset: Mapping[str, Any]
    file: Path
    n_unanswered: int
    metrics: Mapping[str, Mapping[str, Any]]

    @cached_property
    def scores(self) -> Mapping[str, float]:
        """Return the scores of all metrics by name, from 0 to 1.

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


def read_run_columns(file: Path, *columns: str) -> pa.Table:
    """Read a file of rows of a run, which must have some columns.

    Raises:
        PredictionsError: The file cannot be read, or lacks a column.
    """
    try:
        table = read_input_file(file)
    except (MetricInputError, OSError) as error:
        raise PredictionsError(f"{file} cannot be read: {error}") from None
    if missing := [name for name in columns if name not in table.column_names]:
        listed = ", ".join(table.column_names)
        raise PredictionsError(
            f"{file}: the column {', '.join(missing)} is missing; the columns are {listed}."
        )
    return table


@dataclass(frozen=True)
class FinishedRun:
    """A finished run of a baseline.

    Attributes:
        folder: The run's folder.
        place: The run's folder, relative to the folder that the report is on.
        config: The run's config.
        record: The run's record.
        evaluations: The results by the digest of the test rows.
    """

    folder: Path
    place: str
    config: RunConfig
    record: Mapping[str, Any]
    evaluations: Mapping[str, Evaluation]


def find_runs(folder: Path) -> list[Path]:
    """Find the folders of runs in a folder at any depth, itself included, in the order of paths.

    A run has a ``config.json``, and a ``record.json`` since its start. Other folders with a
    ``config.json``, such as those of models, do not count.

    Raises:
        SourceNotFoundError: There are no runs.
    """
    found = sorted(path.parent for path in folder.rglob(CONFIG) if _is_run(path.parent))
    if not found:
        raise SourceNotFoundError(
            f"{folder} contains no runs; expected folders with {CONFIG} and {RECORD}."
        )
    return found


def _is_run(folder: Path) -> bool:
    if (folder / RECORD).is_file():
        return True
    try:
        return {"method", "tests", "seed"} <= RunFolder(folder).read_json(CONFIG).keys()
    except UsageError:
        return False


def read_run(folder: Path, place: str) -> FinishedRun:
    """Read a finished run from its folder, whose name in the report is ``place``.

    Raises:
        SourceNotFoundError: A file is missing.
        UsageError: A file is malformed, or a test set has no result.
    """
    kept = RunFolder(folder)
    record = kept.read_json(RECORD)
    try:
        config = RunConfig.from_json(kept.read_json(CONFIG))
    except (NLIHubError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{folder / CONFIG} is not the config of a run: {error}") from error
    path = folder / METRICS
    entries = kept.read_json(METRICS).get("evaluations")
    if not isinstance(entries, dict) or not entries:
        raise UsageError(f"{path} has no evaluations; expected one for each test set.")
    read = [_read_evaluation(folder, key, entry) for key, entry in entries.items()]
    if missing := sorted(set(config.tests) - {evaluation.test for evaluation in read}):
        raise UsageError(f"{path} has no evaluation of {', '.join(missing)}.")
    return FinishedRun(
        folder, place, config, record, {str(e.dataset["digest"]): e for e in reversed(read)}
    )


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
        raise UsageError(
            f"{path}: expected scores from 0 to 1; {', '.join(wrong)} of {key} are not."
        )
    if not file.is_file():
        raise SourceNotFoundError(f"{file} is missing; the run in {folder} is incomplete.")
    return found
