"""Pictures of metric results as curves over a threshold.

``save_figure`` writes a picture.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .figures import COLORS, LINES, check_results, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_pattern_accuracy(
    results: Mapping[str, Mapping[str, Any]], *, start: float = 0.0
) -> "Figure":
    """Draw the pattern accuracy of systems as curves over the consistency threshold.

    Args:
        results: Results of ``pattern_accuracy`` by name of the system; 1 to 7.
        start: Smallest threshold shown, from 0 to below 1; the paper starts at 0.5.

    Raises:
        MetricInputError: There are no results or more than 7, or a result has no curve.
        MissingLibraryError: matplotlib is not installed.

    Source: SpaceNLI, Figures 2 and 6.
    """
    check_results(results, "curve", "accuracy")
    return _plot_curves(
        {f"{name} ({100 * r['accuracy']:.1f})": r["curve"] for name, r in results.items()},
        "pattern_accuracy",
        start,
        x_label="Consistency threshold: samples of a pattern solved (%)",
        y_label="Pattern accuracy (%)",
        title="System (accuracy, %)",
    )


def plot_consistency(results: Mapping[str, Mapping[str, Any]], *, start: float = 0.0) -> "Figure":
    """Draw the consistency of systems as curves over the share of a group that is right.

    Args:
        results: Results of ``consistency`` by name of the system; 1 to 7.
        start: Smallest share shown, from 0 to below 1.

    Raises:
        MetricInputError: There are no results or more than 7, or a result has no curve.
        MissingLibraryError: matplotlib is not installed.

    Source: BioNLI, Figure 2.
    """
    check_results(results, "curve", "n_wholly_solved", "n_groups")
    solved = {name: 100 * r["n_wholly_solved"] / r["n_groups"] for name, r in results.items()}
    return _plot_curves(
        {f"{name} ({solved[name]:.1f})": r["curve"] for name, r in results.items()},
        "consistency",
        start,
        x_label="Positive and perturbations classified correctly, at least (%)",
        y_label="Groups (%)",
        title="System (wholly solved, %)",
    )


def _plot_curves(
    curves: Mapping[str, Mapping[str, list[float]]],
    score: str,
    start: float,
    *,
    x_label: str,
    y_label: str,
    title: str,
) -> "Figure":
    highest = 1.0
    with new_figure() as (figure, axes):
        for (name, curve), color, line in zip(curves.items(), COLORS, LINES, strict=False):
            x = [100 * threshold for threshold in curve["thresholds"]]
            y = [100 * share for share in curve[score]]
            # Between two thresholds the share is that of the upper one.
            axes.step(x, y, where="pre", color=color, linestyle=line, lw=1.6, label=name)
            highest = max([highest, *(b for a, b in zip(x, y, strict=True) if a > 100 * start)])
        axes.set(xlabel=x_label, ylabel=y_label, xlim=(100 * start, 100.5))
        axes.set_ylim(0, min(102, 1.05 * highest))
        axes.legend(title=title, loc="best")
    return figure
