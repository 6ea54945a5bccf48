"""Commands on baselines: training, testing, reporting."""

import typer

from ..command import command
from .results import presets, push, report
from .running import run_again
from .training import analyse, classical, few_shot, finetune, zero_shot

app = typer.Typer(
    name="baseline",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Train and test reference baselines by the papers' protocols, and report on them.",
)
command(app, "finetune")(finetune)
command(app, "few-shot")(few_shot)
command(app, "zero-shot")(zero_shot)
command(app, "classical")(classical)
command(app, "analyse")(analyse)
command(app, "run")(run_again)
command(app, "presets")(presets)
command(app, "report")(report)
command(app, "push")(push)
