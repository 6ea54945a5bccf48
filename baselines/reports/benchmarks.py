"""The section of a report on one test set: scores, differences and pictures."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from ...loaders.errors import NLIHubError
from ...metrics import plots
from ...metrics.inference import correct_by_holm, paired_t_test
from ...metrics.plots.figures import with_legend_above
from ...metrics.rows import Rows, show_p_value
from ..evaluation.gold import GoldRows
from ..evaluation.predictions import check_predictions, join_predictions
from ..evaluation.scoring import ScoringOptions, score_predictions
from ..runs.data import read_run_rows
from .pictures import N_SYSTEMS, Pictures
from .scores import score_title, show_difference, show_table
from .systems import Benchmark, Evaluation, ReportedSystem, read_run_columns
from .tables import score_blocks, score_table

#: Number of pairs of six systems; of more pairs only those with the best system are shown.
_MAX_PAIRS = 15

#: Thresholds of the scores that systems are compared by.
_THRESHOLDS = {"pattern_accuracy": 0.95, "consistency": 1.0}

_T_TEST = "t-test: p (Holm)"
_EXCHANGE = "exchange test: p (Holm)"


def show_benchmark(benchmark: Benchmark, pictures: Pictures) -> list[str]:
    """Report the scores of systems on a test set in blocks of Markdown, with tests and pictures.

    Args:
        benchmark: The test set, with its systems.
        pictures: Receives the pictures.

    Raises:
        PredictionsError: Predictions cannot be read, or do not match the rows.
    """
    blocks = []
    for title, names in score_blocks(benchmark).items():
        blocks += [f"### {title}"] * bool(title)
        blocks.append(show_table(score_table(benchmark, names)))
    gold, reason = _find_gold(benchmark)
    if len(benchmark.systems) > 1:
        rows = difference_table(benchmark, gold)
        if rows is not None:
            words = _explain_tests(benchmark, rows)
            blocks += [f"### Differences on {benchmark.name}", show_table(rows), words]
        if reason is not None:
            blocks.append(f"No tests on the rows of {benchmark.name}: {reason}")
    return [*blocks, *_pictures(benchmark, pictures), _signatures(benchmark)]


def _find_gold(benchmark: Benchmark) -> tuple[GoldRows | None, str | None]:
    """Return the rows of a test set, or why they are not available, in words."""
    tests = {e.test for s in benchmark.systems for e in benchmark.evaluations(s).values()}
    reason = "they are not at hand."
    for test in sorted(tests):
        try:
            gold = read_run_rows(test, "test")
        except (NLIHubError, OSError):
            continue
        if gold.description["digest"] == benchmark.dataset["digest"]:
            return gold, None
        reason = "those at hand have another digest."
    return None, reason


def difference_table(benchmark: Benchmark, gold: GoldRows | None) -> Rows | None:
    """Test the differences between systems on a test set, pair by pair.

    The paired t-test is over the seeds that both systems have. The tests on rows compare the median
    runs by the first score (see ``Benchmark.middle_run``), since the rows of several seeds are not
    independent: an exchange test over the rows, or over the patterns or mechanisms that rows
    belong to. Holm's method corrects all p-values for all pairs.

    Args:
        benchmark: The test set, with its systems.
        gold: The rows of the test set; None leaves the tests on rows out.

    Returns:
        A row for each pair and score; of more than 15 pairs only those with the best system. None
        if nothing can be tested.

    Raises:
        PredictionsError: Predictions cannot be read, or do not match the rows.

    Source: SciNLI, Table 6, and MSciNLI, Table 4: paired t-test over the seeds.
    """
    pairs = list(itertools.combinations(benchmark.ranked, 2))
    on_rows = _test_rows(benchmark, pairs, gold) if gold is not None else [{}] * len(pairs)
    tests = [
        {"system": first.name, "against": second.name, "score": score_title(score)}
        | _test_seeds(benchmark, first, second, score)
        | found.get(score, {})
        for (first, second), found in zip(pairs, on_rows, strict=True)
        for score in benchmark.compared
    ]
    n_scores = len(benchmark.compared)
    for number, name in itertools.product(range(n_scores), (_T_TEST, _EXCHANGE)):
        _correct(tests[number::n_scores], name)
    order = ("difference of means", "seeds", _T_TEST, "difference on rows", _EXCHANGE)
    columns = [name for name in order if any(name in test for test in tests)]
    n_shown = len(pairs) if len(pairs) <= _MAX_PAIRS else len(benchmark.systems) - 1
    shown = ["system", "against", "score", *columns]
    rows = [[test.get(name, "") for name in shown] for test in tests[: n_shown * n_scores]]
    return [shown, *rows] if columns else None


def _test_seeds(
    benchmark: Benchmark, first: ReportedSystem, second: ReportedSystem, score: str
) -> dict[str, Any]:
    """Return the paired t-test as cells, with the uncorrected p-value."""
    ours, theirs = benchmark.evaluations(first), benchmark.evaluations(second)
    seeds = [seed for seed in ours if seed in theirs]
    if len(seeds) < 2:
        return {}
    found = paired_t_test(*([run[seed].scores[score] for seed in seeds] for run in (ours, theirs)))
    difference = show_difference(found["difference"])
    return {"difference of means": difference, "seeds": len(seeds), _T_TEST: found["p_value"]}


def _test_rows(
    benchmark: Benchmark,
    pairs: Iterable[tuple[ReportedSystem, ReportedSystem]],
    gold: GoldRows,
) -> Iterator[dict[str, dict[str, Any]]]:
    """Yield for each pair the tests on rows by score, as cells with uncorrected p-values."""
    metric = benchmark.metric
    options = ScoringOptions(_THRESHOLDS.get(metric))
    predictions = {
        s.name: _aligned_predictions(benchmark.middle_run(s), gold) for s in benchmark.systems
    }
    for pair in pairs:
        both = [predictions[system.name] for system in pair]
        found = score_predictions(gold.rows, gold.labels, [metric], both[0], options, both[1])
        tests: dict[str, dict[str, Any]] = {}
        for score in benchmark.compared:
            name, _, threshold = score.partition(" ")
            test = found[metric]["comparison"][name]
            test = test[0] if threshold else test  # at a threshold a list, here of length one
            difference = show_difference(test["difference"])
            tests[score] = {"difference on rows": difference, _EXCHANGE: test["p_value"]}
        yield tests


def _correct(tests: Sequence[dict[str, Any]], name: str) -> None:
    """Replace p-values by texts: the value, and its correction by Holm's method."""
    values = [cells.get(name) for cells in tests]
    n_tests = sum(value is not None for value in values)
    for cells, p_value, corrected in zip(tests, values, correct_by_holm(values), strict=True):
        if p_value is not None:
            bracket = f" ({show_p_value(corrected)})" if n_tests > 1 else ""
            cells[name] = show_p_value(p_value) + bracket


