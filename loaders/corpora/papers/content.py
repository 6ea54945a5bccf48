"""What a file tells about a paper, and the paper that comes of it."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from .ids import year_of_anthology_id
from .paper import Paper, Section, Skipped
from .skips import PaperError

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


def skip(error: PaperError, file: str, line: int) -> Skipped:
    """The report of a paper that cannot be read.

    Args:
        error: Why; its own line goes before the other.
        file: The file, as the user named it.
        line: The line of the paper.
    """
    return Skipped(file, error.line or line, error.reason, error.detail)


def read_each(
    records: Iterator[tuple[int, Record | PaperError]],
    read: Callable[[Record], Content],
    file: str,
) -> Iterator[Paper | Skipped]:
    """Reads the papers of a file that has one a line, or a row.

    Args:
        records: Number, from 1, and content of each line, or what is wrong with it.
        read: Reads a line; raises PaperError where it cannot.
        file: The file, as the user named it.
    """
    for number, record in records:
        try:
            if isinstance(record, PaperError):
                raise record
            content = read(record)
        except PaperError as error:
            yield Skipped(file, number, error.reason, error.detail)
        else:
            yield content.to_paper(file, number, None)
