"""Accuracy and pattern accuracy by category."""

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..inputs.problems import MetricInputError
from .figures import COLORS, HATCHES, check_results, lighten, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_categories(
    results: Mapping[str, Mapping[str, Any]], *, threshold: float | None = None
) -> "Figure":
    """Bars by category: accuracy in a light shade, and in a dark one pattern accuracy.

    Args:
        results: What ``pattern_accuracy`` returned for categories, by the name of the system;
            1 to 7.
        threshold: Which consistency threshold to show, where the results have several; None
            takes the only one, or 0.95.

    Returns:
        The picture; ``save_figure`` writes it.

    Raises:
        MetricInputError: A result has no categories, or not that threshold.

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
    """Where a threshold stands among those of a result: its position, None for the only one."""
    if not isinstance(thresholds, list):
        thresholds, is_list = [thresholds], False
    else:
        is_list = True
    wanted = threshold if threshold is not None else thresholds[0] if len(thresholds) == 1 else 0.95
    if wanted not in thresholds:
        raise MetricInputError([f"{name}: has the thresholds {thresholds}, and not {wanted:g}."])
    return (thresholds.index(wanted) if is_list else None), wanted


def _value(scores: Any, index: int | None) -> float:
    return 100 * float(scores if index is None else scores[index])
