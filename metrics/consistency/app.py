"""The app of consistency."""

from nlihub.metrics.app.fields import grouped_arguments
from nlihub.metrics.app.page import build_page
from nlihub.metrics.app.spec import AppSpec
from nlihub.metrics.consistency.report import breakdowns, scores
from nlihub.metrics.consistency.scoring import consistency
from nlihub.metrics.plots.curves import plot_consistency


def _example() -> str:
    """Three groups of a positive and three perturbations, of which 4, 3 and 2 are right."""
    rows = ["prediction,reference,group,category"]
    for group, n_right in (("m1", 4), ("m2", 3), ("m3", 2)):
        for i, category in enumerate(("positive", "SEN", "SREO", "LPR")):
            gold = "entailment" if category == "positive" else "not_entailment"
            predicted = gold if i < n_right else "entailment"
            rows.append(f"{predicted},{gold},{group},{category}")
    return "\n".join(rows) + "\n"


APP = AppSpec(
    name="consistency",
    title="Consistency",
    description=(
        "Of how many groups, a positive and its adversarial negatives, does a system classify at "
        "least a given share correctly? The measure of BioNLI (Bastan, Surdeanu and "
        "Balasubramanian, 2022), with recall by perturbation and label-free agreement."
    ),
    columns=(
        "Columns: `prediction`, `reference` (the gold label) and `group` (the mechanism); if there "
        "are any, also `category` (`positive` or the perturbation) and `other_prediction`, those "
        "of a second system."
    ),
    options={
        "thresholds": ("Shares of a group that have to be right", "0.5, 0.7, 0.9, 1.0"),
        "labels": ("Negative label, positive label", "not_entailment, entailment"),
        "confidence_level": ("Confidence level of intervals (empty: none)", "0.95"),
    },
    example=_example(),
    score=lambda table, options: consistency(**grouped_arguments(table, options)),
    scores=scores,
    breakdowns=breakdowns,
    draw=lambda result: plot_consistency({"predictions": result}),
)

if __name__ == "__main__":
    build_page(APP).launch()
