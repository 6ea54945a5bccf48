"""Do runs: a config from the options of a command, its runs, and their scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..command import takes_groups
from ..options import From, Json, answer, names, tell, whole_numbers
from .options import (
    Computing,
    Head,
    Length,
    Optimization,
    Output,
    Pretrained,
    RowOptions,
    RunOptions,
    Seeds,
    TrainingOptions,
)

if TYPE_CHECKING:
    from ...baselines.runs.config import HyperParameters, RunConfig


@takes_groups
def run_command(
    *,
    config: Annotated[
        Path, typer.Argument(metavar="RUN|CONFIG", help="Folder of a run, or a config.json.")
    ],
    output: Output,
    seeds: Seeds = None,
    computing: Computing,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Repeat a run from its folder, or do that of a config."""
    from ...baselines.running import rerun_config

    runs = RunOptions(output, seeds=seeds, folder=folder, as_json=as_json)
    do_runs(rerun_config(config), runs, computing)


def do_runs(
    config: "RunConfig",
    runs: RunOptions,
    computing: Computing,
    *,
    shots: Sequence[int] | None = None,
    analysis: str | None = None,
    num_proc: int = 1,
) -> None:
    """Do the runs of baselines, and answer with their scores.

    Args:
        config: What the runs have in common.
        runs: Their folder, seeds and sources, and the form of the answer.
        computing: How to compute.
        shots: Numbers of few shots.
        analysis: The analysis that the runs are for.
        num_proc: Processes that count features.
    """
    from ... import baselines
    from ...baselines.presets import get_preset
    from ...loaders.errors import needs_extra

    with needs_extra("baselines", "A baseline"):
        quieten()
    seeds = whole_numbers("seeds", runs.seeds)
    if not seeds and runs.preset is not None:
        seeds = list(get_preset(runs.preset).seeds)
    found = baselines.run(
        config,
        runs.output,
        seeds=seeds or None,
        shots=shots,
        analysis=analysis,
        folder=runs.folder,
        keep_checkpoint=not computing.no_checkpoint,
        tell=tell,
        micro_batch=computing.micro_batch,
        precision=computing.precision,
        compiled=computing.compiled,
        on_cpu=computing.cpu,
        num_proc=num_proc,
        trackers=names(computing.track),
    )
    from accelerate import PartialState

    if PartialState().is_main_process:
        answer(found, runs.as_json, lambda: _runs_as_text(found))


def quieten() -> None:
    """Leave stderr to our own lines: transformers reports on every head that it draws."""
    import transformers

    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]


def _runs_as_text(found: Sequence[Mapping[str, Any]]) -> str:
    """Show the scores of runs, a row for each test."""
    from ...metrics.rows import show_rows_as_text

    rows: list[list[Any]] = [["run", "test", "macro_f1", "accuracy", "PA 0.95"]]
    for run in found:
        for key, evaluation in run["evaluations"].items():
            metrics = evaluation["metrics"]
            report, patterns = metrics["nli_report"], metrics.get("pattern_accuracy")
            solved = "-"
            if patterns:
                solved = patterns["pattern_accuracy"][patterns["thresholds"].index(0.95)]
            rows.append([run["run"], key, report["macro_f1"], report["accuracy"], solved])
    if all(row[-1] == "-" for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    return show_rows_as_text(rows)


def config_of_options(
    method: str,
    runs: RunOptions,
    rows: RowOptions,
    *,
    pretrained: Pretrained | None = None,
    head: Head | None = None,
    hyper: Iterable[TrainingOptions | Length | Optimization] = (),
    hypothesis_only: bool = False,
    reference: bool = False,
    default: "HyperParameters | None" = None,
) -> "RunConfig":
    """Return the config of a preset, or a new one, changed as the options of a command say.

    Args:
        method: The method of a new config.
        runs: The preset, if any, and the name of the system.
        rows: The rows to train and test on.
        pretrained: The model, for methods that take one.
        head: What becomes of the model's head.
        hyper: The groups of hyper-parameters that the command has.
        hypothesis_only: Whether the system sees the hypothesis alone.
        reference: Whether to train as plainly as the papers.
        default: Hyper-parameters of a new config; None takes those of ``HyperParameters``, and
            for an encoder those that follow from the rows and the model.
    """
    from ...baselines.presets import get_preset
    from ...baselines.runs.defaults import CHOSEN

    pretrained, head = pretrained or Pretrained(), head or Head()
    if runs.preset is not None:
        config = get_preset(runs.preset).config
    else:
        config = _new(method, runs.name or Path(pretrained.model or method).name, rows, default)
    direct: dict[str, Any] = {
        "name": runs.name,
        "model": pretrained.model,
        "revision": pretrained.revision,
        "train": rows.train,
        "validation": rows.validation,
        "tests": tuple(rows.test or ()) or None,
        "model_labels": tuple(names(head.model_labels)) or None,
        "view": "hypothesis" if hypothesis_only else None,
        "new_head": head.new_head or None,
        "reference": reference or None,
    }
    config = replace(config, **{k: v for k, v in direct.items() if v is not None})
    if config.validation == "none":
        config = replace(config, validation=None)
    given = _given(hyper)
    chooses = method == "encoder" and not (runs.preset or default or reference)
    base = {"optimizer": "adamw"} if chooses else {}  # which takes a weight decay
    return replace(
        config,
        options=replace(config.options, **base | given),
        chosen=tuple(name for name in CHOSEN if chooses and name not in given),
    )


def check_preset(preset: str | None, command: str) -> None:
    """Refuse a preset of another command."""
    from ...baselines.presets import get_preset

    if preset is not None and (own := get_preset(preset).command) != command:
        raise typer.BadParameter(f"{preset} is a preset of nlihub baseline {own}.")


def _new(
    method: str, name: str, rows: RowOptions, default: "HyperParameters | None"
) -> "RunConfig":
    from ...baselines.runs.config import HyperParameters, RunConfig

    tests = tuple(rows.test or ())
    if rows.train is not None and not tests and method != "prompt":
        tests = (rows.train.partition(":")[0],)
    if not tests:
        raise typer.BadParameter("Give a --preset, or what to test on: --test.")
    validation = _own_validation(rows.train) if rows.train is not None else None
    return RunConfig(
        name, method, tests, validation=validation, options=default or HyperParameters()
    )


def _own_validation(train: str) -> str | None:
    """Return the name of a training set, if it is that of a dataset with rows to validate on."""
    from ...baselines.runs.data import absolute_rows_name
    from ...builders.core.registry import find_builder

    dataset, _, config = train.partition(":")[0].partition("/")
    builder = find_builder(dataset)
    if builder is None or absolute_rows_name(train) != train:
        return None
    spec = builder.SPEC
    splits = spec.configs.get(config or spec.default_config)
    return train.partition(":")[0] if splits and "validation" in splits.splits else None


def _given(hyper: Iterable[TrainingOptions | Length | Optimization]) -> dict[str, Any]:
    """Return the hyper-parameters that were given, by name."""
    values = {part.name: getattr(group, part.name) for group in hyper for part in fields(group)}
    given = {name: value for name, value in values.items() if value is not None}
    if "special_tokens" in given:
        given["special_tokens"] = tuple(names(given["special_tokens"]))
    if given.get("patience") == 0:
        given["patience"] = None
    return given
