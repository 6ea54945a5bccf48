"""Pattern accuracy, the metric of SpaceNLI (section 4.2.2)."""

from typing import Any

import numpy as np
import pyarrow.compute as pc

from ..inference import (
    compare_systems,
    confidence_intervals,
    mcnemar,
    read_resampling,
    sign,
)
from ..inputs.labels import read_judged_columns
from ..inputs.problems import Problems
from ..thresholds import Thresholds, area_under_curve, read_thresholds, solved_curve
from .patterns import Patterns, tally_patterns

PATTERN_ACCURACY_VERSION = "1.0.0"


def pattern_accuracy(
    predictions: Any,
    references: Any,
    groups: Any,
    *,
    thresholds: Any = 0.95,
    categories: Any = None,
    labels: Any = None,
    other_predictions: Any = None,
    per_group: bool = False,
    confidence_level: float | None = None,
    n_resamples: int = 9999,
    seed: int = 0,
    data: Any = None,
) -> dict[str, Any]:
    """Compute the share of patterns of which at least the share t of the samples is solved.

    Args:
        predictions: Predicted labels, n integers or strings: a list, NumPy or Arrow array, pandas
            or Polars series, tensor or column of a ``Dataset``.
        references: Gold labels, n integers or strings; the same for all samples of a pattern.
        groups: Ids of the patterns, n integers or strings.
        thresholds: The share t, from 0 to 1, or a list of shares. A float stands for the simplest
            fraction that rounds to it and is compared exactly: 190 of 200 reach 0.95.
        categories: Category of each sample, n integers or strings, the same for all samples of a
            pattern; None gives no breakdown.
        labels: Names of the label set in the order of their ids; None takes the class names of a
            ``Dataset`` column, or the labels that occur.
        other_predictions: Predicted labels of a second system to compare with, n integers or
            strings; None compares nothing.
        per_group: Whether to return the counts of every pattern.
        confidence_level: Share of resamples inside the confidence intervals, above 0 and below 1,
            such as 0.95; None computes no intervals.
        n_resamples: Number of bootstrap resamples, from 1; each draws whole patterns.
        seed: Seed of the bootstrap, from 0.
        data: A ``Dataset``, Arrow table or data frame with the columns, which are then given by
            name; None if they are given themselves.

    Returns:
        - ``pattern_accuracy``: from 0 to 1, higher is better; a list if ``thresholds`` is one;
        - ``thresholds`` as given;
        - ``accuracy``: share of samples solved, from 0 to 1;
        - ``area_under_curve``: mean accuracy of the patterns, from 0 to 1, each with the same
          weight; equal to ``accuracy`` if all patterns have the same number of samples;
        - ``n_groups``, ``n_samples``;
        - ``curve``: the ``thresholds`` at which ``pattern_accuracy`` changes, and its values;
          between two thresholds it has the value of the upper one;
        - ``by_category``: the scores of each category, if categories are given;
        - ``groups``: lists ``group``, ``reference``, ``category``, ``n_samples``, ``n_correct``
          and ``accuracy``, sorted by group, if ``per_group``;
        - ``confidence_intervals``: low and high end by score, if asked for;
        - ``comparison``: for each score the ``other`` system's, the ``difference`` (first minus
          other), its ``interval`` and bootstrap ``p_value``, and ``mcnemar`` over the patterns,
          if there are other predictions;
        - ``confidence_level`` of the intervals, if there are any;
        - ``signature``: what the scores depend on, in one line.

    Raises:
        MetricInputError: Columns differ in length, are empty or hold values other than integers
            and strings; labels are outside the set; a pattern has two gold labels or categories;
            an option is out of its range. All problems are listed.

    Source: SpaceNLI, section 4.2.2 (PA_t and its curve), Figure 5 (categories), Figure 6 (area).

    Example:
        >>> from nlihub.metrics.functional import pattern_accuracy
        >>> result = pattern_accuracy(
        ...     predictions=[0, 0, 1, 2], references=[0, 0, 1, 1], groups=["a", "a", "b", "b"]
        ... )
        >>> result["pattern_accuracy"], result["accuracy"]
        (0.5, 0.75)
    """
    problems = Problems()
    levels = read_thresholds(thresholds, problems)
    resampling = read_resampling(confidence_level, n_resamples, seed, problems)
    columns, encoded = read_judged_columns(
        {"references": references, "predictions": predictions, "groups": groups},
        {"other_predictions": other_predictions, "categories": categories},
        labels,
        data,
        problems,
    )
    problems.check()
    patterns = tally_patterns(columns["groups"], encoded, columns.get("categories"), problems)
    problems.check()

    def scores_of(part: Patterns, **others: Any) -> dict[str, Any]:
        scores = _scores(part, levels) | others
        if confidence_level is not None:
            found = confidence_intervals(_vectors(part, levels, 0), _statistic, resampling)
            scores["confidence_intervals"] = levels.rename(found, "pattern_accuracy")
        return scores

    result = scores_of(
        patterns,
        thresholds=levels.as_given(),
        curve=solved_curve(patterns.n_correct[0], patterns.n_samples, "pattern_accuracy"),
    )
    if patterns.category is not None:
        result["by_category"] = {key: scores_of(part) for key, part in patterns.by_category()}
    if per_group:
        result["groups"] = _table(patterns, encoded.names)
    if other_predictions is not None:
        vectors = [_vectors(patterns, levels, system) for system in (0, 1)]
        found = compare_systems(vectors, _statistic, resampling)
        solved = (levels.solved(n_correct, patterns.n_samples) for n_correct in patterns.n_correct)
        for i, systems in enumerate(zip(*solved, strict=True)):
            found[str(i)]["mcnemar"] = mcnemar(*systems)
        result["comparison"] = levels.rename(found, "pattern_accuracy")
    return sign(
        result,
        "pattern_accuracy",
        PATTERN_ACCURACY_VERSION,
        resampling,
        labels=encoded,
        thresholds=levels,
    )


