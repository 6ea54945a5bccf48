"""Pictures of metric results: curves over the threshold, bars by category, the map of groups.

``save_figure`` writes a picture.
"""

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..inputs.problems import MetricInputError
from .figures import COLORS, HATCHES, LINES, MARKERS, check_results, lighten, new_figure

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
            highest = max([highest, *(b for a, b in zip(x, y, strict=True) if a > 100 * start)])
        axes.set(xlabel=x_label, ylabel=y_label, xlim=(100 * start, 100.5))
        axes.set_ylim(0, min(102, 1.05 * highest))
        axes.legend(title=title, loc="best")
    return figure


def plot_categories(
    results: Mapping[str, Mapping[str, Any]], *, threshold: float | None = None
) -> "Figure":
    """Draw bars by category: accuracy in a light shade, pattern accuracy in a dark one.

    Args:
        results: Results of ``pattern_accuracy`` with categories, by name of the system; 1 to 7.
        threshold: Consistency threshold to show, from 0 to 1, one of those in the results; None
            takes the only one, or 0.95 if there are several.

    Raises:
        MetricInputError: There are no results or more than 7, or a result has no categories or
            not that threshold.
        MissingLibraryError: matplotlib is not installed.

    Source: SpaceNLI, Figure 5.
    """
    check_results(results, "by_category", "thresholds")
    categories = list(dict.fromkeys(c for r in results.values() for c in r["by_category"]))
    width = 0.8 / len(results)
    with new_figure(width=max(5.5, 1.2 * len(categories) + 1)) as (figure, axes):
        for place, (name, result) in enumerate(results.items()):
            index, shown = _choose(name, result["thresholds"], threshold)
            scores = result["by_category"]
            present = [i for i, category in enumerate(categories) if category in scores]
            x = [i + (place - (len(results) - 1) / 2) * width for i in present]
            bars: dict[str, Any] = {"width": 0.9 * width, "edgecolor": "white"}
            light = [100 * scores[categories[i]]["accuracy"] for i in present]
            axes.bar(x, light, color=lighten(COLORS[place]), **bars)
            dark = [_value(scores[categories[i]]["pattern_accuracy"], index) for i in present]
            axes.bar(x, dark, color=COLORS[place], hatch=HATCHES[place], label=name, **bars)
        axes.set_xticks(range(len(categories)))
        axes.set_xticklabels([textwrap.fill(str(c).replace("_", " "), 14) for c in categories])
        axes.set(ylabel=f"light: accuracy, dark: PA$_{{{shown:g}}}$ (%)", ylim=(0, 100))
        axes.grid(axis="x", visible=False)
        figure.legend(loc="outside upper center", ncols=min(4, len(results)))
    return figure


def _choose(name: str, thresholds: Any, threshold: float | None) -> tuple[int | None, float]:
    """Return the position of a threshold in a result, None if it has only one; and the threshold.

    Raises:
        MetricInputError: The result does not have the threshold.
    """
    if not isinstance(thresholds, list):
        thresholds, is_list = [thresholds], False
    else:
        is_list = True
    wanted = threshold if threshold is not None else thresholds[0] if len(thresholds) == 1 else 0.95
    if wanted not in thresholds:
        raise MetricInputError([f"{name}: has the thresholds {thresholds}; expected {wanted:g}."])
    return (thresholds.index(wanted) if is_list else None), wanted


def _value(scores: Any, index: int | None) -> float:
    return 100 * float(scores if index is None else scores[index])


def plot_cartography(
    result: Mapping[str, Any], *, n_named: int = 8, title: str | None = None
) -> "Figure":
    """Draw the groups by confidence and variability of the gold label's probability.

    Args:
        result: The result of ``cartography``.
        n_named: How many of the most variable and of the least confident groups to name, from 0;
            names that would overlap are left out.
        title: Title of the picture, such as the name of the system; None leaves it out.

    Raises:
        MetricInputError: The result has no groups.
        MissingLibraryError: matplotlib is not installed.

    Source: SpaceNLI, Figure 4.
    """
    check_results({"result": result}, "groups")
    groups = result["groups"]
    confidence, variability = np.array(groups["confidence"]), np.array(groups["variability"])
    references = np.array(groups.get("reference", ["group"] * len(confidence)), dtype=object)
    labels = [label for label in result.get("labels", ["group"]) if label in references]
    colors = dict(zip(labels, COLORS, strict=False))
    with new_figure(height=4.2) as (figure, axes):
        for label, marker in zip(labels, MARKERS, strict=False):
            chosen = references == label
            axes.scatter(
                variability[chosen],
                confidence[chosen],
                s=22,
                color=colors[label],
                marker=marker,
                alpha=0.75,
                linewidths=0,
                label=f"{label} ({int(chosen.sum())})",
            )
        right = max(0.25, 1.12 * float(variability.max()))
        extreme = [*np.argsort(-variability)[:n_named], *np.argsort(confidence)[:n_named]]
        for i in _far_apart(variability / right, confidence, extreme):
            axes.annotate(
                str(groups["group"][i]),
                (variability[i], confidence[i]),
                xytext=(3, 3),
                textcoords="offset points",
                fontsize=6.5,
                color=colors[references[i]],
            )
        axes.set(
            xlabel="Variability (standard deviation of the gold label's probability)",
            ylabel="Confidence (its mean)",
            xlim=(-0.01, right),
            ylim=(-0.02, 1.02),
        )
        if title is not None:
            axes.set_title(title)
        if "reference" in groups:
            axes.legend(title="Gold label (groups)", loc="best")
    return figure


def _far_apart(x: np.ndarray, y: np.ndarray, candidates: list[int]) -> list[int]:
    """Return the candidates whose names do not overlap the name of an earlier one."""
    chosen: list[int] = []
    for i in candidates:
        if all(abs(x[i] - x[j]) > 0.06 or abs(y[i] - y[j]) > 0.03 for j in chosen):
            chosen.append(i)
    return chosen
