"""Pattern accuracy, the metric of SpaceNLI (section 4.2.2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inference import compare_systems, confidence_intervals, read_inference, sign
from ..inputs import Problems
from ..inputs.groups import (
    Breakdown,
    EncodedIds,
    break_down,
    check_one_value_per_group,
    encode_sorted,
    read_breakdowns,
)
from ..inputs.labels import EncodedLabels, list_names, read_judged_columns
from ..scores import group_ratios, group_scores, read_thresholds, solved_curve

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
    patterns = _Patterns.of(encode_sorted(columns["groups"]), encoded, problems)

    def scores_of(n_correct: np.ndarray, n_samples: np.ndarray) -> dict[str, Any]:
        scores = group_scores(n_correct, n_samples, levels, "pattern_accuracy")
        scores |= {"n_groups": len(n_samples), "n_samples": int(n_samples.sum())}
        if inference.has_intervals:
            ratios = group_ratios(n_correct, n_samples, levels, "pattern_accuracy")
            scores |= confidence_intervals(ratios, inference)
        return scores

    by_value = {
        name: patterns.score_by_value(f"by {name}", found, scores_of, problems)
        for name, found in breakdowns.items()
    }
    category = break_down(columns["categories"]) if "categories" in columns else None
    if category is not None:
        by_category = patterns.score_by_value("categories", category, scores_of, problems)
    problems.check()
    n_correct, n_samples = patterns.n_correct[0], patterns.n_samples
    result = scores_of(n_correct, n_samples)
    result["thresholds"] = levels.as_given()
    result["curve"] = solved_curve(n_correct, n_samples, "pattern_accuracy")
    result |= encoded.count_unanswered()
    if by is not None:
        result["by"] = by_value
    if category is not None:
        result["by_category"] = by_category
    if per_group:
        result["groups"] = patterns.table(encoded.names, category)
    if other_predictions is not None:
        systems = [
            group_ratios(each, n_samples, levels, "pattern_accuracy") for each in patterns.n_correct
        ]
        result |= compare_systems(systems, inference)
    return sign(
        result,
        "pattern_accuracy",
        PATTERN_ACCURACY_VERSION,
        inference,
        labels=encoded,
        thresholds=levels,
        by=list_names([*breakdowns]) or None,
    )


@dataclass(frozen=True, slots=True)
class _Patterns:
    """The patterns, sorted by id.

    Attributes:
        ids: Pattern of each row.
        is_right: Whether the first system is right, by row, ``(n,)``.
        n_samples: Samples of each pattern, ``(patterns,)``.
        n_correct: Correct samples of each pattern, ``(patterns,)``, for every system.
        reference: Gold label of each pattern as a position in the label set, ``(patterns,)``.
    """

    ids: EncodedIds
    is_right: np.ndarray
    n_samples: np.ndarray
    n_correct: list[np.ndarray]
    reference: np.ndarray

    @classmethod
    def of(cls, ids: EncodedIds, labels: EncodedLabels, problems: Problems) -> "_Patterns":
        """Count the samples of every pattern, and those that each system has right."""
        references, *systems = labels.codes.values()
        check_one_value_per_group(ids, "references", references, labels.names, problems)
        is_right = [codes == references for codes in systems]
        n_correct = [np.bincount(ids.codes[right], minlength=len(ids)) for right in is_right]
        reference = ids.values_of_keys(references)
        return cls(ids, is_right[0], np.bincount(ids.codes), n_correct, reference)

    def score_by_value(
        self,
        name: str,
        found: Breakdown,
        scores_of: Callable[[np.ndarray, np.ndarray], dict[str, Any]],
        problems: Problems,
    ) -> dict[Any, dict[str, Any]]:
        """Return the scores of each value; a pattern has one, unless the values are lists.

        Of a pattern with lists, the samples count whose list has the value.
        """
        if found.has_lists:
            return found.score(lambda rows: scores_of(*self._count_rows(rows)))
        check_one_value_per_group(self.ids, name, found.codes, found.values, problems)
        if problems.found:
            return {}
        codes = self.ids.values_of_keys(found.codes)
        of_patterns = Breakdown(found.values, np.arange(len(codes)), codes, False)
        n_correct, n_samples = self.n_correct[0], self.n_samples
        return of_patterns.score(lambda few: scores_of(n_correct[few], n_samples[few]))

    def _count_rows(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count the correct samples and all samples of the patterns that some rows have."""
        ids = self.ids.take(rows)
        n_correct = np.bincount(ids.codes[self.is_right[rows]], minlength=len(ids))
        return n_correct, np.bincount(ids.codes)

    def table(
        self, names: Sequence[str | int], of_category: Breakdown | None
    ) -> dict[str, list[Any]]:
        """Return the lists that a result has by pattern."""
        table = {
            "group": self.ids.keys.to_pylist(),
            "reference": [names[code] for code in self.reference.tolist()],
        }
        if of_category is not None:
            codes = self.ids.values_of_keys(of_category.codes).tolist()
            table["category"] = [of_category.values[code] for code in codes]
        return table | {
            "n_samples": self.n_samples.tolist(),
            "n_correct": self.n_correct[0].tolist(),
            "accuracy": (self.n_correct[0] / self.n_samples).tolist(),
        }