def _scores(patterns: Patterns, levels: Thresholds) -> dict[str, Any]:
    n_correct, n_samples = patterns.n_correct[0], patterns.n_samples
    return {
        "pattern_accuracy": levels.share_solved(n_correct, n_samples),
        "accuracy": int(n_correct.sum()) / int(n_samples.sum()),
        "area_under_curve": area_under_curve(n_correct, n_samples),
        "n_groups": len(n_samples),
        "n_samples": int(n_samples.sum()),
    }


def _vectors(patterns: Patterns, levels: Thresholds, system: int) -> np.ndarray:
    """Return for each pattern the numbers whose totals the scores depend on."""
    n_correct, n_samples = patterns.n_correct[system], patterns.n_samples
    solved = levels.solved(n_correct, n_samples)
    ones = np.ones(len(n_samples))
    return np.column_stack([ones, n_samples, n_correct, n_correct / n_samples, *solved])


def _statistic(totals: np.ndarray) -> dict[str, np.ndarray]:
    n_groups, n_samples, n_correct, shares, *solved = totals.T
    scores = {"accuracy": n_correct / n_samples, "area_under_curve": shares / n_groups}
    return scores | {str(i): n / n_groups for i, n in enumerate(solved)}


def _table(patterns: Patterns, names: tuple[str | int, ...]) -> dict[str, list[Any]]:
    order = pc.sort_indices(patterns.keys).to_numpy()
    n_correct, n_samples = patterns.n_correct[0][order], patterns.n_samples[order]
    table = {
        "group": patterns.keys.take(order).to_pylist(),
        "reference": [names[code] for code in patterns.reference[order].tolist()],
    }
    if patterns.category is not None:
        categories = patterns.category[order].tolist()
        table["category"] = [patterns.category_keys[code] for code in categories]
    return table | {
        "n_samples": n_samples.tolist(),
        "n_correct": n_correct.tolist(),
        "accuracy": (n_correct / n_samples).tolist(),
    }
