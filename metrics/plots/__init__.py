"""Pictures of results for papers, readable in print and by colour-blind readers."""

from .figures import check_picture_name, save_figure
from .results import plot_cartography, plot_categories, plot_consistency, plot_pattern_accuracy

__all__ = [
    "check_picture_name",
    "plot_cartography",
    "plot_categories",
    "plot_consistency",
    "plot_pattern_accuracy",
    "save_figure",
]
