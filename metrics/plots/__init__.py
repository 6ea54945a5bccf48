"""Pictures of results, for papers: readable in print and without telling colours apart."""

from .cartography import plot_cartography
from .categories import plot_categories
from .curves import plot_consistency, plot_pattern_accuracy
from .figures import check_picture_name, save_figure

__all__ = [
    "check_picture_name",
    "plot_cartography",
    "plot_categories",
    "plot_consistency",
    "plot_pattern_accuracy",
    "save_figure",
]
