"""Tables of scores, with the papers' results under each system."""

import statistics
from collections.abc import Mapping, Sequence

from ...builders.core.markdown import markdown_table
from ...builders.core.registry import builders, get_builder
from ...metrics.rows import Rows
from .names import data_name
from .published import PaperRow, find_published, merge_published, place_of
from .systems import Benchmark, Mean, ReportedSystem

_TITLES = {
    "macro_f1": "macro-F1",
    "f1": "F1",
    "f1_positive": "F1 positive",
    "f1_negative": "F1 negative",
    "pattern_accuracy": "PA",
}


def score_title(name: str) -> str:
    """Return the title of a score as the head of a column."""
    kind, _, part = name.partition(" ")
    if kind == "recall" or (kind == "macro_f1" and part):
        return part
    if kind == "macro_recall":
        return f"mean, {part.replace('_', '-')}"
    return f"{_TITLES.get(kind, kind)} {part.replace('_', ' ')}".strip()


def score_blocks(benchmark: Benchmark) -> dict[str, list[str]]:
    """Choose the scores to show for a test set, by the title of their table; the first has none."""
    names = _as_declared(list(benchmark.example.scores), benchmark.dataset["name"])

    def of(*kinds: str) -> list[str]:
        return [name for kind in kinds for name in names if name.partition(" ")[0] == kind]

    if benchmark.metric == "pattern_accuracy":
        plain = [name for name in of("pattern_accuracy") if name.count(" ") == 1]
        by_category = [name for name in names if name.startswith("accuracy ")]
        by_category += [name for name in names if name.startswith("pattern_accuracy 0.95 ")]
        blocks = {"": ["accuracy", *plain], "By category": by_category}
    elif benchmark.metric == "consistency":
        blocks = {
            "": ["macro_f1", "f1_positive", "f1_negative", "accuracy"],
            "Groups of which at least that share is right": of("consistency"),
            "Recall by category": of("recall", "macro_recall"),
        }
    else:
        blocks = {"": ["macro_f1", "accuracy", *of("f1")]}
    by_domain = [name for name in of("macro_f1") if name != "macro_f1"]
    blocks["Macro-F1 by domain"] = by_domain if len(by_domain) > 1 else []
    return {title: scores for title, scores in blocks.items() if scores}


def _as_declared(names: list[str], dataset: str) -> list[str]:
    """Sort names of scores: categories and domains in the order of their declaration."""
    if dataset not in builders():
        return names
    spec = get_builder(dataset).SPEC
    order = {part: place for place, part in enumerate((*spec.categories, *spec.domains))}
    return sorted(names, key=lambda name: order.get(name.rpartition(" ")[2], -1))


def score_table(benchmark: Benchmark, names: Sequence[str]) -> Rows:
    """Tabulate scores of the systems on a test set, with the papers' results under each system.

    A column a score has percentages: the mean over the runs and its standard deviation (over
    n - 1), the best mean of the runs in bold.
    """
    best = best_means([benchmark.means(system) for system in benchmark.systems], names)
    unanswered = {s.name: _unanswered(benchmark, s) for s in benchmark.systems}
    is_shown = "accuracy" in names and any(unanswered.values())
    rows: Rows = [["system", "runs", *map(score_title, names)] + ["unanswered"] * is_shown]
    for system in benchmark.ranked:
        own, *papers = system_rows(benchmark, system, names, best)
        rows.append(own + [unanswered[system.name]] * is_shown)
        rows += [row + [""] * is_shown for row in papers]
    return rows


def _unanswered(benchmark: Benchmark, system: ReportedSystem) -> str:
    """Return the percentage of rows that a prompted model did not answer; else empty."""
    if system.config.method != "prompt":
        return ""
    found = [evaluation.n_unanswered for evaluation in benchmark.evaluations(system).values()]
    return show_percent(statistics.fmean(found) / benchmark.dataset["rows"])


def best_means(means: Sequence[Mapping[str, Mean]], names: Sequence[str]) -> dict[str, float]:
    """Return the best mean of each score that has at least two different means."""
    by_name = {name: [found[name][0] for found in means if name in found] for name in names}
    return {name: max(values) for name, values in by_name.items() if len(set(values)) > 1}


def system_rows(
    benchmark: Benchmark, system: ReportedSystem, names: Sequence[str], best: Mapping[str, float]
) -> Rows:
    """Return a row of a system's name, number of runs and scores; then a row a paper's result."""
    means = benchmark.means(system)
    own = [mean_cell(means, name, best) for name in names]
    rows: Rows = [[system.name, len(benchmark.evaluations(system)), *own]]
    for row in paper_rows(benchmark, system)[0]:
        if any(name in row.scores for name in names):
            cells = [paper_cell(row, name) for name in names]
            rows.append([f"*{row.system} ({row.source})*", row.n_runs or "", *cells])
    return rows


def mean_cell(means: Mapping[str, Mean], name: str, best: Mapping[str, float]) -> str:
    """Write a mean as a percentage, bold if it is the best; empty if there is none."""
    if name not in means:
        return ""
    shown = show_percent(*means[name])
    return f"**{shown}**" if means[name][0] == best.get(name) else shown


def paper_rows(benchmark: Benchmark, system: ReportedSystem) -> tuple[list[PaperRow], str | None]:
    """Return the papers' results of a system on a test set, or why there are none."""
    scores, test = benchmark.means(system), data_name(benchmark.dataset)
    found, reason = find_published(system.config, benchmark.dataset, scores)
    return merge_published(found, {place_of(test, score): score for score in scores}), reason


def paper_cell(row: PaperRow, name: str) -> str:
    """Write a paper's score as a percentage with the paper's decimals; empty if it has none."""
    if name not in row.scores:
        return ""
    score = row.scores[name]
    return "> " * score.is_lower_bound + show_percent(score.mean, score.std, row.decimals)


def show_percent(mean: float, std: float | None = None, decimals: int = 2) -> str:
    """Write a share, from 0 to 1, as a percentage.

    Example:
        >>> show_percent(0.7806, 0.0039)
        '78.06 ± 0.39'
    """
    shown = f"{100 * mean:.{decimals}f}"
    return shown if std is None else f"{shown} ± {100 * std:.{decimals}f}"


def show_difference(difference: float) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    return f"{100 * difference:+.2f}"


def show_table(rows: Rows) -> str:
    """Write a table of a report in Markdown, numbers to the right."""
    return markdown_table(rows[0], rows[1:], aligns_numbers=True)
