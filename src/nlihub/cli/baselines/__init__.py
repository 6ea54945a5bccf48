"""Commands on baselines: training, testing, reporting."""

import typer

from ..command import command
from .prompting import prompt_command
from .results import presets_command, push_command, report_command
from .running import run_command
from .training import (
    analyse_command,
    classical_command,
    few_shot_command,
    finetune_command,
    probe_command,
    quick_command,
    zero_shot_command,
)

app = typer.Typer(
    name="baseline",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Train and test reference baselines by the papers' protocols, and report on them.",
)
for function in (
    quick_command,
    finetune_command,
    few_shot_command,
    zero_shot_command,
    probe_command,
    classical_command,
    analyse_command,
    prompt_command,
    run_command,
    presets_command,
    report_command,
    push_command,
):
    command(app)(function)
