"""The page of a metric's Space: files and fields in, scores, a picture and downloads out."""

import inspect
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .app import AppSpec, score_file
from .inputs.files import SUFFIXES
from .inputs.problems import MetricInputError, MissingLibraryError

if TYPE_CHECKING:
    import gradio

#: Largest file that a page takes, in bytes: about a million rows.
MAX_FILE_BYTES = 100_000_000
#: Tables on the page: the scores and four breakdowns.
_N_TABLES = 5
#: Seconds for which what was written can be downloaded, and between two looks for what is older.
_KEPT_S = 3600
_LOOKED_S = 600


def serve(spec: AppSpec) -> None:
    """Serve the page of a metric's app until it is stopped.

    Args:
        spec: The app of the metric.

    Raises:
        MissingLibraryError: gradio is not installed.
    """
    build_page(spec).launch(max_file_size=MAX_FILE_BYTES)


class _Shelf:
    """Folders for what was written, of which old ones are removed, and all with the process."""

    def __init__(self, name: str) -> None:
        self._whole = tempfile.TemporaryDirectory(prefix=f"{name}-", ignore_cleanup_errors=True)

    def add(self) -> Path:
        """Return a new folder."""
        whole = Path(self._whole.name)
        for folder in whole.iterdir():
            if time.time() - folder.stat().st_mtime > _KEPT_S:
                shutil.rmtree(folder, ignore_errors=True)
        return Path(tempfile.mkdtemp(dir=whole))


def build_page(spec: AppSpec) -> "gradio.Blocks":
    """Build the page of a metric's app.

    Its API has two functions: ``score``, which takes ``predictions`` and ``gold`` (files), and the
    options of the metric by name, and ``example``.

    Args:
        spec: The app of the metric.

    Raises:
        MissingLibraryError: gradio is not installed.
    """
    try:
        import gradio as gr
    except ImportError as error:
        message = "The app needs gradio, which comes with the extra nlihub[app]."
        raise MissingLibraryError(message) from error
    shelf = _Shelf(spec.name)

    def refuse(message: str, title: str) -> Exception:
        return gr.Error(message, title=title, duration=None, print_exception=False)

    def score(predictions: str | None, gold: str | None, *texts: str) -> list[Any]:
        if predictions is None:
            raise refuse("Choose a file of predictions first.", "No file")
        folder = shelf.add()
        paths = Path(predictions), Path(gold) if gold else None
        try:
            result, picture, downloads = score_file(spec, *paths, texts, folder)
        except (MetricInputError, OSError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise refuse(str(error), "The file was refused") from None
        title = f"Scores. {result['note']}" if "note" in result else "Scores"
        tables = [(title, spec.scores(result)), *spec.breakdowns(result).items()][:_N_TABLES]
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

    _name_parameters(score, ["predictions", "gold", *spec.options])

    def example() -> str:
        path = shelf.add() / "example.csv"
        path.write_text(spec.example, encoding="utf-8")
        return str(path)

    page: gr.Blocks
    kept = (_LOOKED_S, _KEPT_S)
    with gr.Blocks(title=spec.title, analytics_enabled=False, delete_cache=kept) as page:
        gr.Markdown(f"# {spec.title}\n\n{spec.description}")
        with gr.Row():
            with gr.Column(scale=2):
                file = gr.File(
                    label="Predictions: CSV, JSONL or Parquet", file_types=list(SUFFIXES)
                )
                gold = gr.File(
                    label="Rows of the dataset, where the predictions have only ids",
                    file_types=list(SUFFIXES),
                )
                use_example = gr.Button("Use the example", size="sm")
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
        use_example.click(example, outputs=file, api_name="example")
        start.click(score, [file, gold, *options], shown, api_name="score")
    return page


def _name_parameters(function: Any, names: list[str]) -> None:
    """Give a function of any number of arguments the names that its API shows."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])
