"""Commands that list presets, report on runs, and publish models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..options import Json, answer


def presets_command(as_json: Json = False) -> None:
    """List the papers' baselines."""
    from ...baselines import list_presets

    found = list_presets()
    answer(found, as_json, lambda: _presets_as_text(found))


def _presets_as_text(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Show presets with their commands, models and sources, a line each under a heading."""
    rows = [("preset", "command", "model", "source")]
    for name, preset in found.items():
        model = preset["config"]["model"] or preset["config"]["method"]
        rows.append((name, preset["command"], model, preset["source"]))
    *widths, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join("  ".join([*map(str.ljust, row[:-1], widths), row[-1]]) for row in rows)


def report_command(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUNS...", help="Folders of runs, at any depth.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the report.")],
    confidence_level: Annotated[
        float | None, typer.Option(help="Coverage of intervals, e.g. 0.95; default none.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Report on runs: means over seeds, tests, the papers' numbers beside ours, pictures."""
    from ...baselines import report

    found = report(runs, output, confidence_level=confidence_level)
    answer(found, as_json, lambda: str(output / "report.md"))


def push_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run that is done.")],
    repo: Annotated[str, typer.Option(metavar="ORG/NAME", help="Repository on the Hub.")],
    private: Annotated[
        bool, typer.Option("--private", help="Make it private if it is new.")
    ] = False,
    license_id: Annotated[
        str | None, typer.Option("--license", help="Licence of the weights, e.g. apache-2.0.")
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            metavar="ORG/NAME@X.Y.Z", help="Published version on which the accuracies count."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Publish a fine-tuned model on the Hub, with a card that has its results."""
    from ...hub import publish_model

    url = publish_model(run, repo, private=private, license_id=license_id, benchmark=benchmark)
    answer({"commit": url}, as_json, lambda: url)
