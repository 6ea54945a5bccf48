"""Builders of datasets that people make by a procedure of this package, from their manifest."""

from collections.abc import Mapping
from typing import Any

from ...loaders.errors import UsageError, VerificationError
from ..core.base import NLIBuilder, Rows
from ..core.options import BuildOptions
from ..core.spec import DatasetSpec
from .abstracts.declaration import PROCEDURE as PERTURBATION
from .abstracts.declaration import AbstractDeclaration
from .papers.declaration import PROCEDURE as DISTANT_SUPERVISION
from .papers.declaration import PaperDeclaration

#: What reads the declaration of a dataset, by the procedure that made it.
_DECLARATIONS: Mapping[str, type[PaperDeclaration] | type[AbstractDeclaration]] = {
    DISTANT_SUPERVISION: PaperDeclaration,
    PERTURBATION: AbstractDeclaration,
}


def _read(fields: Mapping[str, Any]) -> DatasetSpec:
    procedure = str(fields.get("procedure"))
    if procedure not in _DECLARATIONS:
        raise VerificationError(
            f"The manifest names the procedure {procedure!r}; expected "
            f"{' or '.join(_DECLARATIONS)}. Was it made by a newer nlihub?"
        )
    try:
        return _DECLARATIONS[procedure].parse(fields).spec()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VerificationError(f"The manifest's declaration is malformed: {error!r}.") from error


def declared_builder(
    declaration: Mapping[str, Any],
    rows: Rows | None = None,
    construction: Mapping[str, Any] | None = None,
) -> type[NLIBuilder]:
    """A builder of a dataset that somebody has made.

    Args:
        declaration: What the dataset declares, as a manifest has it.
        rows: Its rows, where it is being made; None where it is made already.
        construction: What was read, kept and dropped, where it is being made.

    Returns:
        A builder that knows all of it, and makes it if rows are given.

    Raises:
        VerificationError: The declaration is malformed, or of a procedure that this package has
            not.
    """
    spec = _read(declaration)

    def make_rows(cls: type[NLIBuilder], options: BuildOptions) -> Rows:
        if rows is None:
            raise UsageError(f"{spec.name} is somebody's own; this package cannot make it.")
        return rows

    return type(
        "".join(part.title() for part in spec.name.split("_")),
        (NLIBuilder,),
        {
            "__module__": __name__,
            "SPEC": spec,
            "DECLARATION": declaration,
            "CONSTRUCTION": construction or {},
            "make_rows": classmethod(make_rows),
        },
    )