def _aligned_predictions(evaluation: Evaluation, gold: GoldRows) -> pa.Table:
    """Read a run's predictions in the order of the rows; null where there is no answer."""
    name = str(evaluation.file)
    predictions = read_run_columns(evaluation.file, "id", "prediction")
    predictions = join_predictions(gold.rows, predictions, name)
    check_predictions(predictions, gold.labels, name)
    return predictions


def _explain_tests(benchmark: Benchmark, rows: Rows) -> str:
    words = []
    if _T_TEST in rows[0]:
        words.append("Paired t-test over the seeds that both systems have.")
    if _EXCHANGE in rows[0]:
        units = "rows" if benchmark.metric == "nli_report" else "groups"
        words.append(
            f"On the rows, an exchange test over {units} compares the run of each system that is "
            f"in the middle by {score_title(benchmark.compared[0])} (of two, the lower one)."
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
        figure = plots.plot_categories(found, threshold=0.95)
        blocks.append(pictures.add(f"categories {name}", alt, figure))
    # With shots there is a system for each number of them, and the curve shows more.
    for shown in (system.name for system in best if system.config.n_shots is None):
        if "cartography" in results[shown]:
            alt = f"Confidence and variability of {shown} by pattern of {name}"
            figure = plots.plot_cartography(results[shown]["cartography"], title=shown)
            blocks.append(pictures.add(f"cartography {name} {shown}", alt, figure))
    return blocks


def _whose(benchmark: Benchmark, best: Sequence[ReportedSystem]) -> str:
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
