"""The app of the NLI report."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from nlihub.metrics.app.fields import read_labels, read_level
from nlihub.metrics.app.page import build_page
from nlihub.metrics.app.spec import AppSpec
from nlihub.metrics.inputs.files import select_columns
from nlihub.metrics.nli_report.report import breakdowns, scores
from nlihub.metrics.nli_report.scoring import nli_report


def _score(table: pa.Table, options: Mapping[str, str]) -> dict[str, Any]:
    return nli_report(
        **select_columns(
            table, ("predictions", "references"), ("domains", "groups", "other_predictions")
        ),
        labels=read_labels(options["labels"]),
        confidence_level=read_level(options["confidence_level"]),
    )


def _example() -> str:
    """Two domains of 20 samples, one predicted better than the other."""
    labels = ("contrasting", "reasoning", "entailment", "neutral")
    rows = ["prediction,reference,domain"]
    for domain, step in (("networks", 5), ("neurips", 3)):
        for i in range(20):
            gold = labels[i % 4]
            rows.append(f"{labels[(i + 1) % 4] if i % step == 0 else gold},{gold},{domain}")
    return "\n".join(rows) + "\n"


APP = AppSpec(
    name="nli_report",
    title="NLI report",
    description=(
        "F1 of every class, macro-F1 and accuracy over a fixed label set, in which an absent class "
        "counts 0; also by domain. What SciNLI and MSciNLI report (Sadat and Caragea, 2022 and "
        "2024)."
    ),
    columns=(
        "Columns: `prediction` and `reference` (the gold label); if there are any, also `domain`, "
        "`group` (samples that depend on each other, drawn together by the bootstrap) and "
        "`other_prediction`, those of a second system."
    ),
    options={
        "labels": (
            "Label set in the order of the ids",
            "contrasting, reasoning, entailment, neutral",
        ),
        "confidence_level": ("Confidence level of intervals (empty: none)", "0.95"),
    },
    example=_example(),
    score=_score,
    scores=scores,
    breakdowns=breakdowns,
    draw=None,
)

if __name__ == "__main__":
    build_page(APP).launch()
