"""The app of cartography."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from nlihub.metrics.app.fields import read_level, read_numbers
from nlihub.metrics.app.page import build_page
from nlihub.metrics.app.spec import AppSpec
from nlihub.metrics.cartography.report import breakdowns, scores
from nlihub.metrics.cartography.scoring import cartography
from nlihub.metrics.inputs.files import probability_matrix, select_columns
from nlihub.metrics.plots.cartography import plot_cartography


def _score(table: pa.Table, options: Mapping[str, str]) -> dict[str, Any]:
    probabilities, labels = probability_matrix(table)
    return cartography(
        probabilities,
        **select_columns(table, ("references", "groups")),
        labels=labels,
        fraction=read_numbers(options["fraction"], "fraction")[0],
        confidence_level=read_level(options["confidence_level"]),
    )


def _example() -> str:
    """Easy, hard and ambiguous patterns of four samples."""
    rows = ["reference,group,probability_entailment,probability_neutral"]
    for group, probabilities in (
        ("9", (0.97, 0.99, 0.95, 0.98)),
        ("58", (0.04, 0.1, 0.02, 0.07)),
        ("102f", (0.92, 0.1, 0.85, 0.06)),
        ("99", (0.8, 0.9, 0.7, 0.85)),
        ("12", (0.3, 0.2, 0.4, 0.25)),
        ("77", (0.6, 0.2, 0.7, 0.3)),
    ):
        rows += [f"entailment,{group},{p},{1 - p:.2f}" for p in probabilities]
    return "\n".join(rows) + "\n"


APP = AppSpec(
    name="cartography",
    title="Cartography",
    description=(
        "How sure of the gold label is a system, and how much does that vary, over the samples of "
        "a pattern (SpaceNLI) or the epochs of training (MSciNLI)? After Swayamdipta et al. (2020)."
    ),
    columns=(
        "Columns: `reference` (the gold label), `group` (the pattern, or the training example) and "
        "for every label its probability, such as `probability_entailment`."
    ),
    options={
        "fraction": ("Share of the groups in each subset", "0.33"),
        "confidence_level": ("Confidence level of intervals (empty: none)", "0.95"),
    },
    example=_example(),
    score=_score,
    scores=scores,
    breakdowns=breakdowns,
    draw=plot_cartography,
)

if __name__ == "__main__":
    build_page(APP).launch()
