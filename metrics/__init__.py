"""Metrics: as modules of ``evaluate``, and as functions in ``nlihub.metrics.functional``.

Importing this package is cheap: ``evaluate`` is imported when a metric's class is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .app import AppSpec
    from .cartography.cartography import Cartography
    from .consistency.consistency import Consistency
    from .functional import compute_metrics
    from .nli_report.nli_report import NLIReport
    from .pattern_accuracy.pattern_accuracy import PatternAccuracy

#: The class of each metric by name of the metric, which is also the name of its folder.
METRICS = {
    "cartography": "Cartography",
    "consistency": "Consistency",
    "nli_report": "NLIReport",
    "pattern_accuracy": "PatternAccuracy",
}

__all__ = [
    "METRICS",
    "Cartography",
    "Consistency",
    "NLIReport",
    "PatternAccuracy",
    "app_of",
    "compute_metrics",
]


def app_of(metric: str) -> "AppSpec":
    """Return the app of a metric, which also shows results as tables; its page needs gradio.

    Args:
        metric: Name of the metric, one of ``METRICS``.
    """
    app: AppSpec = import_module(f".{metric}.app", __name__).APP
    return app


def __getattr__(name: str) -> Any:
    if name == "compute_metrics":
        return import_module(".functional", __name__).compute_metrics
    for metric, class_name in METRICS.items():
        if name == class_name:
            return getattr(import_module(f".{metric}.{metric}", __name__), class_name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
