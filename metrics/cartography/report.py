"""Cartography as tables, for people."""

from collections.abc import Mapping
from typing import Any

from ..rows import Rows, column_rows, count_rows, score_rows


def scores(result: Mapping[str, Any]) -> Rows:
    """The scores of a result."""
    names = {"confidence": "confidence, mean", "variability": "variability, mean"}
    counts = {"groups": result["n_groups"], "samples": result["n_samples"]}
    return count_rows(score_rows(result, names), counts)


def breakdowns(result: Mapping[str, Any]) -> dict[str, Rows]:
    """The groups, and those that are the easiest, hardest and most ambiguous."""
    subsets = result["subsets"]
    return {
        "By group": column_rows(result["groups"]),
        "Subsets, the most so first": column_rows(subsets),
    }
