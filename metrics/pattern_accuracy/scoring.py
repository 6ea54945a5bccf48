"""Pattern accuracy, the metric of SpaceNLI (section 4.2.2)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ..inference import (
    compare_systems,
    confidence_intervals,
    count_discordant,
    note_few,
    read_inference,
    sign,
    standard_errors,
)
from ..inputs.breakdown import Breakdown, break_down, read_breakdowns
from ..inputs.columns import InputColumn
from ..inputs.groups import encode_sorted, hash_ids
from ..inputs.labels import list_names, read_judged_columns
from ..inputs.problems import Problems
from ..ratios import group_ratios
from ..thresholds import Thresholds, area_under_curve, read_thresholds, solved_curve
from .patterns import Patterns, score_by_value, tally_patterns

PATTERN_ACCURACY_VERSION = "2.0.0"


def pattern_accuracy(
    predictions: Any,
    references: Any,
    groups: Any,
    *,
    thresholds: Any = 0.95,
    by: Any = None,
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
            or Polars series, tensor or column of a ``Dataset``. None (null) stands for no readable
            answer, which is wrong.
        references: Gold labels, n integers or strings; the same for all samples of a pattern.
        groups: Ids of the patterns, n integers or strings.
        thresholds: The share t, from 0 to 1, or a list of shares. A float stands for the simplest
            fraction that rounds to it and is compared exactly: 190 of 200 reach 0.95.
        by: Columns to break the scores down by: names in ``data``, one or a list, ``A+B`` for two
            columns crossed; or a mapping of a name to a column, n values or a name in ``data``.
            Values are text, numbers, truth values, dates, or lists of them, at most 500 different
            ones, and the same for all samples of a pattern unless they are lists; nulls and empty
            lists are shown as ``(none)``. None breaks nothing down.
        categories: Category of each sample, n integers or strings, the same for all samples of a
            pattern; None gives no breakdown.
        labels: Names of the label set in the order of their ids; None takes the class names of a
            ``Dataset`` column, or the labels that occur.
        other_predictions: Predicted labels of a second system to compare with, n integers or
            strings, None for no readable answer; None instead of a column compares nothing.
        per_group: Whether to return the counts of every pattern.
        confidence_level: Coverage of the confidence intervals, above 0 and below 1, such as 0.95;
            None computes no intervals.
        n_resamples: Number of drawn exchanges of the two systems' patterns, from 1, where there
            are too many to try all.
        seed: Seed of the draws, from 0.
        data: A ``Dataset``, Arrow table or data frame with the columns, which are then given by
            name; None if they are given themselves.

    Returns:
        - ``pattern_accuracy``: from 0 to 1, higher is better; a list if ``thresholds`` is one;
        - ``thresholds`` as given;
        - ``accuracy``: share of samples solved, from 0 to 1;
        - ``area_under_curve``: mean accuracy of the patterns, from 0 to 1, each with the same
          weight; equal to ``accuracy`` if all patterns have the same number of samples;
        - ``n_groups``, ``n_samples``, and ``n_unanswered`` of these, ``n_other_unanswered`` by the
          second system, if there is one;
        - ``curve``: the ``thresholds`` at which ``pattern_accuracy`` changes, and its values;
          between two thresholds it has the value of the upper one;
        - ``by``: the scores by name of the column, then by value as text, if asked for; of a
          pattern with lists, the samples count whose list has the value;
        - ``by_category``: the scores of each category, if categories are given;
        - ``groups``: lists ``group``, ``reference``, ``category``, ``n_samples``, ``n_correct``
          and ``accuracy``, sorted by group, if ``per_group``;
        - ``confidence_intervals``: low and high end by score (also of every category and value),
          if asked for; None if there are fewer than five patterns; and beside it
          ``standard_errors``;
        - ``comparison``: for each score the ``other`` system's, the ``difference`` (first minus
          other), its ``interval``, and the ``p_value`` of an exchange test over the patterns; for
          the pattern accuracy also ``n_only_first`` and ``n_only_second``, the patterns that one
          system alone has solved; if there are other predictions;
        - ``confidence_level`` of the intervals, and a ``note`` if they and the test rest on fewer
          than ten patterns;
        - ``signature``: what the scores depend on, in one line.

    Raises:
        MetricInputError: Columns differ in length, are empty or hold values other than integers
            and strings; references or groups have nulls; labels are outside the set; a pattern has
            two gold labels, categories or
            values to break down by; a column to break down by is missing or has too many values;
            an option is out of its range. All problems are listed.

    Source: SpaceNLI, section 4.2.2 (PA_t and its curve), Figure 5 (categories), Figure 6 (area),
        Table 2 and section 5 (spatial expressions).

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
    inference = read_inference(confidence_level, n_resamples, seed, problems)
    columns, encoded = read_judged_columns(
        {"references": references, "predictions": predictions, "groups": groups},
        {"other_predictions": other_predictions, "categories": categories},
        labels,
        data,
        problems,
    )
    breakdowns = read_breakdowns(by, data, columns, problems)
    problems.check()
    parts = {f"by {name}": found for name, found in breakdowns.items()}
    if "categories" in columns:
        parts["categories"] = break_down(columns["categories"])
    groups_ = hash_ids(columns["groups"]) if parts else columns["groups"]
    patterns = tally_patterns(groups_, encoded, problems)

    def scores_of(n_correct: np.ndarray, n_samples: np.ndarray, **others: Any) -> dict[str, Any]:
        scores = _scores(n_correct, n_samples, levels) | others
        if confidence_level is not None:
            ratios = group_ratios(n_correct, n_samples, levels)
            found = confidence_intervals(ratios, inference)
            scores["confidence_intervals"] = levels.rename(found, "pattern_accuracy")
            scores["standard_errors"] = levels.rename(standard_errors(ratios), "pattern_accuracy")
            scores |= note_few(len(n_samples), "groups")
        return scores

    by_value = score_by_value(parts, groups_, encoded, patterns, scores_of, problems)
    problems.check()
    n_correct, n_samples = patterns.n_correct[0], patterns.n_samples
    result = scores_of(
        n_correct,
        n_samples,
        thresholds=levels.as_given(),
        curve=solved_curve(n_correct, n_samples, "pattern_accuracy"),
    )
    result |= encoded.count_unanswered()
    if by is not None:
        result["by"] = {name: by_value[f"by {name}"] for name in breakdowns}
    if "categories" in parts:
        result["by_category"] = by_value["categories"]
    if per_group:
        of_category = parts.get("categories")
        result["groups"] = _table(patterns, encoded.names, groups_, of_category)
    if other_predictions is not None:
        systems = (group_ratios(counts, n_samples, levels) for counts in patterns.n_correct)
        found = compare_systems(systems, inference)
        solved = (levels.solved(counts, n_samples) for counts in patterns.n_correct)
        for i, reached in enumerate(zip(*solved, strict=True)):
            found[str(i)] |= count_discordant(*reached)
        result["comparison"] = levels.rename(found, "pattern_accuracy")
        result |= note_few(len(n_samples), "groups")
    return sign(
        result,
        "pattern_accuracy",
        PATTERN_ACCURACY_VERSION,
        inference,
        labels=encoded,
        thresholds=levels,
        by=list_names([*breakdowns]) or None,
    )


def _scores(n_correct: np.ndarray, n_samples: np.ndarray, levels: Thresholds) -> dict[str, Any]:
    return {
        "pattern_accuracy": levels.share_solved(n_correct, n_samples),
        "accuracy": int(n_correct.sum()) / int(n_samples.sum()),
        "area_under_curve": area_under_curve(n_correct, n_samples),
        "n_groups": len(n_samples),
        "n_samples": int(n_samples.sum()),
    }


def _table(
    patterns: Patterns,
    names: Sequence[str | int],
    groups: InputColumn,
    of_category: Breakdown | None,
) -> dict[str, list[Any]]:
    order = pc.sort_indices(patterns.keys).to_numpy()
    n_correct, n_samples = patterns.n_correct[0][order], patterns.n_samples[order]
    table = {
        "group": patterns.keys.take(order).to_pylist(),
        "reference": [names[code] for code in patterns.reference[order].tolist()],
    }
    if of_category is not None:
        ids = encode_sorted(groups)
        categories = np.zeros(len(ids), np.int64)
        categories[ids.codes] = of_category.codes
        table["category"] = [of_category.values[code] for code in categories.tolist()]
    return table | {
        "n_samples": n_samples.tolist(),
        "n_correct": n_correct.tolist(),
        "accuracy": (n_correct / n_samples).tolist(),
    }
