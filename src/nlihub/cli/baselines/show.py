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
    """Presets with their commands, models and sources, a line each under a heading."""
    rows = [("preset", "command", "model", "source")]
    for name, preset in found.items():
        model = preset["config"]["model"] or preset["config"]["method"]
        rows.append((name, preset["command"], model, preset["source"]))
    widths = [max(len(row[column]) for row in rows) for column in range(3)] + [0]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
