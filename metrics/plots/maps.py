"""Pictures of groups: their map by confidence and variability, and the heat map over systems.

``save_figure`` writes a picture.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..inputs import MetricInputError
from .figures import COLORS, MARKERS, check_results, new_figure, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What the points of a map may be coloured by.
MAP_COLORS = ("label", "correctness")

#: Inches of a row of the heat map at most and at least, of all rows, and of a row's name.
_ROW, _THIN_ROW, _ROWS, _NAME = 0.22, 0.045, 7.2, 0.1


def plot_cartography(
    result: Mapping[str, Any],
    *,
    color: str = "label",
    n_named: int = 5,
    title: str | None = None,
) -> "Figure":
    """Draw the groups by confidence and variability of the gold label's probability.

    Args:
        result: The result of ``cartography``.
        color: ``label`` colours groups by their gold label, ``correctness`` by the share of rows in
            which the gold label is the most probable one. Markers are those of the gold label.
        n_named: How many of the most variable and of the least confident groups to name, from 0.
        title: Title of the picture, such as the name of the system; None leaves it out.

    Raises:
        MetricInputError: The result has no groups, or no correctness where that is the color; or
            there is no such color.
        MissingLibraryError: matplotlib is not installed.

    Source: SpaceNLI, Figure 4 (gold label); Swayamdipta et al., EMNLP 2020, Figure 1 (correctness).
    """
    check_results({"result": result}, "groups")
    if color not in MAP_COLORS:
        raise MetricInputError([f"color: {color!r}; expected {' or '.join(MAP_COLORS)}."])
    groups = result["groups"]
    if color == "correctness" and "correctness" not in groups:
        raise MetricInputError(
            [
                "The result has no correctness of the groups, which takes the probabilities of "
                "every label. Score predictions with a column probability_LABEL for each."
            ]
        )
    confidence, variability = np.array(groups["confidence"]), np.array(groups["variability"])
    references = np.array(groups.get("reference", ["group"] * len(confidence)), dtype=object)
    labels = [label for label in result.get("labels", ["group"]) if label in references]
    colors = dict(zip(labels, COLORS, strict=False))
    right = max(0.25, 1.12 * float(variability.max()))
    with new_figure(height=4.2) as (figure, axes):
        for label, marker in zip(labels, MARKERS, strict=False):
            chosen = references == label
            style: dict[str, Any] = {"color": colors[label], "alpha": 0.75, "linewidths": 0}
            if color == "correctness":
                # An outline keeps the lightest points visible on white.
                style = {"c": 100 * np.array(groups["correctness"])[chosen], "cmap": shades()}
                style |= {"vmin": 0, "vmax": 100, "edgecolors": "#555555", "linewidths": 0.5}
            drawn = axes.scatter(
                variability[chosen],
                confidence[chosen],
                s=22,
                marker=marker,
                label=f"{label} ({int(chosen.sum())})",
                **style,
            )
        axes.set(
            xlabel="Variability (standard deviation of the gold label's probability)",
            ylabel="Confidence (its mean)",
            xlim=(-0.01, right),
            ylim=(-0.02, 1.02),
        )
        if title is not None:
            axes.set_title(title)
        if color == "correctness":
            _add_scale(figure, axes, drawn, "Correctness (% of samples)")
        if "reference" in groups:
            legend = axes.legend(title="Gold label (groups)", loc="best")
            for handle in legend.legend_handles if color == "correctness" else ():
                if handle is not None:
                    handle.set(facecolor="white", edgecolor="#555555", array=None)
        named = [*np.argsort(-variability)[:n_named], *np.argsort(confidence)[:n_named]]
        for i in dict.fromkeys(named):
            axes.annotate(
                str(groups["group"][i]),
                (variability[i], confidence[i]),
                xytext=(3, 2),
                textcoords="offset points",
                fontsize=6.5,
                color=colors[references[i]] if color == "label" else "black",
            )
    return figure


def _add_scale(figure: "Figure", axes: "Axes", drawn: Any, label: str, **options: Any) -> None:
    scale = figure.colorbar(drawn, ax=axes, label=label, pad=0.02, **options)
    scale.outline.set_visible(False)


def plot_patterns(results: Mapping[str, Mapping[str, Any]]) -> "Figure":
    """Draw a heat map of the accuracy of every pattern, a row, by system, a column.

    Rows go by category, then from the highest to the lowest mean accuracy over the systems. Where
    rows are too thin for all names, every second or third is named.

    Args:
        results: Results of ``pattern_accuracy`` with ``per_group``, by name of the system, over the
            same patterns; 1 or more.

    Raises:
        MetricInputError: There are no results, a result has no groups, or systems have different
            ones.
        MissingLibraryError: matplotlib is not installed.

    Source: SpaceNLI, section 5, which looks at patterns one by one.
    """
    step = "Score the predictions with --per-group."
    check_results(results, "groups", n_most=None, next_step=step)
    tables = {name: result["groups"] for name, result in results.items()}
    first = next(iter(tables.values()))
    categories = first.get("category", [""] * len(first["group"]))
    rows = dict(zip(first["group"], categories, strict=True))
    different = [
        f"{name}: has other patterns than {next(iter(tables))}; expected results on the same rows."
        for name, table in tables.items()
        if set(table["group"]) != set(rows)
    ]
    if different:
        raise MetricInputError(different)
    accuracy = {
        name: dict(zip(table["group"], table["accuracy"], strict=True))
        for name, table in tables.items()
    }
    means = {group: sum(found[group] for found in accuracy.values()) for group in rows}
    order = sorted(rows, key=lambda group: (rows[group], -means[group]))
    values = np.array([[100 * found[group] for found in accuracy.values()] for group in order])
    return _draw_patterns(values, order, [rows[group] for group in order], list(results))


def _draw_patterns(
    values: np.ndarray, groups: list[Any], categories: list[str], systems: list[str]
) -> "Figure":
    """Draw the heat map.

    Args:
        values: Accuracy in percent, ``(groups, systems)``.
        groups: Ids of the groups, in the order of the rows.
        categories: Category of each group, equal ones together.
        systems: Names of the systems.
    """
    row = min(_ROW, max(_THIN_ROW, _ROWS / len(groups)))
    height = row * len(groups) + 0.075 * max(map(len, systems)) + 0.45
    with new_figure(3.0 + 0.4 * len(systems), height) as (figure, axes):
        edges = np.arange(len(groups) + 1) - 0.5, np.arange(len(systems) + 1) - 0.5
        # A mesh stays sharp in SVG and PDF, where an image would be blurred.
        drawn = axes.pcolormesh(edges[1], edges[0], values, cmap=shades(), vmin=0, vmax=100)
        drawn.set(edgecolor="face", linewidth=0.2)
        named = range(0, len(groups), math.ceil(_NAME / row))
        for category in dict.fromkeys(categories):
            start, size = categories.index(category), categories.count(category)
            axes.annotate(
                f"{category.replace('_', ' ')}\n({size})" if category else "",
                (0, start + (size - 1) / 2),
                xycoords=("axes fraction", "data"),
                xytext=(-5, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize=8,
            )
            if start:
                axes.axhline(start - 0.5, color="white", lw=2.5)
                axes.axhline(start - 0.5, color="black", lw=0.8)
        axes.set_yticks(named, [str(groups[i]) for i in named], fontsize=6)
        axes.yaxis.tick_right()
        axes.set_xticks(range(len(systems)), systems, fontsize=8, rotation=90)
        axes.xaxis.tick_top()
        axes.set_ylim(len(groups) - 0.5, -0.5)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, pad=2)
        scale = {"location": "bottom", "aspect": 30, "shrink": 0.9}
        _add_scale(figure, axes, drawn, "Samples classified correctly (%)", **scale)
    return figure
