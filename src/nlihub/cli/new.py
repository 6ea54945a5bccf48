"""The command that starts a new dataset in a checkout."""

from pathlib import Path
from typing import Annotated

import typer

from .command import command
from .options import Json, answer, names


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    command(app)(new)


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A snake_case name.")],
    labels: Annotated[
        str, typer.Option(metavar="A,B,...", help="The labels, in the order of their ids.")
    ] = "entailment,neutral,contradiction",
    delimiter: Annotated[
        str, typer.Option(metavar="comma|tab|jsonl", help="How the files are written.")
    ] = "comma",
    columns: Annotated[
        str,
        typer.Option(
            metavar="id=...,label=...",
            help="The names of these columns in the release.",
        ),
    ] = "",
    splits: Annotated[
        str, typer.Option(metavar="S,...", help="The splits, a file each.")
    ] = "train,validation,test",
    license_: Annotated[
        str, typer.Option("--license", help="The licence of the release, as the Hub calls it.")
    ] = "",
    domain: Annotated[str, typer.Option(help="The field of the texts, as in news.")] = "",
    as_json: Json = False,
) -> None:
    """Start a new dataset in a checkout of nlihub: five files, with TODO where you decide.

    Then: pytest tests/builders/core/test_conformance.py -k NAME lists what is missing.
    """
    from ..scaffold import NewDataset, write_new_dataset

    pairs = [pair.partition("=") for pair in names(columns or None)]
    if any(not all(pair) for pair in pairs):
        raise typer.BadParameter(f"{columns!r} is not of the form id=NAME,premise=NAME,...")
    made = NewDataset(
        name,
        tuple(names(labels)),
        delimiter,
        {ours: theirs for ours, _, theirs in pairs},
        tuple(names(splits)),
        license_,
        domain,
    )
    files = [str(path) for path in write_new_dataset(made, Path.cwd())]
    answer(files, as_json, lambda: "\n".join(files))
