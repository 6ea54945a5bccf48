"""Pictures of results for papers, readable in print and by colour-blind readers."""

from .charts import (
    plot_breakdown,
    plot_categories,
    plot_consistency,
    plot_pattern_accuracy,
    plot_possible_perturbations,
    plot_recall,
    plot_systems,
)
from .figures import check_picture_name, save_figure
from .maps import plot_cartography, plot_patterns

__all__ = [
    "check_picture_name",
    "plot_breakdown",
    "plot_cartography",
    "plot_categories",
    "plot_consistency",
    "plot_pattern_accuracy",
    "plot_patterns",
    "plot_possible_perturbations",
    "plot_recall",
    "plot_systems",
    "save_figure",
]
