"""Writes a report: Markdown, and the pictures that it shows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...loaders.atomic_write import whole_folder
from ...loaders.errors import OutputError, UsageError
from .benchmarks import tell_benchmark
from .comparisons import tell_shots, tell_subsets, tell_transfers, tell_views
from .pictures import Pictures
from .provenance import cost_table, tell_comparability, tell_provenance
from .scores import show_table
from .systems import Collection, collect_runs
from .training import tell_training

FILE_NAME = "report.md"

#: How a report is known, so that nothing else is replaced.
_MARK = "<!-- nlihub: report on baselines -->"
_EMBEDDED = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")


def write_report(
    runs: Sequence[Path], output: Path, *, confidence_level: float | None = None
) -> dict[str, Any]:
    """Writes a report on runs into a folder, whole or not at all.

    The same runs give the same bytes with the same versions of matplotlib and of the rows that
    they were tested on. Where these rows cannot be had, or are not those of the runs, tests on rows
    are left out, and the report says so.

    Args:
        runs: Folders of runs, or that have runs in them; see ``collect_runs``.
        output: The folder to write, ``report.md`` and pictures; an earlier report is replaced.
        confidence_level: Of bootstrap intervals of scores and differences; None shows none.

    Returns:
        ``report`` (the path of the Markdown), ``pictures`` (their names), ``n_systems``,
        ``n_runs``, ``benchmarks`` (their names) and ``unfinished`` (places of runs).

    Raises:
        SourceNotFoundError: A folder has no runs that are done, or a file of a run is missing.
        UsageError: A run is malformed, runs contradict each other, or the level is none.
        PredictionsError: Predictions cannot be read, or are not of the rows of their test set.
        OutputError: There is something at the output that is no report, or it cannot be written.
        MissingExtraError: There are pictures to draw, and matplotlib is not installed.
    """
    if confidence_level is not None and not 0 < confidence_level < 1:
        raise UsageError(
            f"confidence_level is {confidence_level}; expected a number above 0 and below 1."
        )
    _check_output(output)
    collection = collect_runs(runs)
    with whole_folder(output, _is_report) as folder:
        pictures = Pictures(folder)
        text = _text(collection, pictures, confidence_level)
        (folder / FILE_NAME).write_text(text, encoding="utf-8", newline="\n")
    return {
        "report": str(output / FILE_NAME),
        "pictures": pictures.names,
        "n_systems": len(collection.systems),
        "n_runs": sum(len(system.runs) for system in collection.systems),
        "benchmarks": [benchmark.name for benchmark in collection.benchmarks],
        "unfinished": list(collection.unfinished),
    }


def _check_output(output: Path) -> None:
    if output.exists() and not _is_report(output):
        raise OutputError(
            f"{output} exists and is no report, or holds files of others; name another folder, or "
            "move it away."
        )


def _is_report(folder: Path) -> bool:
    """Whether a folder is empty, or holds a report and nothing else."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    if not names:
        return True
    if FILE_NAME not in names:
        return False
    text = (folder / FILE_NAME).read_text(encoding="utf-8", errors="replace")
    return text.startswith(_MARK) and names <= {FILE_NAME, *_EMBEDDED.findall(text)}


def _text(collection: Collection, pictures: Pictures, confidence_level: float | None) -> str:
    blocks = {
        f"{benchmark.name}: {benchmark.dataset['rows']:,} rows": tell_benchmark(
            benchmark, pictures, confidence_level
        )
        for benchmark in collection.benchmarks
    }
    blocks |= {
        "Trained on one, tested on another": tell_transfers(collection, pictures),
        "The hypothesis alone": tell_views(collection),
        "Few shots": tell_shots(collection, pictures),
        "Parts of the training rows": tell_subsets(collection),
        "Training": tell_training(collection, pictures),
        "What it took": [show_table(cost_table(collection.systems))],
        "What can be compared with the papers": tell_comparability(collection),
        "How it was made": tell_provenance(collection),
    }
    parts = [_MARK, "# Baselines", _introduction(collection)]
    for title, found in blocks.items():
        parts += [f"## {title}", *found] if found else []
    return "\n\n".join(parts) + "\n"


def _introduction(collection: Collection) -> str:
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
