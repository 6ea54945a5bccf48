"""SciNLI, MSciNLI, BioNLI and SpaceNLI in the Hugging Face ecosystem.

Importing this package is cheap: the Hugging Face libraries are imported by the first call that
needs them.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from .loaders.errors import NLIHubError

if TYPE_CHECKING:
    from .api import (
        build,
        describe,
        export,
        fetch,
        install,
        list_datasets,
        load_dataset,
        sample,
        stats,
        verify,
    )
    from .scores import plot, score

_MODULES = {
    "build": "api",
    "describe": "api",
    "export": "api",
    "fetch": "api",
    "install": "api",
    "list_datasets": "api",
    "load_dataset": "api",
    "plot": "scores",
    "sample": "api",
    "score": "scores",
    "stats": "api",
    "verify": "api",
}

__all__ = [
    "NLIHubError",
    "build",
    "describe",
    "export",
    "fetch",
    "install",
    "list_datasets",
    "load_dataset",
    "plot",
    "sample",
    "score",
    "stats",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("nlihub")
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
