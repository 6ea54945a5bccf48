"""The app of a metric's Space: it turns a file of predictions into scores, a picture and tables."""

import csv
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .inputs.files import read_table, select_columns
from .inputs.problems import MetricInputError, MissingExtraError
from .plots.figures import save_figure
from .rows import Rows

if TYPE_CHECKING:
    import gradio

#: Tables on the page: the scores and two breakdowns.
_N_TABLES = 3

#: The text field that every app has: its label and its first value.
CONFIDENCE_LEVEL_FIELD = ("Confidence level of intervals (empty: none)", "0.95")


@dataclass(frozen=True)
class AppSpec:
    """The app of one metric, and how the results of that metric are shown.

    Attributes:
        name: Name of the metric.
        title: Title of the page.
        description: What the metric measures, in a paragraph of Markdown.
        columns: Required and optional columns of the file, in Markdown.
        options: Text fields: label and first value by name of the option.
        example: A small file of predictions, as CSV.
        score: Computes the result from the rows of a file and the texts of the options.
        scores: Returns the scores of a result as a table.
        breakdowns: Returns the further tables of a result by title; the page shows the first two.
        draw: Draws a result; None if the metric has no picture.
    """

    name: str
    title: str
    description: str
    columns: str
    options: Mapping[str, tuple[str, str]]
    example: str
    score: Callable[[pa.Table, Mapping[str, str]], dict[str, Any]]
    scores: Callable[[Mapping[str, Any]], Rows]
    breakdowns: Callable[[Mapping[str, Any]], dict[str, Rows]]
    draw: Callable[[Mapping[str, Any]], Any] | None


def grouped_arguments(table: pa.Table, options: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of a metric of groups, from a file and the options of its app.

    Args:
        table: The rows of the file.
        options: The texts of ``thresholds``, ``labels`` and ``confidence_level``.

    Returns:
        Columns and options by argument.

    Raises:
        MetricInputError: A column is missing, or an option is malformed.
    """
    columns = select_columns(
        table, ("predictions", "references", "groups"), ("categories", "other_predictions")
    )
    return columns | {
        "thresholds": read_numbers(options["thresholds"], "thresholds"),
        "labels": read_labels(options["labels"]),
        "confidence_level": read_level(options["confidence_level"]),
        "per_group": True,
    }


def read_labels(text: str) -> list[str] | None:
    """Return the names in a text such as ``"entailment, neutral"``; None if it is empty."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return names or None


def read_numbers(text: str, name: str) -> list[float]:
    """Return the numbers in a text such as ``"0.5, 0.95"``.

    Args:
        text: Numbers separated by commas.
        name: Name of the option, for the error.

    Returns:
        One number or more.

    Raises:
        MetricInputError: A part of the text is not a number.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise MetricInputError(
            [f"{name}: {text!r} is not a list of numbers; expected one such as 0.5, 0.95."]
        ) from None


def read_level(text: str) -> float | None:
    """Return the confidence level in a text such as ``"0.95"``; None if it is empty.

    Raises:
        MetricInputError: The text is not a number.
    """
    return read_numbers(text, "confidence_level")[0] if text.strip() else None


def build_page(spec: AppSpec) -> "gradio.Blocks":
    """Build the page of a metric.

    Args:
        spec: The app of the metric.

    Returns:
        The page; its ``launch()`` serves it.

    Raises:
        MissingExtraError: gradio is not installed.
    """
    try:
        import gradio as gr
    except ImportError as error:
        message = "The app needs gradio, which comes with the extra nlihub[app]."
        raise MissingExtraError(message) from error

    def answer(file: str | None, *texts: str) -> list[Any]:
        if file is None:
            raise gr.Error("Choose a file of predictions first.", title="No file")
        try:
            found = score_file(spec, Path(file), list(texts))
        except (MetricInputError, OSError) as error:
            raise gr.Error(str(error), title="The file was refused", duration=None) from None
        result, picture, downloads = found
        tables = [("Scores", spec.scores(result)), *spec.breakdowns(result).items()][:_N_TABLES]
        frames = [
            gr.Dataframe(rows[1:], headers=rows[0], label=title, visible=True)
            for title, rows in tables
        ]
        frames += [gr.Dataframe(visible=False)] * (_N_TABLES - len(frames))
        return [
            gr.Image(str(picture) if picture else None, visible=picture is not None),
            *frames,
            gr.Textbox(result["signature"], visible=True),
            gr.Files([str(path) for path in downloads], visible=True),
        ]

    page: gr.Blocks
    with gr.Blocks(title=spec.title, analytics_enabled=False) as page:
        gr.Markdown(f"# {spec.title}\n\n{spec.description}")
        with gr.Row():
            with gr.Column(scale=2):
                file = gr.File(
                    label="Predictions: CSV, JSONL or Parquet",
                    file_types=[".csv", ".jsonl", ".parquet"],
                )
                example = gr.Button("Use the example", size="sm")
                gr.Markdown(spec.columns)
                options = [gr.Textbox(value, label=label) for label, value in spec.options.values()]
                start = gr.Button("Score", variant="primary")
            with gr.Column(scale=3):
                first = gr.Dataframe(visible=False, interactive=False, max_height=800)
                picture = gr.Image(visible=False, interactive=False, show_label=False, buttons=[])
                others = [
                    gr.Dataframe(visible=False, interactive=False, max_height=400)
                    for _ in range(_N_TABLES - 1)
                ]
                signature = gr.Textbox(
                    label="Signature", visible=False, interactive=False, buttons=["copy"]
                )
                downloads = gr.Files(label="Download", visible=False, interactive=False)
        shown = [picture, first, *others, signature, downloads]
        example.click(lambda: str(_write_example(spec)), outputs=file)
        start.click(answer, [file, *options], shown)
    return page


def score_file(
    spec: AppSpec, file: Path, texts: list[str]
) -> tuple[dict[str, Any], Path | None, list[Path]]:
    """Score a file of predictions and write the files to download.

    Args:
        spec: The app of the metric.
        file: The predictions, in CSV, JSONL or Parquet.
        texts: The value of each option, in the order of ``spec.options``.

    Returns:
        The result; its picture (PNG), None if the metric has none; and all files to download, in
        a new temporary folder.

    Raises:
        MetricInputError: The file is malformed or lacks a column, or an option is malformed.
        OSError: The file cannot be read.
    """
    result = spec.score(read_table(file), dict(zip(spec.options, texts, strict=True)))
    folder = Path(tempfile.mkdtemp(prefix=f"{spec.name}-"))
    files = [folder / f"{spec.name}.json"]
    files[0].write_text(json.dumps(result, ensure_ascii=False, indent=2), encoding="utf-8")
    for title, rows in {"scores": spec.scores(result), **spec.breakdowns(result)}.items():
        name = title.split(",")[0].lower().replace(" ", "_")
        files.append(folder / f"{spec.name}_{name}.csv")
        _write_csv(files[-1], rows)
    if spec.draw is None:
        return result, None, files
    figure = spec.draw(result)
    pictures = [folder / f"{spec.name}{ending}" for ending in (".png", ".svg")]
    for picture in pictures:
        save_figure(figure, picture)
    return result, pictures[0], files + pictures


def _write_csv(path: Path, rows: Rows) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def _write_example(spec: AppSpec) -> Path:
    path = Path(tempfile.mkdtemp(prefix=f"{spec.name}-")) / "example.csv"
    path.write_text(spec.example, encoding="utf-8")
    return path
