"""The procedures by name, and the builders of datasets that people make by them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from ...loaders.errors import UsageError, VerificationError
from ..core.base import NLIBuilder, Rows
from ..core.options import BuildOptions
from .procedure import Declaration, Recipe, RunProcedure


@dataclass(frozen=True)
class Procedure:
    """A procedure, imported when it is needed; ``name`` is its folder, command and function."""

    name: str

    @cached_property
    def recipe(self) -> type[Recipe]:
        """The kind of recipe."""
        kind: type[Recipe] = self._find("recipe", f"{self.name.title()}Recipe")
        return kind

    @cached_property
    def declaration(self) -> type[Declaration]:
        """The kind of declaration."""
        kind: type[Declaration] = self._find("declaration", f"{self.name.title()}Declaration")
        return kind

    @cached_property
    def run(self) -> RunProcedure:
        """The function that makes a dataset."""
        function: RunProcedure = self._find("run", "run")
        return function

    def _find(self, module: str, name: str) -> Any:
        return getattr(import_module(f".{self.name}.{module}", __package__), name)


#: The procedures by their names in a manifest.
PROCEDURES = {
    "distant supervision": Procedure("papers"),
    "perturbation of conclusions": Procedure("abstracts"),
    "sampling of patterns": Procedure("patterns"),
}


def get_procedure(name: str) -> Procedure:
    """Return the procedure of a name: ``papers``, ``abstracts`` or ``patterns``."""
    return next(one for one in PROCEDURES.values() if one.name == name)


def declared_builder(
    found: Mapping[str, Any] | Declaration,
    rows: Rows | None = None,
    construction: Mapping[str, Any] | None = None,
) -> type[NLIBuilder]:
    """Return the builder of a dataset that somebody makes, or has made, by a procedure.

    Args:
        found: What the dataset declares, as a manifest has it or before it is written there.
        rows: The rows of a dataset that is being made; None where it is made already.
        construction: What was read, kept and dropped, where it is being made.

    Raises:
        VerificationError: The declaration is malformed, or of an unknown procedure.
    """
    declaration = found if isinstance(found, Declaration) else _parse(found)
    spec = declaration.spec()

    def make_rows(cls: type[NLIBuilder], options: BuildOptions) -> Rows:
        if rows is None:
            raise UsageError(
                f"{spec.name} was made by its maker from material of their own; this package "
                "cannot build it by name."
            )
        return rows

    return type(
        "".join(part.title() for part in spec.name.split("_")),
        (declaration.BUILDER,),
        {
            "__module__": __name__,
            "SPEC": spec,
            "DECLARATION": declaration.as_json(),
            "CONSTRUCTION": construction or {},
            "construction_blocks": staticmethod(declaration.card_blocks),
            "make_rows": classmethod(make_rows),
        },
    )


def _parse(found: Mapping[str, Any]) -> Declaration:
    procedure = str(found.get("procedure"))
    if procedure not in PROCEDURES:
        raise VerificationError(
            f"The manifest names the procedure {procedure!r}; expected {' or '.join(PROCEDURES)}. "
            "Was it made by a newer nlihub?"
        )
    try:
        declaration = PROCEDURES[procedure].declaration.parse(found)
        declaration.spec()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VerificationError(f"The manifest's declaration is malformed: {error!r}.") from error
    return declaration
