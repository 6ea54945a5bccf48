"""Pictures of metric results as curves over a threshold.

``save_figure`` writes a picture.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..inputs.problems import MetricInputError
from .figures import COLORS, LINES, check_results, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What no system can exceed.
_BOUND_COLOR = "#888888"


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


def plot_consistency(
    results: Mapping[str, Mapping[str, Any]], *, start: float = 0.0, larger_side: bool = False
) -> "Figure":
    """Draw the consistency of systems as curves over the share of a group that is right.

    Args:
        results: Results of ``consistency`` by name of the system; 1 to 7.
        start: Smallest share shown, from 0 to below 1.
        larger_side: Whether to draw ``larger_side``, which BioNLI's figure is about, beside that of
            a perfect system; the systems must have the same groups.

    Raises:
        MetricInputError: There are no results or more than 7, a result has no curve, or a perfect
            system has other curves.
        MissingLibraryError: matplotlib is not installed.

    Source: BioNLI, Figure 2, which cumulates from below: the groups with at most that share.
    """
    if larger_side:
        return _plot_larger_side(results, start)
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


def _plot_larger_side(results: Mapping[str, Mapping[str, Any]], start: float) -> "Figure":
    check_results(results, "larger_side")
    found = {name: result["larger_side"] for name, result in results.items()}
    first, *others = found
    perfect = found[first]["perfect"]
    if different := [name for name in others if found[name]["perfect"] != perfect]:
        raise MetricInputError(
            [
                f"{different[0]}: a perfect system reaches another curve than in {first}; expected "
                "results on the same groups."
            ]
        )
    bound, *names = (
        f"{name} ({100 * scores['area_under_curve']:.1f})"
        for name, scores in [("a perfect system", perfect), *found.items()]
    )
    curves = [result["curve"] for result in found.values()]
    return _plot_curves(
        {bound: perfect["curve"], **dict(zip(names, curves, strict=True))},
        "consistency",
        start,
        x_label="Share of a group that is right and of one label, at least (%)",
        y_label="Groups (%)",
        title="System (mean, %)",
        bound=bound,
    )


def _plot_curves(
    curves: Mapping[str, Mapping[str, list[float]]],
    score: str,
    start: float,
    *,
    x_label: str,
    y_label: str,
    title: str,
    bound: str | None = None,
) -> "Figure":
    """Draw curves by name; ``bound`` names one that is not a system's, which is grey."""
    systems = [name for name in curves if name != bound]
    styles = dict(zip(systems, zip(COLORS, LINES, strict=True), strict=False))
    highest = 1.0
    with new_figure() as (figure, axes):
        for name, curve in curves.items():
            color, line = styles.get(name, (_BOUND_COLOR, "-"))
            x = [100 * threshold for threshold in curve["thresholds"]]
            y = [100 * share for share in curve[score]]
            # Between two thresholds the share is that of the upper one.
            axes.step(x, y, where="pre", color=color, linestyle=line, lw=1.6, label=name)
            highest = max([highest, *(b for a, b in zip(x, y, strict=True) if a >= 100 * start)])
        axes.set(xlabel=x_label, ylabel=y_label, xlim=(100 * start, 100.5))
        axes.set_ylim(0, min(102, 1.05 * highest))
        axes.legend(title=title, loc="best")
    return figure
