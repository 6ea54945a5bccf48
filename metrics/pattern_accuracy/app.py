"""The app of pattern accuracy."""

from nlihub.metrics.app.fields import grouped_arguments
from nlihub.metrics.app.page import build_page
from nlihub.metrics.app.spec import AppSpec
from nlihub.metrics.pattern_accuracy.report import breakdowns, scores
from nlihub.metrics.pattern_accuracy.scoring import pattern_accuracy
from nlihub.metrics.plots.curves import plot_pattern_accuracy


def _example() -> str:
    """Three patterns of 20 samples: solved wholly, almost, and half."""
    rows = ["prediction,reference,group,category"]
    for pattern, gold, n_right, category in (
        ("9", "entailment", 20, "argument_orientation"),
        ("10", "contradiction", 19, "directional"),
        ("102f", "neutral", 10, "projective"),
    ):
        wrong = "neutral" if gold != "neutral" else "entailment"
        rows += [f"{gold if i < n_right else wrong},{gold},{pattern},{category}" for i in range(20)]
    return "\n".join(rows) + "\n"


APP = AppSpec(
    name="pattern_accuracy",
    title="Pattern accuracy",
    description=(
        "Of how many inference patterns does a system solve at least a share *t* of the samples? "
        "The metric of SpaceNLI (Abzianidze, Zwarts and Winter, 2023): it shows inconsistency "
        "that plain accuracy hides."
    ),
    columns=(
        "Columns: `prediction`, `reference` (the gold label) and `group` (the pattern); if there "
        "are any, also `category` and `other_prediction`, those of a second system."
    ),
    options={
        "thresholds": ("Consistency thresholds", "0.5, 0.67, 0.9, 0.95, 1.0"),
        "labels": ("Label set in the order of the ids (empty: as they occur)", ""),
        "confidence_level": ("Confidence level of intervals (empty: none)", "0.95"),
    },
    example=_example(),
    score=lambda table, options: pattern_accuracy(**grouped_arguments(table, options)),
    scores=scores,
    breakdowns=breakdowns,
    draw=lambda result: plot_pattern_accuracy({"predictions": result}),
)

if __name__ == "__main__":
    build_page(APP).launch()
