"""The section of a report on one test set: scores, differences and pictures."""

from collections.abc import Sequence

from ...loaders.errors import NLIHubError
from ...metrics import plots
from ...metrics.rows import Rows
from ..evaluation.gold import Gold
from ..runs.data import read_rows
from .differences import BOOTSTRAP, MCNEMAR, T_TEST, difference_table, interval_table
from .pictures import N_SYSTEMS, Pictures, with_legend_above
from .scores import score_blocks, score_table, score_title, show_table
from .systems import Benchmark, System


def show_benchmark(benchmark: Benchmark, pictures: Pictures, level: float | None) -> list[str]:
    """Report the scores of systems on a test set, with tests and pictures.

    Args:
        benchmark: The test set, with its systems.
        pictures: Receives the pictures.
        level: Confidence level of intervals, above 0 and below 1; None leaves them out.

    Returns:
        Blocks of Markdown.
    """
    blocks = []
    for title, names in score_blocks(benchmark).items():
        blocks += [f"### {title}"] * bool(title)
        blocks.append(show_table(score_table(benchmark, names)))
    gold, reason = _find_gold(benchmark)
    if gold is not None and level is not None:
        blocks += [
            f"### Intervals on {benchmark.name}",
            show_table(interval_table(benchmark, gold, level)),
            "By bootstrap, of the run in the middle of each system.",
        ]
    if len(benchmark.systems) > 1:
        rows = difference_table(benchmark, gold, level)
        if rows is not None:
            words = _explain_tests(benchmark, rows)
            blocks += [f"### Differences on {benchmark.name}", show_table(rows), words]
        if reason is not None:
            blocks.append(f"No tests on the rows of {benchmark.name}: {reason}")
    return [*blocks, *_pictures(benchmark, pictures), _signatures(benchmark)]


def _find_gold(benchmark: Benchmark) -> tuple[Gold | None, str | None]:
    """Return the rows of a test set, or why they are not available, in words."""
    tests = {e.test for s in benchmark.systems for e in benchmark.evaluations(s).values()}
    reason = "they are not at hand."
    for test in sorted(tests):
        try:
            gold = read_rows(test, "test")
        except (NLIHubError, OSError):
            continue
        if gold.description["digest"] == benchmark.dataset["digest"]:
            return gold, None
        reason = "those at hand have another digest."
    return None, reason


def _explain_tests(benchmark: Benchmark, rows: Rows) -> str:
    words = []
    if T_TEST in rows[0]:
        words.append("Paired t-test over the seeds that both systems have.")
    if BOOTSTRAP in rows[0]:
        words.append(
            "On the rows, of each system the run that is in the middle by "
            f"{score_title(benchmark.compared[0])} (of two, the lower one): a bootstrap"
            + ", and McNemar's exact test" * (MCNEMAR in rows[0])
            + "; rows of one group are drawn together" * (benchmark.metric != "nli_report")
            + "."
        )
    n_pairs = len(benchmark.systems) * (len(benchmark.systems) - 1) // 2
    if n_pairs > 1:
        words.append(
            f"In brackets, Holm's correction for as many of the {n_pairs} pairs as have the test."
        )
    if len({(first, second) for first, second, *_ in rows[1:]}) < n_pairs:
        words.append("Pairs with the best system are shown.")
    return " ".join(words)


def _pictures(benchmark: Benchmark, pictures: Pictures) -> list[str]:
    metric, name = benchmark.metric, benchmark.name
    if metric == "nli_report":
        return []
    best = benchmark.ranked[:N_SYSTEMS]
    results = {system.name: benchmark.middle_run(system).metrics for system in best}
    found = {system: metrics[metric] for system, metrics in results.items()}
    whose = _whose(benchmark, best)
    if metric == "consistency":
        alt = f"Share of groups by the share of their rows that is right, on {name}{whose}"
        figure = with_legend_above(plots.plot_consistency(found))
        return [pictures.add(f"consistency {name}", alt, figure)]
    alt = f"Pattern accuracy by consistency threshold on {name}{whose}"
    figure = with_legend_above(plots.plot_pattern_accuracy(found, start=0.5))
    blocks = [pictures.add(f"pattern accuracy {name}", alt, figure)]
    if all("by_category" in result for result in found.values()):
        alt = f"Accuracy and pattern accuracy at 0.95 by category on {name}{whose}"
        figure = with_legend_above(plots.plot_categories(found, threshold=0.95))
        blocks.append(pictures.add(f"categories {name}", alt, figure))
    # With shots there is a system for each number of them, and the curve shows more.
    for shown in (system.name for system in best if system.config.n_shots is None):
        if "cartography" in results[shown]:
            alt = f"Confidence and variability of {shown} by pattern of {name}"
            figure = plots.plot_cartography(results[shown]["cartography"], title=shown)
            blocks.append(pictures.add(f"cartography {name} {shown}", alt, figure))
    return blocks


def _whose(benchmark: Benchmark, best: Sequence[System]) -> str:
    n_best, n_all = len(best), len(benchmark.systems)
    words = "" if n_best == n_all else f", the best {n_best} of {n_all} systems"
    if any(len(system.runs) > 1 for system in best):
        score = score_title(benchmark.compared[0])
        words += f"; of each system the run that is in the middle by {score}"
    return words


def _signatures(benchmark: Benchmark) -> str:
    runs = [e for s in benchmark.systems for e in benchmark.evaluations(s).values()]
    results = (result for evaluation in runs for result in evaluation.metrics.values())
    found = {str(result["signature"]) for result in results if "signature" in result}
    return "\n".join(["```text", *sorted(found), "```"])
