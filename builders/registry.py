"""Finds the datasets of this package: every module of ``builders`` that declares one."""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from ..loaders.errors import UnknownNameError
from . import __path__ as _folders
from .base import NLIBuilder


@cache
def builders() -> Mapping[str, type[NLIBuilder]]:
    """The builders by the name of their dataset, in alphabetical order."""
    found: dict[str, type[NLIBuilder]] = {}
    for module in pkgutil.iter_modules(_folders):
        if module.ispkg:
            continue
        for value in vars(import_module(f"{__package__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, NLIBuilder) and "SPEC" in vars(value):
                found[value.SPEC.name] = value
    return dict(sorted(found.items()))


def get_builder(name: str) -> type[NLIBuilder]:
    """The builder of a dataset.

    Raises:
        UnknownNameError: There is no such dataset; names the closest.
    """
    if name not in builders():
        raise UnknownNameError.of("dataset", name, builders())
    return builders()[name]
