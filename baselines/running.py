"""Run baselines, and report on the runs: the functions of ``nlihub.baselines``."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..loaders.errors import UsageError, needs_extra
from ..loaders.paths import local_path
from ..loaders.progress import Tell, silent
from .analyses import PlannedRun, plan_analysis, plan_seeds, plan_shots
from .presets import PRESETS, get_preset
from .runs.config import RunConfig
from .runs.folder import METRICS, RunFolder

PathLike = str | os.PathLike[str]


def list_presets() -> dict[str, dict[str, Any]]:
    """List the papers' baselines.

    Returns:
        By name: ``command`` (of ``nlihub baseline``), ``source``, ``seeds``, ``shots`` where there
        are several, and ``config``.
    """
    return {
        name: {
            "command": preset.command,
            "source": preset.source,
            "seeds": list(preset.seeds),
            **({"shots": list(preset.shots)} if preset.shots else {}),
            "config": preset.config.as_json(),
        }
        for name, preset in PRESETS.items()
    }


def run(
    baseline: PathLike | Mapping[str, Any] | RunConfig,
    output: PathLike,
    *,
    seeds: Sequence[int] | None = None,
    shots: Sequence[int] | None = None,
    analysis: str | None = None,
    folder: PathLike | None = None,
    reference: bool = False,
    keep_checkpoint: bool = True,
    micro_batch: int | None = None,
    precision: str | None = None,
    compiled: bool | None = None,
    on_cpu: bool = False,
    num_proc: int = 1,
    trackers: Sequence[str] = (),
    tell: Tell = silent,
) -> list[dict[str, Any]]:
    """Train and test a system, once for each seed.

    Finished runs are left as they are and interrupted ones resume, so the same call after a kill
    finishes the job.

    Args:
        baseline: Name of a preset; folder of an earlier run, to repeat it; or a config with the
            fields of ``nlihub.baselines.runs.config.RunConfig``.
        output: Folder of all runs; each run writes to a folder ``seed-N`` in it.
        seeds: The seeds, 0 or more; None takes those of the preset, or that of the config.
        shots: Training rows of each pattern in few-shot learning; each number writes to a folder
            ``k-N``. None takes those of the preset, if it has any.
        analysis: ``hypothesis-only``, ``domain-shift``, ``cross-dataset`` or ``cartography``: runs
            all systems that the analysis compares, each in a folder of its own.
        folder: Local folder with the source files of datasets that have to be built first.
        reference: Whether to train as plainly as the papers did, whatever the config says.
        keep_checkpoint: Whether to keep the trained model when a run is finished.
        micro_batch: Training pairs in memory at once on each device, from 1; None takes the whole
            batch.
        precision: ``fp32`` or ``bf16``; None takes bf16 on a GPU that supports it, else fp32.
        compiled: Whether to compile the model for training; None compiles on a GPU if training is
            long enough to gain from it.
        on_cpu: Whether to compute on the CPU even if there is a GPU.
        num_proc: Processes that compute the features of the lexicalized classifier, from 1.
        trackers: Trackers of experiments that get loss and scores, each installed by itself:
            ``tensorboard``, ``wandb``, ``mlflow``.
        tell: Receives progress messages.

    Returns:
        For each run ``run`` (its folder), ``name``, ``seed`` and ``evaluations``: by test set its
        description and the result of each metric.

    Raises:
        UnknownNameError: There is no such preset, dataset, config field or analysis.
        UsageError: Options contradict each other, or a value is out of its range.
        SourceNotFoundError: A file, source or model is missing.
        SchemaError: Rows are malformed, or their labels do not fit together.
        OutputError: A folder belongs to another run, or another process is using it.
        ModelError: The model does not fit the task.
        TrainingError: Training failed, for example for lack of memory.
        MissingExtraError: ``nlihub[baselines]`` is not installed.
    """
    config, known_seeds, known_shots = _config_of(baseline)
    config = replace(_with_absolute_paths(config), reference=config.reference or reference)
    planned = _plan(
        config,
        seeds if seeds is not None else known_seeds,
        shots if shots is not None else known_shots,
        analysis,
    )
    with needs_extra("baselines", "A baseline"):
        from .runs.execute import check_trackers, execute_run, with_hyperparameters
        from .training.execution import Execution

        check_trackers(trackers)
        chosen = Execution(
            micro_batch,
            precision,
            compiled,
            config.reference,
            on_cpu,
            num_proc,
            tuple(trackers),
        )
        target, sources = local_path(output), local_path(folder) if folder is not None else None
        places = [(target / part.folder, part.config) for part in planned]
        for place, own in places:  # before the first takes its time
            if not RunFolder(place).is_done:
                own.check_complete()
        done = []
        for place, own in places:
            is_done = RunFolder(place).is_done
            own = with_hyperparameters(own, sources, silent if is_done else tell)
            run_folder = execute_run(
                own, place, chosen, sources=sources, keeps_checkpoint=keep_checkpoint, tell=tell
            )
            evaluations = run_folder.read_json(METRICS)["evaluations"]
            facts = {"run": str(place), "name": own.name, "seed": own.seed}
            done.append({**facts, "evaluations": evaluations})
    return done


def _config_of(
    baseline: PathLike | Mapping[str, Any] | RunConfig,
) -> tuple[RunConfig, Sequence[int], Sequence[int]]:
    """Return a config, and the seeds and shots that go with it."""
    if isinstance(baseline, RunConfig):
        config = baseline
    elif isinstance(baseline, Mapping):
        config = RunConfig.from_json(baseline)
    elif str(baseline) not in PRESETS and local_path(baseline).exists():
        config = rerun_config(baseline)
    else:
        preset = get_preset(str(baseline))
        return preset.config, preset.seeds, preset.shots
    return config, (config.seed,), ()


def _plan(
    config: RunConfig, seeds: Sequence[int], shots: Sequence[int], analysis: str | None
) -> list[PlannedRun]:
    if not seeds:
        raise UsageError("seeds is empty; expected at least one, such as 1.")
    if len(set(seeds)) > 1 and (
        config.method in ("lexicalized", "probe", "zero-shot")
        or (config.method == "prompt" and not config.n_shots)
    ):
        raise UsageError(
            f"{config.name} ({config.method}) does not depend on the seed, but {len(set(seeds))} "
            "seeds were given. Give one seed."
        )
    if shots and analysis:
        raise UsageError(
            f"The analysis {analysis} has no few-shot runs. Give either shots or an analysis."
        )
    if analysis:
        return plan_analysis(analysis, config, seeds)
    return plan_shots(config, seeds, shots) if shots else plan_seeds(config, seeds)


def _with_absolute_paths(config: RunConfig) -> RunConfig:
    """Make the paths of a config absolute, so that they hold in any working directory."""
    from .runs.data import absolute_rows_name

    details = dict(config.details)
    if details.get("vectors"):
        details["vectors"] = str(local_path(details["vectors"]).absolute())
    model = local_path(config.model) if config.model is not None else None
    if model is not None and model.is_dir() and config.revision is not None:
        raise UsageError(
            f"The model {model} is a local folder, but the revision {config.revision} was given. "
            "Leave the revision out."
        )
    return replace(
        config,
        model=str(model.absolute()) if model is not None and model.is_dir() else config.model,
        train=absolute_rows_name(config.train) if config.train is not None else None,
        validation=absolute_rows_name(config.validation) if config.validation is not None else None,
        tests=tuple(map(absolute_rows_name, config.tests)),
        details=details,
    )


def rerun_config(path: PathLike) -> RunConfig:
    """Read the config of a run, its folder or a JSON file, to repeat it in another folder.

    The path of the run that chose a subset of the rows is made absolute.

    Raises:
        SourceNotFoundError: There is no such file.
        UnknownNameError: The file has a field that no config has.
        UsageError: The file is not the config of a run.
    """
    path = local_path(path)
    place = RunFolder(path) if path.is_dir() else RunFolder(path.parent)
    config = place.config if path.is_dir() else RunConfig.from_json(place.read_json(path.name))
    if config.subset is None:
        return config
    chosen_by = (place.path / config.subset.run).resolve()
    return replace(config, subset=replace(config.subset, run=str(chosen_by)))


@needs_extra("baselines", "A report")
def report(runs: PathLike | Sequence[PathLike], output: PathLike) -> dict[str, Any]:
    """Write a report on runs, in Markdown with pictures.

    Args:
        runs: One or more folders of runs, or folders that contain runs at any depth.
        output: The folder to write; an earlier report there is replaced.

    Returns:
        ``report`` (the path of the Markdown), ``pictures`` (their names), ``n_systems``,
        ``n_runs``, ``benchmarks`` (their names) and ``unfinished`` (paths of runs).

    Raises:
        SourceNotFoundError: A folder contains no finished run, or a file of a run is missing.
        UsageError: A run is malformed, or runs contradict each other.
        PredictionsError: Predictions cannot be read, or do not match the rows of their test set.
        OutputError: The output folder holds something other than a report, or is not writable.
        MissingExtraError: ``nlihub[baselines]`` or ``nlihub[plots]`` is not installed.
    """
    from .reports.write import write_report

    folders = [runs] if isinstance(runs, str | os.PathLike) else runs
    return write_report([local_path(place) for place in folders], local_path(output))
