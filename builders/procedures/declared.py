"""What the maker of a dataset says of it, by whatever procedure it is made."""

import re
from dataclasses import dataclass

from ...loaders.errors import UsageError


@dataclass(frozen=True)
class Declared:
    """What the maker of a dataset says of it.

    Attributes:
        name: Its name, snake_case.
        pretty_name: Its name in prose.
        license: Identifier of its licence; ``other`` where it is to be asked of the papers.
        copyright: The line that the licence asks to keep.
        citation: BibTeX.
        language: Code of its language.
    """

    name: str
    pretty_name: str
    license: str
    copyright: str
    citation: str
    language: str

    def __post_init__(self) -> None:
        if re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", self.language) is None:
            raise UsageError(f"{self.language!r} is no code of a language, such as en.")
