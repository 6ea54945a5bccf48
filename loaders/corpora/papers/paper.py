"""The record that every reader of papers gives."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: Cuts a paragraph into sentences; gives none that is empty.
SplitSentences = Callable[[str], list[str]]


class Section(NamedTuple):
    """A section of a paper.

    Attributes:
        title: Its heading; empty where it has none.
        paragraphs: Its paragraphs in order, each a list of one or more sentences. Where the file
            tells no paragraphs, the section is one.
    """

    title: str
    paragraphs: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Paper:
    """A full-text paper.

    Attributes:
        id: Its name in its corpus.
        year: When it was published; None where the file does not tell.
        domain: What field it is of; None where the file does not tell.
        sections: Its sections in order, the abstract first; each has a paragraph. Neither title of
            the paper nor captions, tables, footnotes and references are among them.
        file: The file that it was read from, as the user named it.
        line: Its line there, from 1; 0 where the file is one paper.
    """

    id: str
    year: int | None
    domain: str | None
    sections: Sequence[Section]
    file: str
    line: int

    def paragraphs(self) -> Iterator[Sequence[str]]:
        """All its paragraphs, in order."""
        for section in self.sections:
            yield from section.paragraphs


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a paper in it, that was not read.

    Attributes:
        file: The file, as the user named it.
        line: The line in it, from 1; 0 where it has none.
        reason: Why, one of ``REASONS``.
        detail: What exactly is wrong, expected against got.
    """

    file: str
    line: int
    reason: str
    detail: str


#: Why a file or a paper is not read.
REASONS = {
    "unknown format": "the content is none of the formats that are read",
    "malformed": "it is not well-formed, or not of the form of its format",
    "unreadable": "the file cannot be opened, or ends in the middle",
    "no text": "the paper has no sentence",
    "too large": "a file or line of one paper takes more bytes than are read of one",
}
