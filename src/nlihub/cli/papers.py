"""The options of ``nlihub build`` for a dataset that is made from papers, and what it does then."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import answer, quotas
from .own import read_ratio, tell, tell_rows, tell_units

if TYPE_CHECKING:
    from ..papers import MadeFromPapers

Papers = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="PATH",
        help="Makes a dataset of your own from the papers there; may be given several times.",
    ),
]
Metadata = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="With --papers: CSV with id, year and domain of papers."),
]
TrainYears = Annotated[
    str | None,
    typer.Option(metavar="A-B", help="With --papers: years for training, as in 2000-2019."),
]
EvaluationYears = Annotated[
    str | None,
    typer.Option(metavar="A-B", help="With --papers: years for validation (36 %) and test."),
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
        options["ratio"] = read_ratio(options["ratio"])
    if "per_class" in options:
        options["per_class"] = quotas(options["per_class"])
    if options.pop("spark", False):
        options["engine"] = made_from_papers.spark_engine()
    made = made_from_papers.build_from_papers(name, papers, output, num_proc=num_proc, **options)
    _tell(made)
    answer({name: str(made.folder)}, as_json, lambda: str(made.folder))


def _tell(made: "MadeFromPapers") -> None:
    for entry in made.skipped[:_MAX_SHOWN]:
        place = f"{entry.file}:{entry.line}" if entry.line else entry.file
        tell(f"skipped {place}: {entry.reason}: {entry.detail}")
    if len(made.skipped) > _MAX_SHOWN:
        tell(f"and {len(made.skipped) - _MAX_SHOWN:,} more")
    if made.unknown:
        shown = ", ".join(made.unknown[:_MAX_SHOWN])
        tell(f"{len(made.unknown):,} ids of the table are of no paper: {shown}")
    counts = made.counts["papers"]
    tell_units("papers", counts, counts["dropped"])
    pairs = made.counts["pairs"].values()
    kept, read = sum(c["kept"] for c in pairs), sum(c["read"] for c in pairs)
    tell(f"{kept:,} of {read:,} pairs; all counts: {made.report}")
    tell_rows(made.rows)


def _years(text: str) -> tuple[int, int]:
    if (match := re.fullmatch(r"(\d{4})(?:-(\d{4}))?", text)) is None:
        raise typer.BadParameter(f"{text!r} are no years; expected FIRST-LAST, as in 2000-2019.")
    return int(match[1]), int(match[2] or match[1])
