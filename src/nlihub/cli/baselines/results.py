"""Commands on what there is: presets, reports on runs, models for the Hub."""

from pathlib import Path
from typing import Annotated

import typer

from ..options import Json, answer
from .show import presets_as_text


def presets(as_json: Json = False) -> None:
    """List the papers' baselines."""
    from ...baselines import list_presets

    found = list_presets()
    answer(found, as_json, lambda: presets_as_text(found))


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUNS...", help="Folders of runs, at any depth.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the report.")],
    confidence_level: Annotated[
        float | None, typer.Option(help="Of bootstrap intervals, e.g. 0.95; default none.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Report on runs: means over seeds, tests, the papers' numbers beside ours, pictures."""
    from ... import baselines

    found = baselines.report(runs, output, confidence_level=confidence_level)
    answer(found, as_json, lambda: str(output / "report.md"))


def push(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run that is done.")],
    repo: Annotated[str, typer.Option(metavar="ORG/NAME", help="Repository on the Hub.")],
    private: Annotated[
        bool, typer.Option("--private", help="Make it private if it is new.")
    ] = False,
    license_id: Annotated[
        str | None, typer.Option("--license", help="Licence of the weights, e.g. apache-2.0.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Send a fine-tuned model to the Hub, with a card that carries its results."""
    from ...hub import publish_model

    url = publish_model(run, repo, private=private, license_id=license_id)
    answer({"commit": url}, as_json, lambda: url)
