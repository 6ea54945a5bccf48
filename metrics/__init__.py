"""Metrics: as modules of ``evaluate``, and as functions in ``nlihub.metrics.functional``.

Importing this package is cheap: ``evaluate`` is imported by the first use of a class.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cartography.cartography import Cartography
    from .consistency.consistency import Consistency
    from .nli_report.nli_report import NLIReport
    from .pattern_accuracy.pattern_accuracy import PatternAccuracy

#: The class of each metric, by the metric's name, which is also that of its folder.
METRICS = {
    "cartography": "Cartography",
    "consistency": "Consistency",
    "nli_report": "NLIReport",
    "pattern_accuracy": "PatternAccuracy",
}

__all__ = ["METRICS", "Cartography", "Consistency", "NLIReport", "PatternAccuracy"]


def __getattr__(name: str) -> Any:
    for metric, class_name in METRICS.items():
        if name == class_name:
            return getattr(import_module(f".{metric}.{metric}", __name__), class_name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
