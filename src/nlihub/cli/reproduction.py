"""The command that lists and makes the papers' tables and figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .command import command
from .completion import complete_reproductions
from .options import Json, Splits, answer, names


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module, in the order of the help."""
    command(app)(reproduce_command)


def reproduce_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="As in bionli/table-2; default: list all.",
            autocompletion=complete_reproductions,
        ),
    ] = None,
    paper: Annotated[
        str | None,
        typer.Option(metavar="PAPER", help="List those of scinli, mscinli, bionli or spacenli."),
    ] = None,
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FOLDER",
            help="Source files, a built version, runs, results of nlihub score --json, or "
            "annotation batches; may be repeated.",
        ),
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Predictions of a system; may be repeated."),
    ] = None,
    config: Annotated[
        str | None, typer.Option(help="Config that predictions are of; default the default one.")
    ] = None,
    splits: Splits = None,
    parser: Annotated[
        str | None,
        typer.Option(metavar="URL", help="CoreNLP server for parses: http://localhost:9000"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Write Markdown, JSON, and pictures there."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a table, figure or analysis of the papers, its numbers beside yours.

    Without an ID, list all of them with what can be made of what is at hand.
    """
    from ..baselines.reproduction import make

    if name is None:
        listed = make.list_reproductions(
            paper, sources=sources or [], predictions=predictions or []
        )
        answer(listed, as_json, lambda: _as_text(listed))
        return
    if paper is not None:
        raise typer.BadParameter("an ID names its paper already.", param_hint="--paper")
    found = make.reproduce(
        name,
        sources=sources or [],
        predictions=predictions or [],
        output=output,
        config=config,
        splits=names(splits),
        parser=parser,
    )
    markdown = found.pop("markdown")
    answer(found, as_json, lambda: markdown.rstrip("\n"))


def _as_text(listed: Sequence[Mapping[str, Any]]) -> str:
    """Show entries, a line each, and the number of each status."""
    lines = []
    for entry in listed:
        status = entry["status"]
        if status == "needs":
            status = f"needs {', '.join(entry['lacks'])}"
        lines.append(f"{entry['id']:22} {status:34} {entry['shows']}")
    counts = dict.fromkeys(("can be made", "needs", "cannot be made"), 0)
    for entry in listed:
        counts[entry["status"]] += 1
    counts["need something"] = counts.pop("needs")
    summary = ", ".join(f"{n} {status}" for status, n in counts.items() if n)
    return "\n".join([*lines, "", f"{len(listed)} in all: {summary}."])
