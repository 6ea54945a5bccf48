"""A map of groups by confidence and variability."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .figures import COLORS, MARKERS, check_results, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_cartography(
    result: Mapping[str, Any], *, n_named: int = 8, title: str | None = None
) -> "Figure":
    """Draw the groups by confidence and variability of the gold label's probability.

    Args:
        result: The result of ``cartography``.
        n_named: How many of the most variable and of the least confident groups to name, from 0;
            names that would overlap are left out.
        title: Title of the picture, such as the name of the system; None leaves it out.

    Returns:
        The picture; ``save_figure`` writes it.

    Raises:
        MetricInputError: The result has no groups.
        MissingExtraError: matplotlib is not installed.

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
