"""Answers as text."""

from collections.abc import Mapping, Sequence
from typing import Any


def runs_as_text(found: Sequence[Mapping[str, Any]]) -> str:
    """The scores of runs, a row for each test."""
    from ...metrics.rows import show_rows_as_text

    rows: list[list[Any]] = [["run", "test", "macro_f1", "accuracy", "PA 0.95"]]
    for run in found:
        for key, evaluation in run["evaluations"].items():
            metrics = evaluation["metrics"]
            report, patterns = metrics["nli_report"], metrics.get("pattern_accuracy")
            solved = "-"
            if patterns:
                solved = dict(
                    zip(patterns["thresholds"], patterns["pattern_accuracy"], strict=True)
                )[0.95]
            rows.append([run["run"], key, report["macro_f1"], report["accuracy"], solved])
    if all(row[-1] == "-" for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    return show_rows_as_text(rows)


def presets_as_text(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Presets with their models and sources, a line each."""
    rows = [
        (name, preset["config"]["model"] or preset["config"]["method"], preset["source"])
        for name, preset in found.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = (f"{n:<{widths[0]}}  {model:<{widths[1]}}  {source}" for n, model, source in rows)
    return "\n".join(lines)
