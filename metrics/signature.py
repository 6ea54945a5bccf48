"""Signatures: what a score depends on, in one line, so that it can be reproduced."""

from typing import Any

from .inference.bootstrap import Resampling


def sign(
    result: dict[str, Any], name: str, version: str, resampling: Resampling | None, **facts: Any
) -> dict[str, Any]:
    """A result with its signature, and the confidence level of its intervals if it has any.

    Args:
        result: What a metric found.
        name: Name of the metric.
        version: Version of the metric.
        resampling: How it was resampled; None where it was not.
        **facts: What the scores depend on, in the order to show; None leaves a fact out.

    Returns:
        The result with ``signature``, such as ``pattern_accuracy|version:1.0.0|labels:...``, last.
    """
    facts |= {"groups": result.get("n_groups"), "samples": result["n_samples"]}
    shown = [f"{key}:{value}" for key, value in facts.items() if value is not None]
    if resampling is None:
        return result | {"signature": "|".join([name, f"version:{version}", *shown])}
    shown.append(f"bootstrap:{resampling}")
    return result | {
        "confidence_level": resampling.confidence_level,
        "signature": "|".join([name, f"version:{version}", *shown]),
    }
