"""The command that shows prompts."""

from typing import Annotated

import typer

from ..options import From, Json, answer


def prompt_command(
    dataset: Annotated[
        str,
        typer.Option(metavar="ROWS", help="A dataset, built folder or file; :SPLIT may follow."),
    ],
    form: Annotated[str, typer.Option(metavar="p1|p2|p3", help="Form of the prompt.")] = "p1",
    shots: Annotated[
        int, typer.Option(metavar="N", help="0, or the number of labels: an exemplar of each.")
    ] = 0,
    row: Annotated[
        str | None, typer.Option(metavar="ID", help="Row to ask about; default the first.")
    ] = None,
    shots_from: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS",
            help="Rows to draw exemplars from; default those that the dataset declares "
            "(scinli/human), else the validation split.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 1,
    table: Annotated[
        bool, typer.Option("--table", help="Show the templates of all forms side by side.")
    ] = False,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Show the prompt about a row, exactly as a language model is sent it.

    The text is what a model without a chat template reads; --json has the chat's messages too.
    """
    from ...baselines.systems.prompting.show import show_prompt, tabulate_prompts

    if table:
        shown = tabulate_prompts(dataset, folder=folder)
        answer({"table": shown}, as_json, lambda: shown)
        return
    found = show_prompt(
        dataset,
        form=form,
        n_shots=shots,
        row=row,
        shots_from=shots_from,
        seed=seed,
        folder=folder,
    )
    answer(found, as_json, lambda: str(found["text"]))
