"""Commands on baselines: training, testing, reporting."""

import typer

from .results import presets, push, report
from .running import run_again
from .testing import zero_shot
from .training import analyse, classical, few_shot, finetune

app = typer.Typer(
    name="baseline",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Train and test reference baselines by the papers' protocols, and report on them.",
)
app.command("finetune")(finetune)
app.command("few-shot")(few_shot)
app.command("zero-shot")(zero_shot)
app.command("classical")(classical)
app.command("analyse")(analyse)
app.command("run")(run_again)
app.command("presets")(presets)
app.command("report")(report)
app.command("push")(push)
