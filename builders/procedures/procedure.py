"""The shape of every procedure: a recipe goes in; rows, a report and a declaration come out.

A procedure, such as ``papers``, is a folder beside this file with three modules: ``recipe.py`` has
the ``PapersRecipe``, ``declaration.py`` the ``PapersDeclaration``, and ``run.py`` the function
``run``, a ``RunProcedure``. The command with its options, the parameters in the manifest and the
card's blocks follow.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from cyclopts import Parameter

from ...loaders.errors import UsageError, VerificationError
from ...loaders.paths import local_path
from ...loaders.progress import Tell
from ..core.base import NLIBuilder, Rows
from ..core.markdown import markdown_table
from ..core.options import BuildOptions
from ..core.schema import is_name
from ..core.spec import DatasetSpec
from ..dataflow.report import ConstructionReport
from . import PROCEDURES


@dataclass(frozen=True)
class Declared:
    """What the maker of a dataset says of it, filled in where the maker says nothing.

    Attributes:
        name: The name, snake_case.
        pretty_name: The name in prose.
        license: Identifier of the licence; ``other`` where it is that of the material.
        copyright: The line that the licence asks to keep.
        citation: BibTeX.
        language: Code of the language.
    """

    name: str
    pretty_name: str
    license: str
    copyright: str
    citation: str
    language: str

    def __post_init__(self) -> None:
        if not is_name(self.name):
            raise UsageError(
                f"The name of a dataset is {self.name!r}; expected small letters, digits and _."
            )
        if re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", self.language) is None:
            raise UsageError(f"The language is {self.language!r}; expected a code, such as en.")


@Parameter(name="*", group="About the dataset")
@dataclass(frozen=True)
class About:
    """What its maker says of a dataset, apart from its name."""

    pretty_name: str | None = None
    """Name in prose; by default, the name with capitals and spaces."""
    license: str = "other"
    """Licence: apache-2.0, mit, cc-by-4.0, cc-by-sa-4.0, or other (as the sources)."""
    copyright: str | None = None
    """Copyright line of the licence; by default, it names the authors of the sources."""
    citation: Path | None = None
    """BibTeX file; by default, an entry that cites the procedure."""
    language: str = "en"
    """Language code."""

    def declare(self, name: str, material: str, credit: str) -> Declared:
        """Return the dataset's metadata, with defaults for whatever its maker leaves out.

        Args:
            name: Name of the dataset, snake_case.
            material: What the dataset is made from: "the papers" in "the authors of the papers".
            credit: The paper that describes the procedure, in BibTeX.

        Raises:
            UsageError: The name or language is invalid, or the citation file cannot be read.
        """
        title = self.pretty_name or name.replace("_", " ").title()
        holders = self.copyright or f"Copyright the authors of {material}"
        if self.citation is not None:
            try:
                citation = local_path(self.citation).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise UsageError(f"{self.citation} cannot be read: {error}") from error
        else:
            note = f"Made with nlihub, by the procedure of {credit}"
            key = name.replace("_", "-")
            citation = f"@misc{{{key},\n  title = {{{title}}},\n  note = {{{note}}}\n}}\n"
        return Declared(name, title, self.license, holders, citation, self.language)


def check_domain(domain: str) -> None:
    """Refuse a domain of a recipe that is not a name.

    Raises:
        UsageError: The domain has other characters than small letters, digits and ``_``.
    """
    if not is_name(domain):
        raise UsageError(f"The domain is {domain!r}; expected small letters, digits and _.")


@Parameter(name="*")
@dataclass(frozen=True)
class Recipe:
    """What the rows of a procedure depend on, besides the material that they are made from."""

    seed: Annotated[int, Parameter(group="Random choices")] = 1
    """Random seed."""

    def parameters(self) -> Mapping[str, Any]:
        """Return the recipe as plain values, for the manifest."""
        raise NotImplementedError


@dataclass(frozen=True)
class Declaration:
    """What a dataset declares that somebody makes by a procedure.

    Attributes:
        declared: What its maker says of it.

    Class attributes:
        PROCEDURE: Name of the procedure.
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
            ValueError: A field is unknown.
        """
        given = {field.name: found[field.name] for field in fields(cls)}
        if unknown := sorted(found.keys() - given.keys() - {"procedure"}):
            raise ValueError(f"unknown fields: {', '.join(unknown)}")
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
        }
        return cls(**values | {"declared": Declared(**found["declared"])})

    def card_blocks(self, construction: Mapping[str, Any]) -> dict[str, str]:
        """Return the blocks of the card on how the dataset was made, by name.

        Args:
            construction: The counts of the report, as the manifest has them; empty gives no block.
        """
        if not construction:
            return {}
        probe = construction.get("probe")
        return {
            "annotation": construction["annotation"],
            "probe": "\n\n".join(show_probe(probe)) if probe else "",
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
        """Return the ``DatasetSpec`` fields that the procedure decides, rather than the maker.

        They are summary, labels, domains, categories, group, metrics, configs, extra, meanings,
        paper, card, creation and changes.
        """
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


#: The function ``run`` of a procedure, which makes a dataset of files; its rows are there while the
#: block runs. It gets the files and folders of the material; the recipe, of the procedure's own
#: kind; what the maker says of the dataset; what to make, the number of processes, and where
#: working files are kept; and what takes a line on each step. It raises an ``NLIHubError`` where
#: there is no file, or the material gives no dataset or is malformed.
RunProcedure = Callable[
    [Sequence[Path], Any, Declared, BuildOptions, Tell], AbstractContextManager[Construction]
]


def show_probe(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paragraphs of a card on how much of the labels the hypotheses alone give away.

    Args:
        found: The record of the probe, as a manifest has it.
    """
    yield "## Is the label in the hypothesis?"
    if "unmeasured" in found:
        yield f"Not measured on `{found['config']}`: {found['unmeasured']}."
        return
    value, interval, chance = found["macro_f1"]
    between = f" ({interval[0]} to {interval[1]})" if interval else ""
    yield (
        f"A linear classifier that sees the words of the hypothesis alone comes to a macro-F1 of\n"
        f"{value}{between} on {found['rows']:,} rows of `{found['config']}`; guessing gives "
        f"{chance}. By label and\ncategory, the share that it gets right, and how often it guesses "
        "the same of rows of other labels:"
    )
    rows = [
        [f"`{part}`", f"{n_rows:,}", f"{right}", f"{of_others}"]
        for kind in ("labels", "categories")
        for part, (n_rows, right, of_others) in found[kind].items()
    ]
    yield markdown_table(["rows of", "number", "right %", "of others %"], rows)


def find(procedure: str, what: str) -> Any:
    """Return a part of a procedure, whose module is imported only now.

    Args:
        procedure: Name of the procedure.
        what: ``recipe`` or ``declaration``, for the class, or ``run``, for the function.
    """
    module = import_module(f".{procedure}.{what}", __package__)
    return getattr(module, what if what == "run" else f"{procedure.title()}{what.title()}")


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
        spec.name.title().replace("_", ""),
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
        declaration: Declaration = find(procedure, "declaration").parse(found)
        declaration.spec()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VerificationError(f"The manifest's declaration is malformed: {error!r}.") from error
    return declaration
