"""Pattern accuracy as tables, for people."""

from collections.abc import Mapping
from typing import Any

from ..rows import Rows, breakdown_rows, column_rows, count_rows, score_rows


def scores(result: Mapping[str, Any]) -> Rows:
    """The scores of a result."""
    names = {
        "pattern_accuracy": "pattern accuracy at",
        "accuracy": "accuracy",
        "area_under_curve": "area under the curve",
    }
    rows = score_rows(result, names)
    return count_rows(rows, {"patterns": result["n_groups"], "samples": result["n_samples"]})


def breakdowns(result: Mapping[str, Any]) -> dict[str, Rows]:
    """The scores by category and the counts by pattern, where the result has them."""
    tables = {}
    if "by_category" in result:
        thresholds = result["thresholds"]
        thresholds = thresholds if isinstance(thresholds, list) else [thresholds]
        names = {
            "n_groups": "patterns",
            "n_samples": "samples",
            "accuracy": "accuracy",
            "pattern_accuracy": "|".join(f"PA {threshold}" for threshold in thresholds),
        }
        tables["By category"] = breakdown_rows("category", result["by_category"], names)
    if "groups" in result:
        tables["By pattern"] = column_rows(result["groups"])
    return tables
