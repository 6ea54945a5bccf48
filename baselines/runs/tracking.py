"""Send the numbers of a run to trackers of experiments, through ``accelerate``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...loaders.errors import UnknownNameError, UsageError
from .config import RunConfig

#: The trackers, by the names that ``accelerate`` has for them.
TRACKERS = ("tensorboard", "wandb", "mlflow")
#: The project of all runs, where a tracker has projects; its own variables may name another.
PROJECT = "nlihub"
FOLDER = "tracking"

#: Takes numbers by name, and the epoch that they are of.
Send = Callable[[Mapping[str, float], int], None]


def check_trackers(names: Sequence[str]) -> None:
    """Check that trackers are known and installed.

    Raises:
        UnknownNameError: There is no such tracker.
        UsageError: One is not installed.
    """
    from accelerate.tracking import get_available_trackers

    installed = [str(name) for name in get_available_trackers()]
    for name in names:
        if name not in TRACKERS:
            raise UnknownNameError.of("tracker", name, TRACKERS)
        if name not in installed:
            raise UsageError(f"{name} is not installed: pip install {name}")


@contextmanager
def track_run(names: Sequence[str], config: RunConfig, folder: Path) -> Iterator[Send]:
    """Open trackers for a run, while a block runs.

    TensorBoard writes below ``tracking`` in the run's folder. Weights & Biases and MLflow send to
    where their own settings say, as runs of the project ``nlihub``.

    Args:
        names: The trackers, some of ``TRACKERS``; none sends nothing.
        config: The config of the run, which they show.
        folder: The folder of the run.

    Yields:
        What sends numbers to all of them.
    """
    trackers = [_open(name, config, folder) for name in names]
    for tracker in trackers:
        tracker.start()
        tracker.store_init_configuration(_flat(config))

    def send(values: Mapping[str, float], epoch: int) -> None:
        for tracker in trackers:
            tracker.log(dict(values), step=epoch)

    try:
        yield send
    finally:
        for tracker in trackers:
            tracker.finish()


def numbers_of(entry: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of an entry of the training log, by name."""
    scores = entry["validation"] or {}
    return {"loss": entry["loss"], **{f"validation/{k}": v for k, v in scores.items()}}


def _open(name: str, config: RunConfig, folder: Path) -> Any:
    from accelerate.tracking import MLflowTracker, TensorBoardTracker, WandBTracker

    run = f"{config.name}, seed {config.seed}"
    if name == "tensorboard":
        return TensorBoardTracker(FOLDER, folder)
    if name == "wandb":
        return WandBTracker(PROJECT, name=run, dir=str(folder))
    return MLflowTracker(experiment_name=PROJECT, run_name=run)


def _flat(config: RunConfig) -> dict[str, Any]:
    """Return the config with values that every tracker takes."""
    values = config.as_json()
    values |= values.pop("options")
    plain = (int, float, str, bool)
    return {k: v if isinstance(v, plain) else str(v) for k, v in values.items() if v is not None}
