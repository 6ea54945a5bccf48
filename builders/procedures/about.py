"""What the maker of a dataset says of it: name, licence, citation, language."""

import re
from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from ...loaders.errors import UsageError
from ...loaders.paths import local_path
from ..core.schema import is_name


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
    """Its name in prose; by default made of its name."""
    license: str = "other"
    """Its licence: apache-2.0, mit, cc-by-4.0, cc-by-sa-4.0 or other, that of the material."""
    copyright: str | None = None
    """The line that the licence asks to keep; by default names no person."""
    citation: Path | None = None
    """File with its BibTeX; by default an entry that cites the procedure."""
    language: str = "en"
    """Code of its language."""

    def declare(self, name: str, material: str, credit: str) -> Declared:
        """Return all that is said of the dataset, filled in where its maker says nothing.

        Args:
            name: Name of the dataset, snake_case.
            material: What the dataset is made from, as in "the authors of the papers".
            credit: The paper of the procedure, in BibTeX.

        Raises:
            UsageError: The name or the language is not valid, or the file cannot be read.
        """
        title = self.pretty_name or name.replace("_", " ").title()
        holders = self.copyright or f"Copyright the authors of {material}"
        if self.citation is not None:
            citation = _read(Path(self.citation))
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


def _read(path: Path) -> str:
    try:
        return local_path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
