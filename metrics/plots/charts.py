"""Pictures of scores: curves over a threshold, bars by the value of a column, points by system.

``save_figure`` writes a picture.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..inputs import MetricInputError
from ..rows import as_list
from .figures import (
    COLORS,
    HATCHES,
    LINES,
    MARKERS,
    check_results,
    lighten,
    new_figure,
    with_legend_above,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What no system can exceed.
_BOUND_COLOR = "#888888"

#: Categories of BioNLI in the order of its Table 5; others come first, sorted.
_BIONLI = ("positive", "SEN", "SEP", "SRE", "SREO", "VNeg", "SN", "LPR", "GEN-ND", "GEN")

#: Maximum number of values that bars can show side by side.
N_VALUES = 40

#: Inches of a page with margins, turned on its side.
_PAGE = 9.0

_INTERVAL: dict[str, Any] = {"ecolor": "#222222", "elinewidth": 1, "capsize": 2}

#: What a score of ``plot_breakdown`` is called on the axis.
_SCORES = {"accuracy": "Accuracy", "macro_f1": "Macro-F1"}


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
    check_results(results, "thresholds")
    tables = _tables_of(results, "category")
    places = {}
    for name, result in results.items():
        thresholds = as_list(result["thresholds"])
        wanted = threshold or (thresholds[0] if len(thresholds) == 1 else 0.95)
        if wanted not in thresholds:
            message = f"{name}: has the thresholds {thresholds}; expected {wanted:g}."
            raise MetricInputError([message])
        places[name] = thresholds.index(wanted)
    solved = {
        name: {c: as_list(scores["pattern_accuracy"])[places[name]] for c, scores in table.items()}
        for name, table in tables.items()
    }
    return _plot_bars(
        solved,
        "categories",
        f"light: accuracy, dark: PA$_{{{wanted:g}}}$ (%)",
        behind=_score_of(tables, "accuracy"),
    )


def _score_of(
    tables: Mapping[str, Mapping[Any, Mapping[str, Any]]], score: str
) -> dict[str, dict[Any, float]]:
    return {
        name: {value: scores[score] for value, scores in table.items()}
        for name, table in tables.items()
    }


def plot_recall(results: Mapping[str, Mapping[str, Any]]) -> "Figure":
    """Draw the recall of each category as bars: of the positives and of each perturbation.

    Args:
        results: Results of ``consistency`` with categories, by name of the system; 1 to 7.

    Raises:
        MetricInputError: There are no results or more than 7, or a result has no categories.
        MissingLibraryError: matplotlib is not installed.

    Source: BioNLI, Table 5.
    """
    step = "Score rows that have a category."
    check_results(results, "recall_by_category", next_step=step)
    tables = {name: result["recall_by_category"] for name, result in results.items()}
    found = list(dict.fromkeys(category for table in tables.values() for category in table))
    order = [c for c in found if c not in _BIONLI] + [c for c in _BIONLI if c in found]
    # Recall of few samples says little, so their number is shown where systems agree on it.
    notes = []
    for category in order:
        numbers = {t[category]["n_samples"] for t in tables.values() if category in t}
        notes.append(f"n={min(numbers):,}" if len(numbers) == 1 else "")
    recalls = _score_of(tables, "recall")
    return _plot_bars(recalls, "categories", "Recall (%)", values=order, notes=notes)


def plot_breakdown(
    results: Mapping[str, Mapping[str, Any]], *, by: str | None = None, score: str = "accuracy"
) -> "Figure":
    """Draw a score by the value of a column as bars, with confidence intervals where there are any.

    Args:
        results: Results by name of the system, 1 to 7, with the breakdowns ``by``: scores by name
            of the column and by value.
        by: Name of the breakdown; None takes the only one.
        score: ``accuracy`` or ``macro_f1``.

    Raises:
        MetricInputError: There are no results or more than 7; a result has no such breakdown, or
            several and none is named; there is no such score, or there are more than 40 values.
        MissingLibraryError: matplotlib is not installed.

    Source: SciNLI, Figure 1 (accuracy by the approach that neutral pairs were drawn with).
    """
    check_results(results)
    if score not in _SCORES:
        raise MetricInputError([f"score: {score!r}; expected {' or '.join(_SCORES)}."])
    by = by or _only_breakdown(results)
    chosen = _tables_of(results, by)
    problems = [
        f"{name}: the breakdown by {by} has no {score}; its scores are {', '.join(scores)}."
        for name, table in chosen.items()
        for scores in list(table.values())[:1]
        if score not in scores
    ]
    if problems:
        raise MetricInputError(problems)
    ends = {
        name: {
            value: scores.get("confidence_intervals", {}).get(score)
            for value, scores in table.items()
        }
        for name, table in chosen.items()
    }
    return _plot_bars(
        _score_of(chosen, score),
        f"values of {by}",
        f"{_SCORES[score]} (%)",
        x_label=by.replace("_", " "),
        ends=ends,
    )


def _tables_of(
    results: Mapping[str, Mapping[str, Any]], by: str
) -> dict[str, Mapping[Any, Mapping[str, Any]]]:
    """Return the breakdown by a column of each result."""
    problems = [
        f"{name}: no breakdown by {by}; the result has {', '.join(result.get('by', [])) or 'none'}."
        f" Score its predictions with --by {by}."
        for name, result in results.items()
        if by not in result.get("by", {})
    ]
    if problems:
        raise MetricInputError(problems)
    return {name: result["by"][by] for name, result in results.items()}


def _only_breakdown(results: Mapping[str, Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(by for result in results.values() for by in result.get("by", ())))
    if not names:
        step = "Score the predictions with --by COLUMN."
        raise MetricInputError([f"{', '.join(results)}: the results have no breakdown. {step}"])
    if len(names) > 1:
        raise MetricInputError([f"There are breakdowns by {', '.join(names)}; choose one."])
    return names[0]


def plot_possible_perturbations(
    shares: Mapping[int, float], *, published: Mapping[int, float] | None = None
) -> "Figure":
    """Draw the share of mechanisms by the number of perturbations that are possible.

    Args:
        shares: Share of the mechanisms, from 0 to 1, by number of kinds of perturbation.
        published: The same in the paper, as far as it says, beside ours; None leaves it out.

    Raises:
        MetricInputError: There are no shares, or one is not from 0 to 1.
        MissingLibraryError: matplotlib is not installed.

    Source: BioNLI, section 3.4 and Figure 1.
    """
    series = {"this build": shares} | ({"paper": published} if published else {})
    problems = [
        f"{name}: the share of {n} is {share}; expected 0 to 1."
        for name, each in series.items()
        for n, share in each.items()
        if not 0 <= share <= 1
    ]
    if not shares:
        problems.append("shares: empty; expected a share for each number of perturbations.")
    if problems:
        raise MetricInputError(problems)
    known = {n for each in series.values() for n in each}
    return _plot_bars(
        series,
        "numbers",
        "Mechanisms (%)",
        values=range(min(known), max(known) + 1),
        x_label="Kinds of perturbation that are possible",
        shows_heights=True,
    )


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
    names = list(dict.fromkeys(_name_of(one) for one in scores))
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
            at = np.array([names.index(_name_of(one)) for one in own])
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


def _name_of(one: Mapping[str, Any]) -> str:
    return str(one["score"] if one["part"] is None else one["part"])


def _plot_bars(
    series: Mapping[str, Mapping[Any, float]],
    what: str,
    y_label: str,
    *,
    values: Sequence[Any] = (),
    notes: Sequence[str] = (),
    x_label: str = "",
    behind: Mapping[str, Mapping[Any, float]] | None = None,
    ends: Mapping[str, Mapping[Any, Sequence[float] | None]] | None = None,
    shows_heights: bool = False,
) -> "Figure":
    """Draw the bars of systems side by side over each value.

    Args:
        series: Height of a bar by system and value, from 0 to 1; some values may have no bar.
        what: What the values are, in the plural.
        y_label: What the heights are.
        values: All values, in the order of the axis; none takes their order in the series.
        notes: A text under each value.
        x_label: What the values are, on the axis.
        behind: Heights of lighter bars behind these.
        ends: Ends of an interval by system and value; None for no interval.
        shows_heights: Whether to write the heights, in percent, above the bars.

    Raises:
        MetricInputError: There are more values than bars can show.
    """
    values = values or list(dict.fromkeys(value for each in series.values() for value in each))
    if len(values) > N_VALUES:
        message = f"{len(values)} {what}; bars show at most {N_VALUES}. Choose a column with fewer."
        raise MetricInputError([message])
    names = [
        textwrap.fill(str(value).replace("_", " "), 14, break_long_words=False) for value in values
    ]
    lines = [line for name in names for line in name.splitlines()] + list(notes)
    of_name = 0.075 * max([len(line) for line in lines] + [5] * shows_heights) + 0.1
    # Names side by side would make a picture wider than a page.
    is_upright = len(values) * of_name > _PAGE
    if is_upright:
        names, of_name = [name.replace("\n", " ") for name in names], 0.2
    if notes:
        names = [f"{name}\n{note}".rstrip() for name, note in zip(names, notes, strict=True)]
    of_bars = 0.13 * len(series) + 0.1
    bar = 0.8 / len(series)
    with new_figure(max(5.5, 0.9 + len(values) * max(of_name, of_bars))) as (figure, axes):
        for place, (name, heights) in enumerate(series.items()):
            present = [i for i, value in enumerate(values) if value in heights]
            x = [i + (place - (len(series) - 1) / 2) * bar for i in present]
            style: dict[str, Any] = {"width": 0.9 * bar, "edgecolor": "white"}
            if behind is not None:
                y = [100 * behind[name][values[i]] for i in present]
                axes.bar(x, y, color=lighten(COLORS[place]), **style)
            style |= {"color": COLORS[place], "hatch": HATCHES[place], "label": str(name)}
            y = [100 * heights[values[i]] for i in present]
            bars = axes.bar(x, y, **style)
            if shows_heights:
                axes.bar_label(bars, fmt="%.1f", fontsize=7, padding=1)
            for i, middle, height in zip(present, x, y, strict=True):
                if ends and (interval := ends[name][values[i]]):
                    _draw_interval(axes, middle, height, *interval)
        axes.set_xticks(range(len(values)), names, rotation=90 if is_upright else 0)
        axes.grid(axis="x", visible=False)
        axes.set(xlabel=x_label, ylabel=y_label)
        if shows_heights:
            axes.margins(y=0.1)
        else:
            axes.set_ylim(0, 100)
        return with_legend_above(figure)


def _draw_interval(axes: "Axes", x: float, height: float, low: float, high: float) -> None:
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.2, foreground="white")]  # visible on black bars too
    error = [[max(0.0, height - 100 * low)], [max(0.0, 100 * high - height)]]  # but for rounding
    axes.errorbar([x], [height], error, fmt="none", path_effects=halo, **_INTERVAL)
