"""Metrics for ``transformers.Trainer``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .flat import flatten


def compute_metrics(metric: str, **arguments: Any) -> Callable[[Any], dict[str, int | float]]:
    """Make the ``compute_metrics`` of a ``Trainer``: all scores of a metric, by flat names.

    Args:
        metric: ``pattern_accuracy``, ``consistency`` or ``nli_report``.
        **arguments: Further arguments of the function of that name in
            ``nlihub.metrics.functional``, such as ``labels``, ``groups`` or ``thresholds``; columns
            in the order of the rows that the ``Trainer`` evaluates.

    Returns:
        A function of logits ``(n, n_labels)``, or a tuple that begins with them, and n label ids.

    Raises:
        ValueError: There is no such metric.

    Example:
        >>> from types import SimpleNamespace
        >>> scores = compute_metrics("pattern_accuracy", groups=["a", "a"])
        >>> logits = np.array([[0.9, 0.1], [0.2, 0.8]])
        >>> scores(SimpleNamespace(predictions=logits, label_ids=np.array([0, 0])))["accuracy"]
        0.5
    """
    from . import functional

    names = ("pattern_accuracy", "consistency", "nli_report")
    if metric not in names:
        raise ValueError(
            f"{metric!r} is no metric of predicted labels; expected {', '.join(names)}."
        )
    score = getattr(functional, metric)

    def compute(predicted: Any) -> dict[str, int | float]:
        logits = predicted.predictions
        if isinstance(logits, tuple):
            logits = logits[0]
        found = score(
            predictions=np.asarray(logits).argmax(-1), references=predicted.label_ids, **arguments
        )
        return flatten(found)

    return compute
