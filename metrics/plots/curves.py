"""Curves of the share of groups that are solved, by consistency threshold."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .figures import COLORS, LINES, check_results, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_pattern_accuracy(
    results: Mapping[str, Mapping[str, Any]], *, start: float = 0.0
) -> "Figure":
    """Pattern accuracy curves of several systems in one picture.

    Args:
        results: What ``pattern_accuracy`` returned, by the name of the system; 1 to 7.
        start: Consistency threshold at which the picture begins, from 0 to below 1; the paper
            begins at 0.5.

    Returns:
        The picture; ``save_figure`` writes it.

    Raises:
        MetricInputError: A result has no curve.

    Source: SpaceNLI, Figures 2 and 6.
    """
    check_results(results, "curve", "accuracy")
    return _plot_curves(
        {
            f"{name} ({100 * r['accuracy']:.1f})": _steps(r["curve"], "pattern_accuracy")
            for name, r in results.items()
        },
        start,
        x_label="Consistency threshold: samples of a pattern solved (%)",
        y_label="Pattern accuracy (%)",
        title="System (accuracy, %)",
    )


def plot_consistency(results: Mapping[str, Mapping[str, Any]], *, start: float = 0.0) -> "Figure":
    """Share of groups of which at least x % is classified correctly, of several systems.

    Args:
        results: What ``consistency`` returned, by the name of the system; 1 to 7.
        start: Share at which the picture begins, from 0 to below 1.

    Returns:
        The picture; ``save_figure`` writes it.

    Raises:
        MetricInputError: A result has no curve.

    Source: BioNLI, Figure 2.
    """
    check_results(results, "curve", "n_wholly_solved", "n_groups")
    return _plot_curves(
        {
            f"{name} ({100 * r['n_wholly_solved'] / r['n_groups']:.1f})": _steps(
                r["curve"], "consistency"
            )
            for name, r in results.items()
        },
        start,
        x_label="Positive and perturbations classified correctly, at least (%)",
        y_label="Groups (%)",
        title="System (wholly solved, %)",
    )


def _steps(curve: Mapping[str, Any], name: str) -> tuple[list[float], list[float]]:
    return [100 * t for t in curve["thresholds"]], [100 * share for share in curve[name]]


def _plot_curves(
    curves: Mapping[str, tuple[list[float], list[float]]],
    start: float,
    *,
    x_label: str,
    y_label: str,
    title: str,
) -> "Figure":
    with new_figure() as (figure, axes):
        for (name, (thresholds, shares)), color, line in zip(
            curves.items(), COLORS, LINES, strict=False
        ):
            # Between two thresholds the share is that of the upper one.
            axes.step(
                thresholds, shares, where="pre", color=color, linestyle=line, lw=1.6, label=name
            )
        axes.set(xlabel=x_label, ylabel=y_label, xlim=(100 * start, 100.5))
        shown = [
            share
            for thresholds, shares in curves.values()
            for t, share in zip(thresholds, shares, strict=True)
            if t > 100 * start
        ]
        axes.set_ylim(0, min(102, 1.05 * max([*shown, 1.0])))
        axes.legend(title=title, loc="best")
    return figure
