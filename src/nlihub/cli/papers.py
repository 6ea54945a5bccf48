"""The options of ``nlihub build`` for a dataset that is made from papers, and what it does then."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import answer, quotas

if TYPE_CHECKING:
    from ..papers import MadeFromPapers

Papers = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="PATH",
        help="Makes a dataset of your own from the papers there; may be given several times.",
    ),
]
Domain = Annotated[
    str | None, typer.Option(help="With --papers: domain of papers whose files tell none.")
]
Metadata = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="With --papers: CSV with id, year and domain of papers."),
]
Phrases = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="With --papers: JSON with other linking phrases."),
]
TrainYears = Annotated[
    str | None,
    typer.Option(metavar="A-B", help="With --papers: years for training, as in 2000-2019."),
]
EvaluationYears = Annotated[
    str | None,
    typer.Option(metavar="A-B", help="With --papers: years for validation (36 %) and test."),
]
Ratio = Annotated[
    str | None,
    typer.Option(metavar="A,B,C", help="With --papers: shares of the splits; default 0.8,0.1,0.1."),
]
PerClass = Annotated[
    str | None,
    typer.Option(
        metavar="SPLIT=N,...",
        help="With --papers: pairs of each class and domain; default as the smallest class.",
    ),
]
Within = Annotated[
    str | None,
    typer.Option(
        metavar="paragraph|section",
        help="With --papers: what adjacent sentences share; default a paragraph.",
    ),
]
Seed = Annotated[
    int | None, typer.Option(help="With --papers: decides every random choice; default 1.")
]
License = Annotated[
    str | None, typer.Option("--license", help="With --papers: its licence; default other.")
]
Title = Annotated[str | None, typer.Option(help="With --papers: its name in prose.")]
Citation = Annotated[Path | None, typer.Option(metavar="FILE", help="With --papers: its BibTeX.")]
Language = Annotated[
    str | None, typer.Option(help="With --papers: code of their language; default en.")
]
Spark = Annotated[bool, typer.Option("--spark", help="With --papers: work on a Spark cluster.")]

_MAX_SHOWN = 10


def build_from_papers(
    name: str,
    papers: list[Path],
    output: Path,
    num_proc: int,
    spark: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Builds a dataset from papers, and says what was skipped."""
    from .. import papers as made_from_papers

    options = {option: value for option, value in given.items() if value is not None}
    for option in ("train_years", "evaluation_years"):
        if option in options:
            options[option] = _years(options[option])
    if "ratio" in options:
        options["ratio"] = _ratio(options["ratio"])
    if "per_class" in options:
        options["per_class"] = quotas(options["per_class"])
    if spark:
        options["engine"] = made_from_papers.spark_engine()
    made = made_from_papers.build_from_papers(name, papers, output, num_proc=num_proc, **options)
    _tell(made)
    answer({name: str(made.folder)}, as_json, lambda: str(made.folder))


def _tell(made: "MadeFromPapers") -> None:
    for entry in made.skipped[:_MAX_SHOWN]:
        place = f"{entry.file}:{entry.line}" if entry.line else entry.file
        print(f"nlihub: skipped {place}: {entry.reason}: {entry.detail}", file=sys.stderr)
    if len(made.skipped) > _MAX_SHOWN:
        print(f"nlihub: and {len(made.skipped) - _MAX_SHOWN:,} more", file=sys.stderr)
    if made.unknown:
        shown = ", ".join(made.unknown[:_MAX_SHOWN])
        print(
            f"nlihub: {len(made.unknown):,} ids of the table are of no paper: {shown}",
            file=sys.stderr,
        )
    counts = made.counts["papers"]
    reasons = "".join(f"; {n:,}: {reason}" for reason, n in counts["dropped"].items())
    print(f"nlihub: {counts['kept']:,} of {counts['read']:,} papers{reasons}", file=sys.stderr)
    pairs = made.counts["pairs"].values()
    kept, read = sum(c["kept"] for c in pairs), sum(c["read"] for c in pairs)
    print(f"nlihub: {kept:,} of {read:,} pairs; all counts: {made.report}", file=sys.stderr)
    for config, splits in made.rows.items():
        rows = ", ".join(f"{split} {n:,}" for split, n in splits.items())
        print(f"nlihub: {config}: {rows}", file=sys.stderr)


def _years(text: str) -> tuple[int, int]:
    if (match := re.fullmatch(r"(\d{4})(?:-(\d{4}))?", text)) is None:
        raise typer.BadParameter(f"{text!r} are no years; expected FIRST-LAST, as in 2000-2019.")
    return int(match[1]), int(match[2] or match[1])


def _ratio(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(part) for part in text.split(","))
    except ValueError:
        shares = ()
    if len(shares) != 3:
        raise typer.BadParameter(f"{text!r} is no ratio; expected train,validation,test.")
    return shares
