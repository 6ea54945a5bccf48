"""The public functions on baselines: runs and reports."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .baselines.data import absolute_name
from .baselines.plans import Planned, over_seeds, over_shots, plan_analysis
from .baselines.presets import PRESETS, get_preset
from .baselines.runs.config import RunConfig
from .baselines.runs.execute import execute
from .baselines.runs.extra import extra_explained
from .baselines.runs.folder import METRICS, RunFolder
from .builders.versions.open import PathLike
from .loaders.errors import UsageError
from .loaders.progress import Tell, silent


def list_presets() -> dict[str, dict[str, Any]]:
    """The papers' baselines.

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


def run_baseline(
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
    tell: Tell = silent,
) -> list[dict[str, Any]]:
    """Trains and tests a system, as often as its seeds say.

    Runs that are done are left as they are, and those that were broken off go on, so that the same
    call after a kill finishes the job.

    Args:
        baseline: Name of a preset; the folder of a run, which is done again; or a config, whose
            fields are those of ``nlihub.baselines.runs.config.RunConfig``.
        output: Folder of all runs; each has a folder ``seed-N`` in it.
        seeds: The seeds; None takes those of the preset, or that of the config.
        shots: Rows a pattern for few-shot learning, each number in a folder ``k-N``; None takes
            those of the preset, if it has any.
        analysis: ``hypothesis-only``, ``domain-shift``, ``cross-dataset`` or ``cartography``: the
            runs that it compares, each in a folder of its own.
        folder: Local folder with the source files of datasets that have to be built first.
        reference: Whether to train as plainly as the papers did, whatever the config says.
        keep_checkpoint: Whether trained models stay when a run is done.
        micro_batch: Pairs in memory at once in training, on each device; None is the whole batch.
        precision: ``fp32`` or ``bf16``; None takes bf16 on a GPU.
        compiled: Whether to compile the model in training; None does on a GPU for long training.
        on_cpu: Whether to leave a GPU alone.
        num_proc: Processes that count the features of the lexicalized classifier.
        tell: Is told of progress, in words.

    Returns:
        For each run ``run`` (its folder), ``name``, ``seed`` and ``evaluations``: by test set what
        was tested and what each metric returned.

    Raises:
        UnknownNameError: There is no such preset, dataset, field or analysis.
        UsageError: Options do not go together.
        OutputError: A folder is that of another run, or another process works in it.
        ModelError: The model cannot be used for it.
        TrainingError: Training broke off.
        MissingExtraError: ``nlihub[baselines]`` is not installed.
    """
    config, known_seeds, known_shots = _config_of(baseline)
    config = replace(_with_absolute_files(config), reference=config.reference or reference)
    planned = _plan(
        config,
        seeds if seeds is not None else known_seeds,
        shots if shots is not None else known_shots,
        analysis,
    )
    with extra_explained():
        from .baselines.training.execution import Execution

        chosen = Execution(micro_batch, precision, compiled, config.reference, on_cpu, num_proc)
        folders = [Path(output).expanduser() / part.folder for part in planned]
        for place, part in zip(folders, planned, strict=True):  # before the first takes its time
            if not RunFolder(place).is_done:
                part.config.check_complete()
        done = [
            execute(
                part.config,
                place,
                chosen,
                sources=Path(folder) if folder is not None else None,
                keeps_checkpoint=keep_checkpoint,
                tell=tell,
            )
            for place, part in zip(folders, planned, strict=True)
        ]
    return [_result(run) for run in done]


def _config_of(
    baseline: PathLike | Mapping[str, Any] | RunConfig,
) -> tuple[RunConfig, Sequence[int], Sequence[int]]:
    """A config, and the seeds and shots that go with it."""
    if isinstance(baseline, RunConfig):
        config = baseline
    elif isinstance(baseline, Mapping):
        config = RunConfig.from_json(baseline)
    elif str(baseline) not in PRESETS and Path(baseline).expanduser().exists():
        config = rerun_config(baseline)
    else:
        preset = get_preset(str(baseline))
        return preset.config, preset.seeds, preset.shots
    return config, (config.seed,), ()


