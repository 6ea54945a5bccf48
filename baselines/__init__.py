"""Baselines: train or prompt systems, score them by the papers' protocols, report on the runs.

Importing this package is cheap: the first call imports the libraries that it needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .quick_look import quick
    from .reports.write import report
    from .running import list_presets, run
    from .systems.prompting.ask import show_prompt

#: The functions, and the module that has each.
_MODULES = {
    "list_presets": ".running",
    "quick": ".quick_look",
    "report": ".reports.write",
    "run": ".running",
    "show_prompt": ".systems.prompting.ask",
}

__all__ = ["list_presets", "quick", "report", "run", "show_prompt"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
