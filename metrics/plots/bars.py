"""Pictures of scores as bars: by category, by the value of any column, by possible perturbations.

``save_figure`` writes a picture.
"""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..inputs.problems import MetricInputError
from .figures import COLORS, HATCHES, check_results, lighten, new_figure, with_legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Categories of BioNLI in the order of its Table 5; others come first, sorted.
_BIONLI = ("positive", "SEN", "SEP", "SRE", "SREO", "VNeg", "SN", "LPR", "GEN-ND", "GEN")

#: Maximum number of values that bars can show side by side.
N_VALUES = 40

#: Inches of a page with margins, turned on its side.
_PAGE = 9.0

_INTERVAL: dict[str, Any] = {"ecolor": "#222222", "elinewidth": 1, "capsize": 2}

#: What a score of ``plot_breakdown`` is called on the axis.
_SCORES = {"accuracy": "Accuracy", "macro_f1": "Macro-F1"}


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
    tables = {name: result["by_category"] for name, result in results.items()}
    categories = _values(tables, "categories")
    with new_figure(width=_width(categories, len(results))) as (figure, axes):
        for place, (name, result) in enumerate(results.items()):
            index, shown = _choose(name, result["thresholds"], threshold)
            scores = tables[name]
            light = {c: 100 * each["accuracy"] for c, each in scores.items()}
            dark = {c: _value(each["pattern_accuracy"], index) for c, each in scores.items()}
            where = (categories, place, len(results))
            _draw_bars(axes, light, *where, color=lighten(COLORS[place]))
            _draw_bars(axes, dark, *where, **_style(place, name))
        _name_values(axes, categories)
        axes.set(ylabel=f"light: accuracy, dark: PA$_{{{shown:g}}}$ (%)", ylim=(0, 100))
        return with_legend_above(figure)


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
    found = _values(tables, "categories")
    known = [category for category in _BIONLI if category in found]
    categories = [category for category in found if category not in _BIONLI] + known
    numbers = {
        category: {table[category]["n_samples"] for table in tables.values() if category in table}
        for category in categories
    }
    # Recall of few samples says little, so their number is shown where systems agree on it.
    notes = [f"n={min(numbers[c]):,}" if len(numbers[c]) == 1 else "" for c in categories]
    with new_figure(width=_width(categories, len(results), notes)) as (figure, axes):
        for place, (name, table) in enumerate(tables.items()):
            heights = {category: 100 * scores["recall"] for category, scores in table.items()}
            style: dict[str, Any] = {
                "color": COLORS[place],
                "hatch": HATCHES[place],
                "label": str(name),
            }
            _draw_bars(axes, heights, categories, place, len(results), **style)
        _name_values(axes, categories, notes)
        axes.set(ylabel="Recall (%)", ylim=(0, 100))
        return with_legend_above(figure)


