"""Doing runs, and the command that does earlier ones again."""

from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..options import names
from .options import Head, Length, Optimization, Pretrained, Rows, Training

if TYPE_CHECKING:
    from ...baselines.runs.config import Options, RunConfig
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ..command import takes_groups
from ..options import From, Json, answer, whole_numbers
from .options import Computing, Output, Seeds
from .show import runs_as_text

if TYPE_CHECKING:
    from ...baselines.runs.config import RunConfig


def configured(
    method: str,
    preset: str | None,
    rows: Rows,
    *,
    name: str | None,
    pretrained: Pretrained | None = None,
    head: Head | None = None,
    hyper: Iterable[Training | Length | Optimization] = (),
    hypothesis_only: bool = False,
    reference: bool = False,
    default: "Options | None" = None,
) -> "RunConfig":
    """The config of a preset, or a new one, with what was given in its place.

    Args:
        method: Of a new config.
        preset: Name of a preset of this command.
        rows: What to train and test on.
        name: What the system is called.
        pretrained: The model, for methods that take one.
        head: What becomes of the head, for the same.
        hyper: The groups of hyper-parameters that the command has.
        hypothesis_only: Whether it sees the hypothesis alone.
        reference: Whether to train as plainly as the papers.
        default: Hyper-parameters of a new config where none are given.
    """
    from ...baselines.presets import get_preset

    pretrained, head = pretrained or Pretrained(), head or Head()
    if preset is not None:
        config = get_preset(preset).config
    else:
        config = _new(method, name or Path(pretrained.model or method).name, rows, default)
    direct: dict[str, Any] = {
        "name": name,
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
    return replace(config, options=_chosen(config.options, hyper))


def check_preset(preset: str | None, command: str) -> None:
    """Refuse a preset of another command."""
    from ...baselines.presets import get_preset

    if preset is not None and get_preset(preset).command != command:
        own = get_preset(preset).command
        raise typer.BadParameter(f"{preset} is a preset of nlihub baseline {own}.")


def _new(method: str, name: str, rows: Rows, default: "Options | None") -> "RunConfig":
    from ...baselines.runs.config import Options, RunConfig

    tests = tuple(rows.test or ())
    if rows.train is not None and not tests and method != "prompt":
        tests = (rows.train.partition(":")[0],)
    if not tests:
        raise typer.BadParameter("Give a --preset, or what to test on: --test.")
    validation = _own_validation(rows.train) if rows.train is not None else None
    return RunConfig(name, method, tests, validation=validation, options=default or Options())


def _own_validation(train: str) -> str | None:
    """The name of a training set, if it is that of a dataset with rows to validate on."""
    from ...baselines.runs.data import absolute_name
    from ...builders.core.registry import builders

    dataset, _, config = train.partition(":")[0].partition("/")
    if dataset not in builders() or absolute_name(train) != train:
        return None
    spec = builders()[dataset].SPEC
    splits = spec.configs.get(config or spec.default_config)
    return train.partition(":")[0] if splits and "validation" in splits.splits else None


def _chosen(options: "Options", hyper: Iterable[Training | Length | Optimization]) -> "Options":
    """Hyper-parameters, with those that were given in their place."""
    values = {part.name: getattr(group, part.name) for group in hyper for part in fields(group)}
    given = {name: value for name, value in values.items() if value is not None}
    if "special_tokens" in given:
        given["special_tokens"] = tuple(names(given["special_tokens"]))
    if given.get("patience") == 0:
        given["patience"] = None
    return replace(options, **given)


@takes_groups
def run_again(
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
    """Do what a config says, such as that of an earlier run."""
    from ...baselines.running import rerun_config

    run(rerun_config(config), output, computing, seeds=seeds, folder=folder, as_json=as_json)


def run(
    config: "RunConfig",
    output: Path,
    computing: Computing,
    *,
    seeds: str | None,
    folder: Path | None,
    as_json: bool,
    preset: str | None = None,
    shots: Sequence[int] | None = None,
    analysis: str | None = None,
    num_proc: int = 1,
) -> None:
    """Do the runs, and answer with their scores.

    Args:
        config: What they have in common.
        output: Folder of all runs.
        computing: How to compute.
        seeds: Seeds, separated by commas; None takes those of the preset, or that of the config.
        folder: Local folder with the source files of datasets.
        as_json: Whether to answer in JSON.
        preset: The preset that the config was made from.
        shots: Numbers of few shots.
        analysis: The analysis that the runs are for.
        num_proc: Processes that count features.
    """
    from ... import baselines
    from ...baselines.presets import get_preset
    from ...loaders.errors import needs_extra

    with needs_extra("baselines", "A baseline"):
        _quieten()
    chosen = whole_numbers("seeds", seeds)
    if not chosen and preset is not None:
        chosen = list(get_preset(preset).seeds)
    found = baselines.run(
        config,
        output,
        seeds=chosen or None,
        shots=shots,
        analysis=analysis,
        folder=folder,
        keep_checkpoint=not computing.no_checkpoint,
        tell=lambda line: print(f"nlihub: {line}", file=sys.stderr, flush=True),
        micro_batch=computing.micro_batch,
        precision=computing.precision,
        compiled=computing.compiled,
        on_cpu=computing.cpu,
        num_proc=num_proc,
    )
    from accelerate import PartialState

    if PartialState().is_main_process:
        answer(found, as_json, lambda: runs_as_text(found))


def _quieten() -> None:
    """Leave stderr to our own lines: transformers reports on every head that it draws."""
    import transformers

    transformers.logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    transformers.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
