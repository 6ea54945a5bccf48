"""A picture of the scores of several systems, with their intervals."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..inputs.problems import MetricInputError
from .figures import COLORS, MARKERS, new_figure, with_legend_above

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_systems(scores: Sequence[Mapping[str, Any]]) -> "Figure":
    """Draw scores of up to seven systems as points with their confidence intervals.

    Args:
        scores: Records with ``score``, ``system``, ``mean``, ``low`` and ``high`` (from 0 to 1, or
            None), and ``part``, the part of the rows that they are of, or None for all.

    Raises:
        MetricInputError: There are no scores, or more than seven systems.
        MissingLibraryError: matplotlib is not installed.
    """
    systems = list(dict.fromkeys(str(one["system"]) for one in scores))
    if not 0 < len(systems) <= len(COLORS):
        raise MetricInputError([f"{len(systems)} systems; expected 1 to {len(COLORS)}."])
    names = list(dict.fromkeys(_name(one) for one in scores))
    height = 0.6 + len(names) * (0.16 * len(systems) + 0.2)
    with new_figure(width=6.3, height=height) as (figure, axes):
        for place, system in enumerate(systems):
            own = [one for one in scores if one["system"] == system]
            values = np.array([100 * one["mean"] for one in own])
            ends = np.array(
                [
                    [100 * (one[end] if one[end] is not None else one["mean"]) for one in own]
                    for end in ("low", "high")
                ]
            )
            at = np.array([names.index(_name(one)) for one in own])
            axes.errorbar(
                values,
                at + (place - (len(systems) - 1) / 2) * 0.7 / len(systems),
                xerr=np.abs(ends - values),
                fmt=MARKERS[place],
                color=COLORS[place],
                markersize=4,
                elinewidth=1,
                capsize=2,
                label=system,
            )
        axes.set(
            yticks=range(len(names)), yticklabels=names, xlabel="%", ylim=(len(names) - 0.5, -0.5)
        )
        axes.grid(axis="y", visible=False)
        return with_legend_above(figure)


def _name(one: Mapping[str, Any]) -> str:
    return str(one["score"] if one["part"] is None else one["part"])
