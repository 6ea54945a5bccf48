"""What shells complete beside commands, options and files: names of datasets and their parts."""

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from ..loaders.errors import UnknownNameError

Complete = Callable[..., Sequence[str]]


def complete_datasets(incomplete: str) -> list[str]:
    """Return the datasets whose names begin so."""
    from ..builders.core.registry import list_datasets

    return _beginning(list_datasets(), incomplete)


def complete_config(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the configs, of the dataset on the command line, whose names begin so."""
    return _beginning(_declared(ctx)["configs"], incomplete)


def complete_split(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the splits, of the dataset on the command line, whose names begin so."""
    return _beginning(_splits(_declared(ctx)), incomplete)


def complete_rows(incomplete: str) -> list[str]:
    """Return what may follow in NAME/CONFIG:SPLIT; nothing, and so files, for a path."""
    before, sign, _ = incomplete.rpartition(":")
    name = (before if sign else incomplete).partition("/")[0]
    if sign:
        return _beginning((f"{before}:{split}" for split in _splits(_describe(name))), incomplete)
    if "/" not in incomplete:
        return complete_datasets(incomplete)
    return _beginning((f"{name}/{config}" for config in _describe(name)["configs"]), incomplete)


def complete_presets(incomplete: str) -> list[str]:
    """Return the presets of baselines whose names begin so."""
    from ..baselines.presets import PRESETS

    return _beginning(PRESETS, incomplete)


def complete_reproductions(incomplete: str) -> list[str]:
    """Return the ids of tables and figures that begin so."""
    from ..baselines.reproduction.entries import entries

    return _beginning(entries(), incomplete)


def _listed(complete: Complete) -> Complete:
    """Return a completion of the last of several names, separated by commas."""

    def complete_last(ctx: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        left = [name for name in complete(ctx, last) if name not in before.split(",")]
        return [f"{before}{comma}{name}" for name in left]

    return complete_last


#: How values are completed, by what stands for them in the help.
_BY_METAVAR: dict[str, Complete] = {
    "NAME|FOLDER": complete_datasets,
    "NAME|FOLDER|FILE": complete_datasets,
    "NAME|FOLDER|metrics": lambda incomplete: [
        *complete_datasets(incomplete),
        *_beginning(["metrics"], incomplete),
    ],
    "[NAME]...": complete_datasets,
    "C,...": _listed(complete_config),
    "S,...": _listed(complete_split),
    "ROWS": complete_rows,
    "ROWS|none": complete_rows,
}
_CHOICE = re.compile(r"[a-z0-9_-]+(\|[a-z0-9_-]+)+")


def add_completion(function: Callable[..., Any]) -> None:
    """Have the values of a command's parameters completed, where what stands for them is known.

    Args:
        function: The command; a metavar such as ``release|construct`` names all values.
    """
    for parameter in inspect.signature(function).parameters.values():
        for info in getattr(parameter.annotation, "__metadata__", ()):
            metavar = getattr(info, "metavar", None) or ""
            if getattr(info, "autocompletion", True) is None:
                info.autocompletion = _BY_METAVAR.get(metavar) or _choice(metavar)


def _choice(metavar: str) -> Complete | None:
    if not _CHOICE.fullmatch(metavar):
        return None
    return lambda incomplete: _beginning(metavar.split("|"), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _declared(ctx: typer.Context) -> dict[str, Any]:
    """Return what the dataset on the command line declares, by name or as a built folder."""
    # What is completed lacks its value, so that arguments before it are not parsed yet.
    given = [ctx.params.get("dataset") or ctx.params.get("name"), *ctx.args]
    return _describe(Path(next(filter(None, given), "")).name)


def _describe(name: str) -> dict[str, Any]:
    from ..builders.core.registry import describe

    try:
        return describe(name)
    except UnknownNameError:
        return {"configs": {}}


def _splits(declared: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(s for one in declared["configs"].values() for s in one["splits"]))
