"""The page, in Gradio."""

import csv
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..inputs.files import read_table
from ..inputs.problems import MetricInputError, MissingExtraError
from ..plots.figures import save_figure
from ..rows import Rows
from .spec import AppSpec

if TYPE_CHECKING:
    import gradio

#: Tables on the page: the scores and two breakdowns.
_N_TABLES = 3


def build_page(spec: AppSpec) -> "gradio.Blocks":
    """Builds the page of a metric.

    Args:
        spec: The app.

    Returns:
        The page; ``launch()`` serves it.
    """
    try:
        import gradio as gr
    except ImportError as error:
        message = "The app needs gradio, which comes with the extra nlihub[app]."
        raise MissingExtraError(message) from error

    def answer(file: str | None, *texts: str) -> list[Any]:
        if file is None:
            raise gr.Error("Give a file of predictions first.", title="No file")
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
                example = gr.Button("Take the example", size="sm")
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
    """Scores a file and writes what can be downloaded.

    Args:
        spec: The app.
        file: The predictions.
        texts: The options, in their order.

    Returns:
        The result, its picture (PNG) and all files to download.

    Raises:
        MetricInputError: The file or an option is refused.
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
