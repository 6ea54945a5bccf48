"""Scores in the form in which the page of a model shows them: ``.eval_results/NAME.yaml``.

The Hub takes such a file from a model's repository, and shows its values on the model's page and
in the leaderboard of the benchmark, a dataset with ``eval.yaml``. A value stands for a whole test
split of one published version, so both are checked here.

Source: the format that huggingface_hub 2.4 writes (``eval_result_entries_to_yaml``), and
https://huggingface.co/docs/hub/eval-results.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ..baselines.evaluation.gold import GoldRows
from ..baselines.evaluation.harness_logs import (
    RUN_AGAIN,
    HarnessLog,
    read_logs,
    restrict_to_logs,
)
from ..baselines.evaluation.predictions import read_predictions
from ..baselines.evaluation.scoring import score_predictions
from ..loaders.atomic_write import whole_file
from ..loaders.errors import PredictionsError, UsageError, VersionError
from ..loaders.paths import local_path
from .benchmark import FILE_NAME, SPLIT
from .remote import RemoteVersion, parse_reference

_FOLDER = ".eval_results"
_DIGITS = 6


class Benchmark:
    """A published version of a dataset that the Hub takes for a benchmark.

    Args:
        reference: ``ORG/NAME@X.Y.Z``.

    Raises:
        UsageError: The reference is malformed.
        VersionError: There is no such version, or it has no ``eval.yaml``.
        HubError: The Hub refuses, or cannot be reached.
    """

    def __init__(self, reference: str) -> None:
        self.version = RemoteVersion(*parse_reference(reference))
        self.name = f"{self.version.repository.name}@{self.version.number}"
        if FILE_NAME not in self.version.repository.files(self.version.commit):
            raise VersionError(
                f"{self.name} has no {FILE_NAME}, so that no page would show results on it. "
                "Publish its next version, which has one."
            )

    def configs_of(self, digest: str) -> list[str]:
        """Return the configs whose test split has rows of this digest."""
        configs = self.version.manifest.configs
        return [
            name
            for name, splits in configs.items()
            if SPLIT in splits and splits[SPLIT].digest == digest
        ]

    def entry(self, config: str, accuracy: float, notes: str) -> dict[str, Any]:
        """Return what the file says of the test split of a config.

        Args:
            config: The config, which is the name of the benchmark's task.
            accuracy: Of the model on all of its rows, from 0 to 1.
            notes: How it was evaluated.
        """
        dataset = {"id": self.version.repository.name, "task_id": config}
        return {
            "dataset": dataset | {"revision": self.version.commit},
            "value": round(accuracy, _DIGITS),
            "notes": notes,
        }

    def file(self, entries: Sequence[Mapping[str, Any]]) -> tuple[str, bytes]:
        """Return the path of the file in a model's repository, and its bytes."""
        name = self.version.repository.name.partition("/")[2]
        content = yaml.safe_dump([dict(entry) for entry in entries], sort_keys=False)
        return f"{_FOLDER}/{name}.yaml", content.encode()


def eval_results(
    logs: str | Path | Iterable[str | Path], benchmark: str, output: str | Path
) -> Path:
    """Write the accuracies in logs of harnesses as the page of a model shows them.

    ``hf upload ORG/MODEL FOLDER`` sends them. An answer that cannot be read is wrong, as it is in
    the scores of the harness.

    Args:
        logs: Logs of one model on our tasks, one for each config: ``samples_*.jsonl`` of lm_eval,
            ``details_*.parquet`` of lighteval, or a log of Inspect.
        benchmark: The published version that was asked, ``ORG/NAME@X.Y.Z``.
        output: Folder to write ``.eval_results/NAME.yaml`` to, such as a clone of the model's
            repository; a file of that name is replaced.

    Returns:
        The file.

    Raises:
        UsageError: No log is given, the reference is malformed, or there are two logs of a config.
        PredictionsError: A file is no log of our tasks, is of a run that did not end well or in
            which calls failed, has rows of another version, not all rows of its split, or is of
            another model than the first.
        VersionError: There is no such version, or it has no ``eval.yaml``.
        HubError: The Hub refuses, or cannot be reached.
    """
    paths = [local_path(path) for path in ([logs] if isinstance(logs, str | Path) else logs)]
    if not paths:
        raise UsageError("Expected at least one log.")
    found = read_logs(paths)
    if others := [path.name for path in paths if path not in found]:
        raise PredictionsError(f"{others[0]} is no log of a harness on a task of nlihub.")
    for path, log in found.items():
        if not log.is_complete:
            raise PredictionsError(
                f"{path.name} is of a run that is not complete: {log.state}. {RUN_AGAIN}"
            )
    _check_one_model(found)
    published = Benchmark(benchmark)
    entries = [
        published.entry(log.config, _accuracy(published, path, log), str(log))
        for path, log in found.items()
    ]
    name, content = published.file(entries)
    path = local_path(output) / name
    with whole_file(path) as part:
        part.write_bytes(content)
    return path


def _check_one_model(logs: Mapping[Path, HarnessLog]) -> None:
    models = {log.model for log in logs.values()}
    if len(models) > 1:
        names = ", ".join(sorted(str(model) for model in models))
        raise PredictionsError(f"The logs are of several models: {names}. Expected those of one.")
    configs = [log.config for log in logs.values()]
    if repeated := [config for config in configs if configs.count(config) > 1]:
        raise UsageError(
            f"There are several logs of the config {repeated[0]}; a page shows one result of each."
        )


def _accuracy(benchmark: Benchmark, path: Path, log: HarnessLog) -> float:
    """Return the accuracy of a log on the whole test split of its config."""
    if log.config not in benchmark.configs_of(log.digest):
        raise PredictionsError(
            f"{path.name} has rows of {log.dataset}, {log.config}, which are not those of a test "
            f"split of {benchmark.name}."
        )
    version = benchmark.version.fetch([(log.config, SPLIT)])
    gold, n_left_out = restrict_to_logs(
        GoldRows.of_version(version, log.config, SPLIT), {path: log}
    )
    if n_left_out:
        raise PredictionsError(
            f"{path.name} leaves out {n_left_out:,} rows of {log.config}; a result is of all rows. "
            "Run the harness without a limit."
        )
    predictions, _ = read_predictions(gold, log.predictions, name=path.name)
    scores = score_predictions(gold, predictions, metrics=["nli_report"])
    return float(scores["nli_report"]["accuracy"])