def _plan(
    config: RunConfig, seeds: Sequence[int], shots: Sequence[int], analysis: str | None
) -> list[Planned]:
    if not seeds:
        raise UsageError("No seed is given; a run needs one.")
    if len(set(seeds)) > 1 and (
        config.method in ("lexicalized", "zero-shot")
        or (config.method == "prompt" and not config.n_shots)
    ):
        raise UsageError(f"Nothing is drawn in {config.name} ({config.method}); give one seed.")
    if shots and analysis:
        raise UsageError("Few shots are no part of an analysis.")
    if analysis:
        return plan_analysis(analysis, config, seeds)
    return over_shots(config, seeds, shots) if shots else over_seeds(config, seeds)


def _with_absolute_files(config: RunConfig) -> RunConfig:
    """A config whose files are found from any folder."""
    details = dict(config.details)
    if details.get("vectors"):
        details["vectors"] = str(Path(details["vectors"]).expanduser().absolute())
    model = Path(config.model).expanduser() if config.model is not None else None
    if model is not None and model.is_dir() and config.revision is not None:
        raise UsageError(f"{model} is a folder, which has no revision {config.revision}.")
    return replace(
        config,
        model=str(model.absolute()) if model is not None and model.is_dir() else config.model,
        train=absolute_name(config.train) if config.train is not None else None,
        validation=absolute_name(config.validation) if config.validation is not None else None,
        tests=tuple(map(absolute_name, config.tests)),
        details=details,
    )


def _result(run: RunFolder) -> dict[str, Any]:
    config = run.config
    return {
        "run": str(run.path),
        "name": config.name,
        "seed": config.seed,
        "evaluations": run.read_json(METRICS)["evaluations"],
    }


def rerun_config(path: PathLike) -> RunConfig:
    """The config of a run, from its folder or from a JSON file.

    Args:
        path: The folder or the file.

    Returns:
        The config; where it is about a part of the rows, the run that tells which is named by its
        whole path.

    Raises:
        SourceNotFoundError: There is no such file.
        UsageError: It is no config.
    """
    path = Path(path).expanduser()
    place = RunFolder(path) if path.is_dir() else RunFolder(path.parent)
    config = place.config if path.is_dir() else RunConfig.from_json(place.read_json(path.name))
    if config.subset is None:
        return config
    run = (place.path / config.subset.run).resolve()
    return replace(config, subset=replace(config.subset, run=str(run)))


def report_baselines(
    runs: PathLike | Sequence[PathLike], output: PathLike, *, confidence_level: float | None = None
) -> dict[str, Any]:
    """Reports on runs in Markdown and pictures.

    Args:
        runs: Folders of runs, or folders that hold such at any depth; or one of them.
        output: The folder to write; an earlier report there is replaced.
        confidence_level: Of bootstrap intervals; None computes none.

    Returns:
        What ``nlihub.baselines.report.write.write_report`` returns.

    Raises:
        NLIHubError: A folder holds no run that is done, a run is malformed, or two do not go
            together.
        MissingExtraError: ``nlihub[baselines]`` or ``nlihub[plots]`` is not installed.
    """
    from .baselines.report.write import write_report

    folders = [runs] if isinstance(runs, str | os.PathLike) else runs
    return write_report(
        [Path(run).expanduser() for run in folders],
        Path(output).expanduser(),
        confidence_level=confidence_level,
    )


def push_baseline(
    run: PathLike, repo: str, *, private: bool = False, license_id: str | None = None
) -> str:
    """Sends the model of a run to the Hub in one commit, with a card that carries its results.

    Args:
        run: Folder of a run of an encoder that is done, with its checkpoint.
        repo: The repository, ``ORG/NAME``; it is made if there is none.
        private: Whether a repository that is made is private.
        license_id: Licence of the weights as the Hub names it.

    Returns:
        The address of the commit.

    Raises:
        UsageError: The run has nothing to send, or the name is no ``ORG/NAME``.
        HubError: The Hub refuses it or cannot be reached.
    """
    from .publishing.models import push_model

    folder = RunFolder(Path(run).expanduser())
    return push_model(folder, repo, private=private, license_id=license_id)
