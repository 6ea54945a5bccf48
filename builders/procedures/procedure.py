"""The shape of every procedure: a recipe goes in; rows, a report and a declaration come out.

A procedure, such as ``papers``, is a folder beside this file with three modules: ``recipe.py`` has
the ``PapersRecipe``, ``declaration.py`` the ``PapersDeclaration``, and ``run.py`` the function
``run``, a ``RunProcedure``. ``registry.py`` names it; everything else follows: the Python function,
the command with its options, the parameters in the manifest, the card's blocks.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Protocol, Self

from ...loaders.progress import Tell
from ..core.base import NLIBuilder, Rows
from ..core.options import BuildOptions
from ..core.spec import DatasetSpec
from ..dataflow.report import ConstructionReport
from .about import Declared
from .option_groups import Option, OptionGroup
from .probe_block import probe_block


@dataclass(frozen=True)
class Recipe(OptionGroup):
    """What the rows of a procedure depend on, besides the material that they are made from."""

    seed: Annotated[int, Option("Decides every random choice.", "Random choices")] = 1

    def parameters(self) -> Mapping[str, Any]:
        """Return the recipe as plain values, for the manifest."""
        raise NotImplementedError


@dataclass(frozen=True)
class Declaration:
    """What a dataset declares that somebody makes by a procedure.

    Attributes:
        declared: What its maker says of it.

    Class attributes:
        PROCEDURE: Name of the procedure in a manifest.
        MATERIAL: What the dataset is made from, as in "the authors of the papers".
        CREDIT: The paper of the procedure, in BibTeX.
        BUILDER: The base of its builder, which says how its card breaks labels down.
    """

    PROCEDURE: ClassVar[str]
    MATERIAL: ClassVar[str]
    CREDIT: ClassVar[str]
    BUILDER: ClassVar[type[NLIBuilder]] = NLIBuilder

    declared: Declared

    def as_json(self) -> Mapping[str, Any]:
        """Return the declaration as plain values, for the manifest."""
        return {"procedure": self.PROCEDURE, **asdict(self)}

    @classmethod
    def parse(cls, found: Mapping[str, Any]) -> Self:
        """Read what ``as_json`` gives.

        Raises:
            KeyError: A field is missing.
            TypeError: One is of another type.
        """
        values: dict[str, Any] = {}
        for field in fields(cls):
            if field.name not in found and field.default is not MISSING:
                continue  # a field that earlier versions of the package did not have
            value = found[field.name]
            values[field.name] = tuple(value) if isinstance(value, list) else value
        return cls(**values | {"declared": Declared(**found["declared"])})

    def card_blocks(self, construction: Mapping[str, Any]) -> dict[str, str]:
        """Return the blocks of the card on how the dataset was made, by name.

        Args:
            construction: The counts of the report, as the manifest has them; empty gives no block.
        """
        if not construction:
            return {}
        return {
            "annotation": construction["annotation"],
            "probe": probe_block(construction.get("probe", {})),
            **self.count_blocks(construction),
        }

    def count_blocks(self, construction: Mapping[str, Any]) -> dict[str, str]:
        """Return the blocks of the card that show the counts of a report, by name."""
        raise NotImplementedError

    def spec(self) -> DatasetSpec:
        """Return the declaration of the dataset.

        Raises:
            SchemaError: The name, a domain or the licence is not valid.
        """
        return DatasetSpec(
            name=self.declared.name,
            pretty_name=self.declared.pretty_name,
            version="1.0.0",
            license=self.declared.license,
            copyright=self.declared.copyright,
            citation=self.declared.citation,
            homepage=None,
            offline=False,
            origins=("construct",),
            language=self.declared.language,
            is_own=True,
            **self.spec_fields(),
        )

    def spec_fields(self) -> dict[str, Any]:
        """Return the fields of ``spec`` that the procedure decides, not the maker."""
        raise NotImplementedError


@dataclass(frozen=True)
class Construction:
    """A dataset that a procedure is making.

    Attributes:
        rows: Its rows.
        report: What was read, kept and dropped.
        declaration: What it declares.
        share: The share of the material that was read; below 1 for a sample.
    """

    rows: Rows
    report: ConstructionReport
    declaration: Declaration
    share: float = 1.0


class RunProcedure(Protocol):
    """The function ``run`` of a procedure, which makes a dataset."""

    def __call__(
        self,
        paths: Sequence[Path],
        recipe: Any,
        declared: Declared,
        options: BuildOptions,
        tell: Tell,
    ) -> AbstractContextManager[Construction]:
        """Make a dataset from files; its rows are there while the block runs.

        Args:
            paths: The files and folders of the material.
            recipe: How to make it, of the procedure's own kind.
            declared: What its maker says of it.
            options: What to make, the number of processes, and where working files are kept.
            tell: Takes a line on each step.

        Raises:
            SourceNotFoundError: There is no file.
            TooFewError: The material gives no dataset.
            NLIHubError: The material is malformed.
        """
        ...
