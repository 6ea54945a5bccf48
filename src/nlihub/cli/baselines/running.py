"""Doing runs, and the command that does earlier ones again."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..command import takes_groups
from ..options import From, Json, answer, whole_numbers
from .options import Computing, Output, Seeds
from .show import runs_as_text

if TYPE_CHECKING:
    from ...baselines.runs.config import RunConfig


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
