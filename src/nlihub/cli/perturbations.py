"""The command that makes conclusions wrong."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..builders.procedures.abstracts.mechanisms.rules import MechanismOptions
from .command import command, takes_groups
from .options import Json, Seed, answer, names


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module, in the order of the help."""
    command(app)(perturb_command)


@takes_groups
def perturb_command(
    *,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="PubTator, BioC XML or JSON, or JSON lines."),
    ],
    strategies: Annotated[
        str | None,
        typer.Option(metavar="S,...", help="Of SEN,SEP,SRE,SREO,VNeg,SN,LPR; default all."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="JSON lines; default stdout."),
    ] = None,
    seed: Seed = 1,
    every: Annotated[
        bool, typer.Option("--all", help="All ways of each strategy, not one.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most N ways of each strategy.")
    ] = None,
    ignore_markers: Annotated[
        bool,
        typer.Option(
            "--ignore-markers", help="For users who strip markers: then SEP is the same as SEN."
        ),
    ] = False,
    pool: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Entities for SREO, {"Gene": ["TNF", ...], ...}; default those of the files.',
        ),
    ] = None,
    antonyms: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Terms for LPR, of the form of our antonyms.json."),
    ] = None,
    mechanisms: MechanismOptions,
    as_json: Json = False,
) -> None:
    """Make conclusions wrong by BioNLI's rules: each strategy once, or in all ways.

    Files hold annotated abstracts, or JSON lines with id, conclusion (with <re> X <er> and
    <el> Y <le>) and, for some strategies, supporting_set, regulator_type and regulated_type.

    What was made, refused and skipped goes to stderr; with --output and --json to stdout.
    """
    from ..builders.dataflow.report import show_entries
    from ..metrics.rows import show_rows_as_text
    from ..perturbation import perturb_files, tabulate_perturbed

    if as_json and output is None:
        raise typer.BadParameter("needs --output: stdout has the negatives.", param_hint="--json")
    told = perturb_files(
        files,
        output or sys.stdout.buffer,
        names(strategies) or None,
        seed=seed,
        limit=limit if limit or every else 1,
        pool=pool,
        antonyms=antonyms,
        mechanisms=mechanisms,
        ignore_markers=ignore_markers,
    )
    for line in show_entries(map(asdict, told.left_out), len(told.left_out), "skipped "):
        print(f"nlihub: {line}", file=sys.stderr)
    print(show_rows_as_text(tabulate_perturbed(told)), file=sys.stderr)
    if output is not None:
        n = sum(told.negatives.values())
        text = f"{output}: {n:,} negatives of {told.n_mechanisms:,} mechanisms"
        answer({"output": str(output), **asdict(told)}, as_json, lambda: text)
