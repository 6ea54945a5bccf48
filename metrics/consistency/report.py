"""Consistency as tables, for people."""

from collections.abc import Mapping
from typing import Any

from ..rows import Rows, breakdown_rows, column_rows, count_rows, score_rows, shorten


def scores(result: Mapping[str, Any]) -> Rows:
    """The scores of a result."""
    names = {
        "consistency": "groups solved to at least",
        "accuracy": "accuracy",
        "f1_positive": "F1 of positives",
        "f1_negative": "F1 of negatives",
        "macro_f1": "macro-F1",
    }
    counts = {
        "groups": result["n_groups"],
        "solved wholly": result["n_wholly_solved"],
        "with a positive and negatives": result["n_complete_groups"],
        "of these, all right": result["n_positive_and_negatives_right"],
        "samples": result["n_samples"],
    }
    agreement = {
        f"agreement within a group, {kind}": shorten(value)
        for kind, value in result["agreement"].items()
        if kind != "n_groups" and value is not None
    }
    return count_rows(score_rows(result, names), agreement | counts)


def breakdowns(result: Mapping[str, Any]) -> dict[str, Rows]:
    """The recall by category and the counts by group, where the result has them."""
    tables = {}
    if "recall_by_category" in result:
        names = {"n_samples": "samples", "n_correct": "right", "recall": "recall"}
        rows = breakdown_rows("category", result["recall_by_category"], names)
        macro = result["macro_recall"].items()
        rows += [[f"mean, {f}", "", "", shorten(value)] for f, value in macro if value is not None]
        tables["By category"] = rows
    if "groups" in result:
        tables["By group"] = column_rows(result["groups"])
    return tables
