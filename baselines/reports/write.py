"""Write a report on runs: Markdown, and the pictures that it shows."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ...loaders.atomic_write import whole_folder
from ...loaders.errors import OutputError, needs_extra
from ...loaders.paths import local_path
from ...metrics.functional import cartography
from ..runs.folder import DYNAMICS
from ..tables import Cell, Table
from .benchmarks import show_benchmark
from .comparisons import show_shots, show_transfers
from .pictures import Pictures, plot_training_map
from .provenance import cost_table, show_comparability, show_provenance
from .systems import FinishedRun, RunCollection, collect_runs

PathLike = str | os.PathLike[str]

FILE_NAME = "report.md"

#: The first line of a report, so that no other file is replaced.
_MARK = "<!-- nlihub: report on baselines -->"
_MAPS = (
    "Confidence and variability: mean and standard deviation of the gold label's probability over "
    "the epochs; here their means over the rows."
)

_EMBEDDED = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


@needs_extra("baselines", "A report")
def report(runs: PathLike | Sequence[PathLike], output: PathLike) -> dict[str, Any]:
    """Write a report on runs, in Markdown with pictures, whole or not at all.

    The same runs give the same bytes with the same versions of matplotlib and of the test rows.
    Tests on rows are left out, with a note, if the test rows are not available or have changed.

    Args:
        runs: One or more folders of runs, or folders that contain runs at any depth.
        output: The folder to write; an earlier report there is replaced.

    Returns:
        ``report`` (the path of the Markdown), ``pictures`` (their names), ``n_systems``,
        ``n_runs``, ``benchmarks`` (their names) and ``unfinished`` (paths of runs).

    Raises:
        SourceNotFoundError: A folder contains no finished run, or a file of a run is missing.
        UsageError: A run is malformed, or runs contradict each other.
        PredictionsError: Predictions cannot be read, or do not match the rows of their test set.
        OutputError: The output folder holds something other than a report, or is not writable.
        MissingExtraError: ``nlihub[baselines]`` or ``nlihub[plots]`` is not installed.
    """
    folders = [runs] if isinstance(runs, str | os.PathLike) else runs
    collection, output = collect_runs(list(map(local_path, folders))), local_path(output)
    if output.exists() and not _is_report(output):
        raise OutputError(
            f"{output} exists and is not a report, or holds other files too. Name another folder, "
            "or move it away."
        )
    with whole_folder(output, _is_report) as folder:
        pictures = Pictures(folder)
        text = _text(collection, pictures)
        (folder / FILE_NAME).write_text(text, encoding="utf-8", newline="\n")
    return {
        "report": str(output / FILE_NAME),
        "pictures": pictures.names,
        "n_systems": len(collection.systems),
        "n_runs": len(collection.runs),
        "benchmarks": [benchmark.name for benchmark in collection.benchmarks],
        "unfinished": list(collection.unfinished),
    }


def _is_report(folder: Path) -> bool:
    """Return whether a folder is empty, or holds a report and nothing else."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    if FILE_NAME not in names:
        return not names
    text = (folder / FILE_NAME).read_text(encoding="utf-8", errors="replace")
    return text.startswith(_MARK) and names <= {FILE_NAME, *_EMBEDDED.findall(text)}


def _text(collection: RunCollection, pictures: Pictures) -> str:
    blocks = {
        f"{benchmark.name}: {benchmark.dataset['rows']:,} rows": show_benchmark(benchmark, pictures)
        for benchmark in collection.benchmarks
    }
    blocks |= {
        "Trained on one, tested on another": show_transfers(collection, pictures),
        "Few shots": show_shots(collection, pictures),
        "Maps of the training rows": _show_maps(collection, pictures),
        "What it took": [cost_table(collection.systems).as_markdown()],
        "What can be compared with the papers": show_comparability(collection),
        "How it was made": show_provenance(collection),
    }
    parts = [_MARK, "# Baselines", _introduction(collection)]
    for title, found in blocks.items():
        parts += [f"## {title}", *found] if found else []
    return "\n\n".join(parts) + "\n"


def _introduction(collection: RunCollection) -> str:
    counts = {
        "system": collection.systems,
        "test set": collection.benchmarks,
        "run": collection.runs,
    }
    systems, tests, runs = (f"{len(c)} {what}{'s' * (len(c) != 1)}" for what, c in counts.items())
    return (
        f"{systems} on {tests}, {runs}. Scores are percentages: the mean over runs with several "
        "seeds ± their standard deviation (over n - 1); of one run, its score. The best mean of a "
        "column is bold."
    )


def _show_maps(collection: RunCollection, pictures: Pictures) -> list[str]:
    """Report a map of the rows of each system's first run, if it was trained on all rows."""
    head = ["system", "seed", "training rows", "epochs", "confidence", "variability"]
    rows: list[list[Cell]] = []
    shown = []
    for system in collection.systems:
        # Parts and shots are chosen rows: their map says nothing of the training set.
        chosen = system.config.subset is not None or system.config.n_shots is not None
        run, name = system.runs[0], system.name
        result = None if chosen else _training_map(run)
        if result is None:
            continue
        n_rows, seed = result["n_groups"], run.config.seed
        means = [f"{result[key]:.3f}" for key in ("confidence", "variability")]
        rows.append([name, str(seed), n_rows, result["n_samples"] // n_rows, *means])
        alt = f"Training rows of {name}, seed {seed}, by confidence and variability"
        figure = plot_training_map(result, title=name)
        shown.append(pictures.add(f"training map {name}", alt, figure))
    table = Table("", head, rows).as_markdown()
    return [_MAPS, table, *shown] if shown else []


def _training_map(run: FinishedRun) -> Mapping[str, Any] | None:
    """Compute the cartography of a run's training rows over its epochs; None of fewer than two.

    Source: MSciNLI, section 5.1; Swayamdipta et al., EMNLP 2020.
    """
    path = run.folder / DYNAMICS
    if not path.is_file():
        return None
    table = pq.read_table(path)
    found = cartography(table["probability"], groups=table["id"])
    return found if found["n_samples"] > found["n_groups"] else None