def plot_breakdown(
    results: Mapping[str, Mapping[str, Any]], *, by: str | None = None, score: str = "accuracy"
) -> "Figure":
    """Draw a score by the value of a column as bars, with confidence intervals where there are any.

    Args:
        results: Results by name of the system, 1 to 7, with the breakdowns ``by``: scores by name
            of the column and by value; or with ``by_domain``.
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
    tables = {name: _breakdowns(result).get(by) for name, result in results.items()}
    problems = [
        f"{name}: no breakdown by {by}; the result has {_listed(results[name])}. Score its "
        f"predictions with --by {by}."
        for name, table in tables.items()
        if table is None
    ]
    chosen = {name: table for name, table in tables.items() if table is not None}
    problems += [
        f"{name}: the breakdown by {by} has no {score}; its scores are {', '.join(scores)}."
        for name, table in chosen.items()
        for scores in list(table.values())[:1]
        if score not in scores
    ]
    if problems:
        raise MetricInputError(problems)
    values = _values(chosen, f"values of {by}")
    with new_figure(width=_width(values, len(results))) as (figure, axes):
        for place, (name, table) in enumerate(chosen.items()):
            heights = {value: 100 * scores[score] for value, scores in table.items()}
            ends = {
                value: interval
                for value, scores in table.items()
                if (interval := scores.get("confidence_intervals", {}).get(score))
            }
            style: dict[str, Any] = {
                "color": COLORS[place],
                "hatch": HATCHES[place],
                "label": str(name),
            }
            _draw_bars(axes, heights, values, place, len(results), ends=ends, **style)
        _name_values(axes, values)
        axes.set(xlabel=by.replace("_", " "), ylabel=f"{_SCORES[score]} (%)", ylim=(0, 100))
        return with_legend_above(figure)


def _breakdowns(result: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    domains = {"domain": result["by_domain"]} if "by_domain" in result else {}
    return domains | dict(result.get("by", {}))


def _listed(result: Mapping[str, Any]) -> str:
    return ", ".join(f"by {name}" for name in _breakdowns(result)) or "none"


def _only_breakdown(results: Mapping[str, Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(by for result in results.values() for by in _breakdowns(result)))
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
    numbers = list(range(min(known), max(known) + 1))
    with new_figure(width=_width(numbers, len(series), ["100.0"])) as (figure, axes):
        for place, (name, each) in enumerate(series.items()):
            heights = {n: 100 * share for n, share in each.items()}
            style = _style(place, name)
            bars = _draw_bars(axes, heights, numbers, place, len(series), **style)
            axes.bar_label(bars, fmt="%.1f", fontsize=7, padding=1)
        _name_values(axes, numbers)
        axes.set(xlabel="Kinds of perturbation that are possible", ylabel="Mechanisms (%)")
        axes.margins(y=0.1)
        return with_legend_above(figure) if published else figure


def _values(tables: Mapping[str, Mapping[Any, Any]], what: str) -> list[Any]:
    """Return the values of all systems in the order in which they come.

    Raises:
        MetricInputError: There are more than bars can show.
    """
    values = list(dict.fromkeys(value for table in tables.values() for value in table))
    if len(values) > N_VALUES:
        raise MetricInputError(
            [f"{len(values)} {what}; bars show at most {N_VALUES}. Choose a column with fewer."]
        )
    return values


def _wrapped(value: Any) -> str:
    return textwrap.fill(str(value).replace("_", " "), 14, break_long_words=False)


def _width(values: Sequence[Any], n_systems: int, notes: Sequence[str] = ()) -> float:
    """Return the inches that bars of all systems, and the names under them, take."""
    of_bars = 0.13 * n_systems + 0.1
    of_names = 0.2 if _stand_upright(values, notes) else _name_width(values, notes)
    return max(5.5, 0.9 + len(values) * max(of_names, of_bars))


def _name_width(values: Sequence[Any], notes: Sequence[str]) -> float:
    lines = [line for value in values for line in _wrapped(value).splitlines()]
    return 0.075 * max(map(len, [*lines, *notes]), default=0) + 0.1


def _stand_upright(values: Sequence[Any], notes: Sequence[str]) -> bool:
    """Return whether names side by side would make a picture wider than a page."""
    return len(values) * _name_width(values, notes) > _PAGE


def _style(place: int, name: str) -> dict[str, Any]:
    return {"color": COLORS[place], "hatch": HATCHES[place], "label": str(name)}


def _draw_bars(
    axes: "Axes",
    heights: Mapping[Any, float],
    values: Sequence[Any],
    place: int,
    n_systems: int,
    *,
    ends: Mapping[Any, Sequence[float]] | None = None,
    **style: Any,
) -> Any:
    """Draw the bars of one of several systems, side by side over each value.

    Args:
        axes: The axes to draw on.
        heights: Height in percent by value; others have no bar.
        values: All values, in the order of the axis.
        place: Position of the system among all, from 0.
        n_systems: Number of systems.
        ends: Ends of an interval by value, from 0 to 1.
        **style: Colour, hatch and label.
    """
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.2, foreground="white")]  # visible on black bars too
    width, shift = 0.8 / n_systems, place - (n_systems - 1) / 2
    present = [i for i, value in enumerate(values) if value in heights]
    x = [i + shift * width for i in present]
    y = [heights[values[i]] for i in present]
    bars = axes.bar(x, y, width=0.9 * width, edgecolor="white", **style)
    for i, middle, height in zip(present, x, y, strict=True):
        if ends and values[i] in ends:
            low, high = (100 * end for end in ends[values[i]])
            error = [[max(0.0, height - low)], [max(0.0, high - height)]]  # but for rounding
            axes.errorbar([middle], [height], error, fmt="none", path_effects=halo, **_INTERVAL)
    return bars


def _name_values(axes: "Axes", values: Sequence[Any], notes: Sequence[str] = ()) -> None:
    upright = _stand_upright(values, notes)
    names = [_wrapped(value) for value in values]
    if upright:
        names = [name.replace("\n", " ") for name in names]
    if notes:
        names = [f"{name}\n{note}".rstrip() for name, note in zip(names, notes, strict=True)]
    axes.set_xticks(range(len(values)), names, rotation=90 if upright else 0)
    axes.grid(axis="x", visible=False)
