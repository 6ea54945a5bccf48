"""The metrics as plain functions, with the arguments and results of the ``evaluate`` modules."""

from .cartography.scoring import cartography
from .consistency.scoring import agreement, consistency
from .inference import paired_t_test
from .inputs.problems import MetricInputError
from .nli_report.scoring import nli_report
from .pattern_accuracy.scoring import pattern_accuracy

__all__ = [
    "MetricInputError",
    "agreement",
    "cartography",
    "consistency",
    "nli_report",
    "paired_t_test",
    "pattern_accuracy",
]
