"""Tests for two systems on the same data."""

import math
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..inputs.columns import UnreadableError
from ..inputs.probabilities import as_numbers
from ..inputs.problems import MetricInputError, Problems, show_rows


def mcnemar(first_right: np.ndarray, second_right: np.ndarray) -> dict[str, Any]:
    """McNemar's exact test: is one system right more often where only one of them is?

    Args:
        first_right: For each unit (a sample or a group) whether the first system is right.
        second_right: The same for the second system.

    Returns:
        ``n_only_first``, ``n_only_second`` and the two-sided ``p_value``, from 0 to 1.

    Source: McNemar, Psychometrika 12 (1947); the exact form is the sign test.
    """
    from scipy.stats import binomtest

    n_only_first = int(np.sum(first_right & ~second_right))
    n_only_second = int(np.sum(second_right & ~first_right))
    n = n_only_first + n_only_second
    p_value = binomtest(n_only_first, n, 0.5).pvalue if n else 1.0
    return {
        "n_only_first": n_only_first,
        "n_only_second": n_only_second,
        "p_value": float(p_value),
    }


def paired_t_test(scores: Sequence[float], other_scores: Sequence[float]) -> dict[str, Any]:
    """The paired t-test over seeds, as SciNLI and MSciNLI compare models.

    Args:
        scores: The first system's score for each seed.
        other_scores: The second system's, for the same seeds in the same order.

    Returns:
        ``mean`` and ``other_mean``, their ``difference`` (first minus second), ``t``,
        ``degrees_of_freedom`` and the two-sided ``p_value``; ``t`` and ``p_value`` are None where
        all differences are the same, as they are where the seed does nothing.

    Raises:
        MetricInputError: There are fewer than two pairs, not as many scores of both, or scores
            that are not finite.

    Source: SciNLI, Table 6; MSciNLI, Table 4.

    Example:
        >>> paired_t_test([78.0, 78.4, 77.9], [75.1, 75.6, 75.0])["p_value"] < 0.001
        True
    """
    first, second = _read_scores(scores, "scores"), _read_scores(other_scores, "other_scores")
    if len(first) != len(second) or len(first) < 2:
        raise MetricInputError(
            [f"{len(first)} scores and {len(second)} others; expected as many, two or more."]
        )
    differences = first - second
    n = len(differences)
    mean = statistics.fmean(differences)
    error = statistics.stdev(differences) / math.sqrt(n)
    result: dict[str, Any] = {
        "mean": statistics.fmean(first),
        "other_mean": statistics.fmean(second),
        "difference": mean,
        "t": None,
        "degrees_of_freedom": n - 1,
        "p_value": None,
    }
    if error > 1e-12 * abs(mean):  # more than rounding
        from scipy.stats import t as student

        result["t"] = mean / error
        result["p_value"] = float(2 * student.sf(abs(mean / error), n - 1))
    return result


def _read_scores(scores: Any, name: str) -> np.ndarray:
    problems = Problems()
    values = np.asarray([])
    try:
        values = as_numbers(scores)
    except UnreadableError as error:
        problems.add(f"{name}: {error}; expected a number a seed.")
    if values.ndim != 1:
        problems.add(f"{name}: has the shape {values.shape}; expected a number a seed.")
    elif len(bad := np.flatnonzero(~np.isfinite(values))):
        problems.add(f"{name}: not finite in {show_rows(bad, values)}.")
    problems.check()
    return values
