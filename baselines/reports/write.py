"""Write a report: Markdown, and the pictures that it shows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...loaders.atomic_write import whole_folder
from ...loaders.errors import OutputError
from .benchmarks import show_benchmark
from .comparisons import show_compared, show_shots, show_transfers
from .pictures import Pictures
from .provenance import cost_table, show_comparability, show_provenance
from .scores import show_table
from .systems import RunCollection, collect_runs
from .training import show_training

FILE_NAME = "report.md"

#: The first line of a report, so that no other file is replaced.
_MARK = "<!-- nlihub: report on baselines -->"
_EMBEDDED = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


def write_report(runs: Sequence[Path], output: Path) -> dict[str, Any]:
    """Write a report on runs into a folder, whole or not at all: see ``nlihub.baselines.report``.

    The same runs give the same bytes with the same versions of matplotlib and of the test rows.
    Tests on rows are left out, with a note, if the test rows are not available or have changed.
    """
    if output.exists() and not _is_report(output):
        raise OutputError(
            f"{output} exists and is not a report, or holds other files too. Name another folder, "
            "or move it away."
        )
    collection = collect_runs(runs)
    with whole_folder(output, _is_report) as folder:
        pictures = Pictures(folder)
        text = _text(collection, pictures)
        (folder / FILE_NAME).write_text(text, encoding="utf-8", newline="\n")
    return {
        "report": str(output / FILE_NAME),
        "pictures": pictures.names,
        "n_systems": len(collection.systems),
        "n_runs": sum(len(system.runs) for system in collection.systems),
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
        "The hypothesis alone": show_compared("view", collection),
        "Few shots": show_shots(collection, pictures),
        "Parts of the training rows": show_compared("subset", collection),
        "Training": show_training(collection, pictures),
        "What it took": [show_table(cost_table(collection.systems))],
        "What can be compared with the papers": show_comparability(collection),
        "How it was made": show_provenance(collection),
    }
    parts = [_MARK, "# Baselines", _introduction(collection)]
    for title, found in blocks.items():
        parts += [f"## {title}", *found] if found else []
    return "\n\n".join(parts) + "\n"


def _introduction(collection: RunCollection) -> str:
    counts = {
        "system": len(collection.systems),
        "test set": len(collection.benchmarks),
        "run": sum(len(system.runs) for system in collection.systems),
    }
    systems, tests, runs = (f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items())
    return (
        f"{systems} on {tests}, {runs}. Scores are percentages: the mean over runs with several "
        "seeds ± their standard deviation (over n - 1); of one run, its score. The best mean of a "
        "column is bold."
    )
