"""The NLI report as tables, for people."""

from collections.abc import Mapping
from typing import Any

from ..rows import Rows, breakdown_rows, count_rows, score_rows


def scores(result: Mapping[str, Any]) -> Rows:
    """The scores of a result."""
    rows = score_rows(result, {"macro_f1": "macro-F1", "accuracy": "accuracy"})
    return count_rows(rows, {"samples": result["n_samples"]})


def breakdowns(result: Mapping[str, Any]) -> dict[str, Rows]:
    """The scores by class, and by domain where the result has them."""
    names = {
        "n_references": "gold",
        "n_predictions": "predicted",
        "precision": "precision",
        "recall": "recall",
        "f1": "F1",
    }
    tables = {"By class": breakdown_rows("label", result["per_class"], names)}
    if "by_domain" in result:
        names = {"n_samples": "samples", "macro_f1": "macro-F1", "accuracy": "accuracy"}
        tables["By domain"] = breakdown_rows("domain", result["by_domain"], names)
    return tables
