"""``nlihub construct``: a command for each procedure, made from its recipe."""

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .command import Command, fill, parameters_of, set_parameters
from .completion import add_completion
from .options import Json, NumProc, Output, answer, tell

_SHARED = {
    "name": Annotated[str, typer.Argument(metavar="NAME", help="Name of the dataset, snake_case.")],
    "paths": Annotated[list[Path], typer.Argument(metavar="PATH...", help="Its material.")],
    "output": Output,
    "num_proc": NumProc,
    "probe": Annotated[
        bool,
        typer.Option(
            "--probe",
            help="Put on the card what a classifier tells from the hypotheses alone.",
        ),
    ],
    "as_json": Json,
}
_DEFAULTS = {
    "output": Path("built"),
    "num_proc": 1,
    "probe": False,
    "as_json": False,
    "sample": 1.0,
}
#: Of what is read file by file.
_SAMPLE = {
    "sample": Annotated[
        float,
        typer.Option(
            "--sample",
            metavar="SHARE",
            help="Share of the files to read: a trial that also says what all would give and take.",
        ),
    ],
}


class _Procedures(TyperGroup):
    """The commands of the procedures; one is imported when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        from ..builders.procedures.procedure import PROCEDURES

        return [*PROCEDURES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        return _command(cmd_name)


app = typer.Typer(
    name="construct",
    cls=_Procedures,
    help="Make a dataset of your own by a paper's procedure.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def construct() -> None:
    """Make a dataset of your own by a paper's procedure."""


def _command(procedure: str) -> Any:
    from ..builders.procedures.about import About
    from ..builders.procedures.procedure import Procedure

    recipe = Procedure(procedure).recipe

    def run(
        name: str,
        paths: list[Path],
        output: Path,
        num_proc: int,
        probe: bool,
        as_json: bool,
        sample: float = 1.0,
        **given: Any,
    ) -> None:
        from ..constructing import construct

        made = construct(
            procedure,
            name,
            paths,
            output,
            fill(recipe, given),
            fill(About, given),
            num_proc,
            probe,
            sample,
            tell,
        )
        for line in made.summary:
            tell(line)
        tell(f"all counts: {made.report}")
        answer({name: str(made.folder)}, as_json, lambda: str(made.folder))

    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hint,
            default=_DEFAULTS.get(name, inspect.Parameter.empty),
        )
        for name, hint in (_SHARED | (_SAMPLE if "engine" in recipe.options() else {})).items()
    ]
    for group in (recipe, About):
        parameters[2:2] = parameters_of(group)
    set_parameters(run, parameters)
    text = (inspect.getdoc(recipe) or "").partition("\n\nOptions:")[0].partition("\n\nAttributes:")
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    add_completion(run)
    single.command(procedure, cls=Command, help=text[0])(run)
    return typer.main.get_command(single)
