"""Tables of scores, with the papers' results under each system."""

from collections.abc import Mapping, Sequence

from ...builders.core.registry import builders, get_builder
from ...metrics.rows import Rows
from .names import data_name
from .published import PaperRow, find_published, merge_published
from .scores import MeanScore, place_of, score_title
from .systems import Benchmark, ReportedSystem


def score_blocks(benchmark: Benchmark) -> dict[str, list[str]]:
    """Choose the scores to show for a test set, by the title of their table; the first has none."""
    metrics, names = benchmark.example.metrics, list(benchmark.example.scores)
    if (dataset := benchmark.dataset["name"]) in builders():
        spec = get_builder(dataset).SPEC
        order = {part: place for place, part in enumerate((*spec.categories, *spec.domains))}
        names.sort(key=lambda name: order.get(name.rpartition(" ")[2], -1))

    def of(*kinds: str) -> list[str]:
        return [name for kind in kinds for name in names if name.partition(" ")[0] == kind]

    if benchmark.metric == "pattern_accuracy":
        plain = [name for name in of("pattern_accuracy") if name.count(" ") == 1]
        by_category = [name for name in names if name.startswith("accuracy ")]
        by_category += [name for name in names if name.startswith("pattern_accuracy 0.95 ")]
        blocks = {"": ["accuracy", *plain], "By category": by_category}
    elif benchmark.metric == "consistency":
        categories = metrics["consistency"].get("recall_by_category", {})
        recalls = [name for name in of("recall") if name.partition(" ")[2] in categories]
        blocks = {
            "": ["macro_f1", "f1_positive", "f1_negative", "accuracy"],
            "Groups of which at least that share is right": of("consistency"),
            "Recall by category": [*recalls, *of("macro_recall")],
        }
    else:
        blocks = {"": ["macro_f1", "accuracy", *of("f1")]}
    by_domain = [name for name in of("macro_f1") if name != "macro_f1"]
    blocks["Macro-F1 by domain"] = by_domain if len(by_domain) > 1 else []
    if any("unanswered" in benchmark.means(system) for system in benchmark.systems):
        blocks[""].append("unanswered")
    return {title: scores for title, scores in blocks.items() if scores}


def score_table(benchmark: Benchmark, names: Sequence[str]) -> Rows:
    """Tabulate scores of the systems on a test set, with the papers' results under each system.

    A column a score has percentages: the mean over the runs and its standard deviation (over
    n - 1), the best mean of the runs in bold.
    """
    best = best_means([benchmark.means(system) for system in benchmark.systems], names)
    rows: Rows = [["system", "runs", *map(score_title, names)]]
    for system in benchmark.ranked:
        rows += system_rows(benchmark, system, names, best)
    return rows


def best_means(means: Sequence[Mapping[str, MeanScore]], names: Sequence[str]) -> dict[str, float]:
    """Return the best mean of each score that has at least two different means."""
    by_name = {name: [found[name].mean for found in means if name in found] for name in names}
    by_name.pop("unanswered", None)
    return {name: max(values) for name, values in by_name.items() if len(set(values)) > 1}


def mean_cell(means: Mapping[str, MeanScore], name: str, best: Mapping[str, float]) -> str:
    """Write a mean as a percentage, bold if it is the best; empty if there is none."""
    if name not in means:
        return ""
    shown = means[name].show()
    return f"**{shown}**" if means[name].mean == best.get(name) else shown


def system_rows(
    benchmark: Benchmark, system: ReportedSystem, names: Sequence[str], best: Mapping[str, float]
) -> Rows:
    """Return a row of a system's name, number of runs and scores; then a row a paper's result."""
    means = benchmark.means(system)
    cells = [mean_cell(means, name, best) for name in names]
    rows: Rows = [[system.name, len(benchmark.evaluations(system)), *cells]]
    for row in paper_rows(benchmark, system)[0]:
        if not row.scores.keys().isdisjoint(names):
            rows.append([row.title, row.n_runs, *map(row.cell, names)])
    return rows


def paper_rows(benchmark: Benchmark, system: ReportedSystem) -> tuple[list[PaperRow], str | None]:
    """Return the papers' results of a system on a test set, or why there are none."""
    scores, test = benchmark.means(system), data_name(benchmark.dataset)
    found, reason = find_published(system.config, benchmark.dataset, scores)
    return merge_published(found, {place_of(test, score): score for score in scores}), reason
