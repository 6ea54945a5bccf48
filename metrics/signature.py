"""Signatures: what a score depends on, in one line, so that it can be reproduced."""

from typing import Any


def write_signature(name: str, version: str, **facts: Any) -> str:
    """A signature such as ``pattern_accuracy|version:1.0.0|labels:...|thresholds:0.95``.

    Args:
        name: Name of the metric.
        version: Version of the metric.
        **facts: What the score depends on, in the order to show; None leaves a fact out.
    """
    shown = [f"{key}:{value}" for key, value in facts.items() if value is not None]
    return "|".join([name, f"version:{version}", *shown])
