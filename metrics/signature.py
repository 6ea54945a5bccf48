"""Signatures: one line with all that a score depends on, to reproduce it."""

from typing import Any

from .inference import Resampling


def sign(
    result: dict[str, Any], name: str, version: str, resampling: Resampling | None, **facts: Any
) -> dict[str, Any]:
    """Add the signature to a result, and the confidence level if it was resampled.

    Args:
        result: The scores, with ``n_samples`` and perhaps ``n_groups``.
        name: Name of the metric.
        version: Version of the metric, ``X.Y.Z``.
        resampling: Options of the bootstrap; None if there was none.
        **facts: Facts that the scores depend on, in the order to show; None leaves a fact out.

    Returns:
        A copy of the result that ends with ``signature``, such as
        ``pattern_accuracy|version:1.0.0|labels:...``.
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
