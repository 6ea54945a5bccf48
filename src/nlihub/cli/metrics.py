"""Commands on predictions: scores and pictures."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .command import command, takes_groups
from .completion import complete_config, complete_split
from .errors import ErrorOptions, tell_errors
from .options import From, Json, answer, names, tell

Thresholds = Annotated[
    str | None,
    typer.Option(
        metavar="LIST", help="Consistency thresholds, separated by commas; default the papers'."
    ),
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module, in the order of the help."""
    for function in (score_command, plot_command):
        command(app)(function)


@takes_groups
def score_command(
    *,
    predictions: Annotated[
        list[Path],
        typer.Argument(
            metavar="PREDICTIONS...", help="CSV, JSONL or Parquet, or logs of a harness."
        ),
    ],
    dataset: Annotated[
        str, typer.Option(metavar="NAME|FOLDER|FILE", help="Dataset, built version, or sample.")
    ],
    config: Annotated[
        str | None,
        typer.Option(help="Config; default the default one.", autocompletion=complete_config),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Split; default test.", autocompletion=complete_split)
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Predictions of a second system to compare with."),
    ] = None,
    thresholds: Thresholds = None,
    confidence_level: Annotated[
        float | None, typer.Option(help="Coverage of intervals, e.g. 0.95; default none.")
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=1, help="Drawn exchanges in a test of two systems.")
    ] = 9999,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the draws in a test and for --errors.")
    ] = 0,
    per_group: Annotated[
        bool, typer.Option("--per-group", help="Add the counts of every group.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN,...",
            help="Break scores down by columns of the dataset; A+B crosses two.",
        ),
    ] = None,
    model_labels: Annotated[
        str | None,
        typer.Option(metavar="L,...", help="Labels in the order of the ids in the predictions."),
    ] = None,
    errors: ErrorOptions,
    folder: From = None,
    as_json: Json = False,
) -> None:
    """Score predictions with every metric that applies to a dataset.

    A file has the columns id and prediction (a label), and perhaps probability_LABEL for every
    label. Logs of lm_eval, lighteval and Inspect are read, too. Several files are the runs of one
    system with several seeds: mean, standard deviation and, with as many files --against, the
    paired t-test.
    """
    from ..baselines.evaluation import score as scores

    draw = errors.plan(predictions)
    found = scores.score(
        predictions,
        dataset,
        config=config,
        split=split,
        against=against or [],
        thresholds=_numbers(thresholds),
        confidence_level=confidence_level,
        n_resamples=resamples,
        seed=seed,
        per_group=per_group,
        by=names(by),
        model_labels=names(model_labels),
        folder=folder,
    )
    for note in found["notes"]:
        tell(f"note: {note}")
    if draw is not None:
        second = against[0] if against else None
        place: dict[str, Any] = {"config": config, "split": split, "folder": folder}
        place["model_labels"] = names(model_labels)
        drawn = draw(dataset=dataset, against=second, seed=seed, **place)
        tell_errors(drawn)
        found["errors"] = drawn.as_json()
    answer(found, as_json, lambda: scores.show_scores(found, per_group=per_group))


def plot_command(
    kind: Annotated[
        str,
        typer.Argument(
            help="pattern-accuracy, categories, patterns, consistency, recall, breakdown or "
            "cartography."
        ),
    ],
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS...", help="Files of nlihub score --json.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .png, .svg or .pdf file.")],
    systems: Annotated[
        str | None,
        typer.Option(
            "--names", metavar="NAMES", help="Names of the systems; default those of the files."
        ),
    ] = None,
    start: Annotated[
        float, typer.Option(min=0, max=0.99, help="Threshold at which a curve begins.")
    ] = 0.0,
    threshold: Annotated[
        float | None, typer.Option(help="Threshold that categories are shown at; default 0.95.")
    ] = None,
    larger_side: Annotated[
        bool,
        typer.Option(
            "--larger-side",
            help="Consistency as BioNLI's Figure 2 has it, beside that of a perfect system.",
        ),
    ] = False,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Breakdown to show; default the only one.")
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="accuracy|macro_f1", help="Score of a breakdown; default the accuracy."
        ),
    ] = None,
    color: Annotated[
        str | None,
        typer.Option(
            metavar="label|correctness", help="What cartography shows in color; default the label."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw results for a paper: curves and bars of several systems, maps of groups.

    patterns takes results of nlihub score --per-group, cartography those of a system with
    probabilities.
    """
    from ..baselines.evaluation import score as scores

    scores.plot(
        kind,
        results,
        output,
        names=names(systems) or None,
        start=start,
        threshold=threshold,
        larger_side=larger_side,
        by=by,
        score=score,
        color=color,
    )
    answer({"output": str(output)}, as_json, lambda: str(output))


def _numbers(text: str | None) -> list[float] | None:
    try:
        return [float(part) for part in text.split(",")] if text is not None else None
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of numbers.") from None
