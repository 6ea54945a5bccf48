"""Commands on pattern banks: drawing samples."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from .command import command
from .options import From, Json, NumProc, answer, names

Seed = Annotated[int, typer.Option(min=0, help="Seed of the draw.")]
Patterns = Annotated[
    str | None,
    typer.Option(metavar="IDS", help="Ids of patterns, separated by commas; default all."),
]
Categories = Annotated[
    str | None,
    typer.Option(
        "--categories",
        metavar="CLASSES",
        help="Inference classes, separated by commas; default all.",
    ),
]
WithoutExamples = Annotated[
    bool, typer.Option("--without-examples", help="Leave out the bank's hand-written examples.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="The JSON file to write.")]
SampleOutput = Annotated[
    Path, typer.Option("--output", "-o", help="The file to write, .parquet or .jsonl.")
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module, in the order of the help."""
    for function in (sample_command, export_command):
        command(app)(function)


def sample_command(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER")],
    output: SampleOutput,
    seed: Seed,
    per_pattern: Annotated[
        int, typer.Option(min=-1, help="Problems a pattern; -1 takes all.")
    ] = 200,
    patterns: Patterns = None,
    categories: Categories = None,
    without_examples: WithoutExamples = False,
    include_released: Annotated[
        bool, typer.Option("--include-released", help="Allow released problems and examples.")
    ] = False,
    folder: From = None,
    num_proc: NumProc = 1,
    as_json: Json = False,
) -> None:
    """Draw fresh problems: an evaluation set that no model has seen."""
    from .. import sampling

    found = sampling.sample(
        name,
        output,
        seed=seed,
        per_pattern=per_pattern,
        patterns=names(patterns),
        categories=names(categories),
        without_examples=without_examples,
        include_released=include_released,
        folder=folder,
        num_proc=num_proc,
    )

    def text() -> str:
        lines = [f"{found.output}: {found.rows:,} problems from {found.patterns} patterns"]
        if found.short:
            listed = ", ".join(f"{pattern} ({rows})" for pattern, rows in found.short.items())
            lines.append(f"fewer than {per_pattern} were left in {len(found.short)}: {listed}")
        if found.mended:
            listed = ", ".join(f"{rule} {count}" for rule, count in found.mended.items())
            lines.append(f"mended sentences: {listed}; listed in {found.mends}")
        return "\n".join(lines)

    answer(asdict(found), as_json, text)


def export_command(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER")],
    output: Output,
    file_format: Annotated[
        str, typer.Option("--format", help="Format to write: upstream-json.")
    ] = "upstream-json",
    seed: Annotated[int | None, typer.Option(help="Seed; default that of the release.")] = None,
    per_pattern: Annotated[
        int | None,
        typer.Option(
            min=-1,
            help="Problems a pattern; default that of the release, -1 all, 0 examples only.",
        ),
    ] = None,
    patterns: Patterns = None,
    categories: Categories = None,
    without_examples: WithoutExamples = False,
    folder: From = None,
    num_proc: NumProc = 1,
    as_json: Json = False,
) -> None:
    """Write a draw as the authors' generator does; by default the released file."""
    from .. import sampling

    if file_format != "upstream-json":
        raise typer.BadParameter(f"{file_format!r} is not upstream-json.", param_hint="--format")
    rows = sampling.export(
        name,
        output,
        seed=seed,
        per_pattern=per_pattern,
        patterns=names(patterns),
        categories=names(categories),
        without_examples=without_examples,
        folder=folder,
        num_proc=num_proc,
    )
    answer({"output": str(output), "rows": rows}, as_json, lambda: f"{output}: {rows:,} problems")
