"""What commands share: options, and how they answer."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from .completion import complete_datasets

#: The name of a dataset.
Dataset = Annotated[str, typer.Argument(autocompletion=complete_datasets)]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
From = Annotated[
    Path | None,
    typer.Option(
        "--from", metavar="FOLDER", help="Local folder with the source files, or one of them."
    ),
]
Configs = Annotated[
    str | None, typer.Option("--configs", metavar="C,...", help="Only these configs.")
]
Splits = Annotated[str | None, typer.Option("--splits", metavar="S,...", help="Only these splits.")]
Origin = Annotated[
    str | None,
    typer.Option(
        "--origin",
        metavar="release|construct",
        help="From the authors' files, or by the paper's procedure.",
    ),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Builds FOLDER/NAME.")
]
Seed = Annotated[int, typer.Option(help="Decides every random choice.")]
NumProc = Annotated[int, typer.Option("--num-proc", min=1, help="Processes to use.")]


def answer(value: Any, as_json: bool, text: Callable[[], str]) -> None:
    """Print an answer: the value in JSON, or the text."""
    shown = json.dumps(value, ensure_ascii=False, indent=2, default=str) if as_json else text()
    print(shown)


def names(text: str | None) -> list[str]:
    """Return the names in a list separated by commas; none where the option is not given."""
    found = [name.strip() for name in (text or "").split(",")]
    if text is not None and not all(found):
        raise typer.BadParameter(f"{text!r} is not a list of names separated by commas.")
    return found if text is not None else []


def whole_numbers(what: str, text: str | None) -> list[int]:
    """Return the numbers in a list separated by commas; none where the option is not given."""
    try:
        return [int(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise typer.BadParameter(
            f"{what} is {text!r}; expected whole numbers, as in 1,2,3."
        ) from None


def quotas(text: str) -> dict[str, int]:
    """Return the numbers by split in a list such as ``validation=500,test=1000``."""
    found = {}
    for part in text.split(","):
        split, _, number = part.partition("=")
        if not number.strip().isdecimal():
            raise typer.BadParameter(f"{part!r} is not a quota; expected SPLIT=N, as in test=200.")
        found[split.strip()] = int(number)
    return found


def tell(line: str) -> None:
    """Print a line on stderr, beside the answer."""
    print(f"nlihub: {line}", file=sys.stderr)
