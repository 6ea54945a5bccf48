"""The texts of an app's options as arguments of a metric."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ..inputs.files import select_columns
from ..inputs.problems import MetricInputError


def grouped_arguments(table: pa.Table, options: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a metric of groups, from a file and the options of its app.

    Args:
        table: The rows of the file.
        options: ``thresholds``, ``labels`` and ``confidence_level``.

    Raises:
        MetricInputError: A column is missing, or an option is malformed.
    """
    columns = select_columns(
        table, ("predictions", "references", "groups"), ("categories", "other_predictions")
    )
    return columns | {
        "thresholds": read_numbers(options["thresholds"], "thresholds"),
        "labels": read_labels(options["labels"]),
        "confidence_level": read_level(options["confidence_level"]),
        "per_group": True,
    }


def read_labels(text: str) -> list[str] | None:
    """The label set from a text such as ``"entailment, neutral"``; None from an empty one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    return names or None


def read_numbers(text: str, name: str) -> list[float]:
    """Numbers from a text such as ``"0.5, 0.95"``.

    Args:
        text: The text.
        name: Name of the option.

    Raises:
        MetricInputError: Something else is in it.
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise MetricInputError([f"{name}: {text!r} is no list of numbers."]) from None


def read_level(text: str) -> float | None:
    """A confidence level; None from an empty text."""
    return read_numbers(text, "confidence_level")[0] if text.strip() else None
