"""The tables of any metric's result."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .rows import Rows


def scores_of(metric: str, result: Mapping[str, Any]) -> Rows:
    """The scores of a result.

    Args:
        metric: Name of the metric.
        result: What it returned.
    """
    rows: Rows = _report(metric).scores(result)
    return rows


def breakdowns_of(metric: str, result: Mapping[str, Any]) -> dict[str, Rows]:
    """The further tables of a result, by title.

    Args:
        metric: Name of the metric.
        result: What it returned.
    """
    tables: dict[str, Rows] = _report(metric).breakdowns(result)
    return tables


def _report(metric: str) -> Any:
    return import_module(f"nlihub.metrics.{metric}.report")
