"""The record that every reader of papers gives, and how one is made of what a file states."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ...errors import RecordError
from .ids import year_of_anthology_id

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


Record = TypeVar("Record")


class Content(NamedTuple):
    """A paper, but for where it was read.

    Attributes:
        id: Its id, if the file tells one.
        year: Its year, if the file tells one.
        domain: Its field, if the file tells one.
        sections: Its sections in order; each has a paragraph.
    """

    id: str | None
    year: int | None
    domain: str | None
    sections: Sequence[Section]

    def to_paper(self, file: str, line: int, id_of_file: str | None) -> Paper | Skipped:
        """The paper, if it has an id and text.

        A year that the file does not tell is that of the id, if that is of the ACL Anthology.

        Args:
            file: The file that it was read from, as the user named it.
            line: Its line there, from 1; 0 where the file is one paper.
            id_of_file: What a paper without an id is called; None where the file has several.
        """
        paper_id = self.id or id_of_file
        if paper_id is None:
            return Skipped(file, line, "malformed", "id: expected text, got none")
        if not self.sections:
            return Skipped(file, line, "no text", f"the paper {paper_id!r:.80} has no sentence")
        year = self.year or year_of_anthology_id(paper_id)
        return Paper(paper_id, year, self.domain, self.sections, file, line)


def skip(error: RecordError, file: str, line: int) -> Skipped:
    """The report of a paper that cannot be read.

    Args:
        error: Why; its own line goes before the other.
        file: The file, as the user named it.
        line: The line of the paper.
    """
    return Skipped(file, error.line or line, error.reason, error.detail)


def read_each(
    records: Iterator[tuple[int, Record | RecordError]],
    read: Callable[[Record], Content],
    file: str,
) -> Iterator[Paper | Skipped]:
    """Read the papers of a file that has one a line, or a row.

    Args:
        records: Number, from 1, and content of each line, or what is wrong with it.
        read: Reads a line; raises RecordError where it cannot.
        file: The file, as the user named it.
    """
    for number, record in records:
        try:
            if isinstance(record, RecordError):
                raise record
            content = read(record)
        except RecordError as error:
            yield Skipped(file, number, error.reason, error.detail)
        else:
            yield content.to_paper(file, number, None)
