"""The options of ``nlihub build`` for a dataset of the user's own, from papers or abstracts."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

Domain = Annotated[
    str | None,
    typer.Option(
        help="Of your own dataset: domain of papers whose files tell none, or of all abstracts."
    ),
]
Phrases = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Of your own dataset: JSON with other linking phrases, or phrases of conclusions.",
    ),
]
Ratio = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C",
        help="Of your own dataset: shares of the splits; default 0.8,0.1,0.1 of papers, "
        "0.63,0.22,0.15 of abstracts.",
    ),
]
Seed = Annotated[
    int | None, typer.Option(help="Of your own dataset: decides every random choice; default 1.")
]
License = Annotated[
    str | None, typer.Option("--license", help="Of your own dataset: its licence; default other.")
]
Title = Annotated[str | None, typer.Option(help="Of your own dataset: its name in prose.")]
Citation = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Of your own dataset: its BibTeX.")
]


def read_ratio(text: str) -> tuple[float, ...]:
    """The shares of train, validation and test."""
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        shares = ()
    if len(shares) != 3:
        raise typer.BadParameter(f"{text!r} is no ratio; expected train,validation,test.")
    return shares


def tell(line: str) -> None:
    """Says something of what is made, beside the answer."""
    print(f"nlihub: {line}", file=sys.stderr)


def tell_units(units: str, counts: Mapping[str, int], dropped: Mapping[str, int]) -> None:
    """Says how many papers or abstracts are taken, and why the others are not."""
    reasons = "".join(f"; {n:,}: {reason}" for reason, n in dropped.items())
    tell(f"{counts['kept']:,} of {counts['read']:,} {units}{reasons}")


def tell_rows(rows: Mapping[str, Mapping[str, int]]) -> None:
    """Says how many rows there are, by config and split."""
    for config, splits in rows.items():
        tell(f"{config}: " + ", ".join(f"{split} {n:,}" for split, n in splits.items()))
