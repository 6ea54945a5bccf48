"""Baselines: train or prompt systems, score them by the papers' protocols, report on the runs.

Importing this package is cheap: the first call imports the libraries that it needs.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .quick_look import quick
    from .running import list_presets, report, run
    from .systems.prompting.ask import show_prompt, tabulate_prompts

_PROMPTS = ("show_prompt", "tabulate_prompts")

__all__ = ["list_presets", "quick", "report", "run", "show_prompt", "tabulate_prompts"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _PROMPTS:
        from .systems.prompting import ask

        return getattr(ask, name)
    if name == "quick":
        from .quick_look import quick

        return quick
    from . import running

    return getattr(running, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
