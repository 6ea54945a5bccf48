"""Commands on baselines that show prompts and presets, report on runs, and publish models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt

from .options import From, Input, Json, answer
from .publishing import Repository, Version
from .training import Rows


def prompt_command(
    *,
    dataset: Annotated[str, Parameter(metavar="ROWS")],
    form: Literal["p1", "p2", "p3"] = "p1",
    shots: int = 0,
    row: Annotated[str | None, Parameter(metavar="ID")] = None,
    shots_from: Rows = None,
    seed: NonNegativeInt = 1,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Show the prompt about a row, exactly as a language model is sent it.

    The text is what a model without a chat template reads; --json has the chat's messages too.

    Args:
        dataset: A dataset, built folder or file; :SPLIT may follow.
        form: Form of the prompt.
        shots: 0, or the number of labels: an exemplar of each.
        row: Row to ask about; default the first.
        shots_from: Rows to draw exemplars from; default those that the dataset declares
            (scinli/human), else the validation split.
        seed: Seed of the draw.
    """
    from ..baselines.systems.prompting.ask import show_prompt

    found = show_prompt(
        dataset,
        form=form,
        n_shots=shots,
        row=row,
        shots_from=shots_from,
        seed=seed,
        folder=folder,
    )
    answer(found, as_json, lambda: str(found["text"]))


def presets_command(*, as_json: Json = False) -> None:
    """List the papers' baselines."""
    from ..baselines import list_presets

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
    *runs: Input,
    output: Annotated[Path, Parameter(alias="-o", metavar="FOLDER")],
    as_json: Json = False,
) -> None:
    """Report on runs: means over seeds, tests, the papers' numbers beside ours, pictures.

    Args:
        runs: Folders of runs, at any depth.
        output: Folder of the report.
    """
    from ..baselines.reports.write import report

    found = report(runs, output)
    answer(found, as_json, lambda: str(output / "report.md"))


def push_command(
    run: Path,
    /,
    *,
    repo: Repository,
    private: bool = False,
    license_id: Annotated[str | None, Parameter(name="--license")] = None,
    benchmark: Version | None = None,
    as_json: Json = False,
) -> None:
    """Publish a fine-tuned model on the Hub, with a card that has its results.

    Args:
        run: Folder of a run that is done.
        repo: Repository on the Hub.
        private: Make it private if it is new.
        license_id: Licence of the weights, e.g. apache-2.0.
        benchmark: Published version on which the accuracies count.
    """
    from ..hub import publish_model

    url = publish_model(run, repo, private=private, license_id=license_id, benchmark=benchmark)
    answer({"commit": url}, as_json, lambda: url)
