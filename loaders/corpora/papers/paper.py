"""The record that every reader of papers gives, and how one is made of what a file states."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ...errors import RecordError

#: Endings of file names that say how a paper is kept, not what it is called.
_ENDINGS = frozenset(
    [
        "bz2",
        "gz",
        "jats",
        "json",
        "jsonl",
        "ndjson",
        "nxml",
        "parquet",
        "tar",
        "tei",
        "tgz",
        "xml",
        "xz",
        "zst",
        "zstd",
    ]
)
_OLD_ANTHOLOGY_ID = re.compile(r"[A-Z]([0-9]{2})-[0-9]{4}")
_NEW_ANTHOLOGY_ID = re.compile(r"([0-9]{4})\.[a-z0-9_]+-[a-z0-9]+\.[0-9]+")
_FIRST_OLD_YEAR = 60  # the oldest papers of the Anthology are of the 1960s
_YEARS = range(1500, 2101)


def year_of_anthology_id(paper_id: str) -> int | None:
    """The year that the id of a paper in the ACL Anthology tells.

    Args:
        paper_id: Any id; ``P98-1046`` and ``2020.acl-main.207`` are the two forms of the Anthology.

    Returns:
        The year; None for an id that is not of the Anthology. Two digits from 60 on are of the
        20th century.

    Source: the Anthology's documentation of its ids.

    Example:
        >>> year_of_anthology_id("P98-1046"), year_of_anthology_id("W04-1013")
        (1998, 2004)
        >>> year_of_anthology_id("2020.acl-main.207")
        2020
    """
    if old := _OLD_ANTHOLOGY_ID.fullmatch(paper_id):
        digits = int(old[1])
        return digits + (1900 if digits >= _FIRST_OLD_YEAR else 2000)
    new = _NEW_ANTHOLOGY_ID.fullmatch(paper_id)
    return _plausible(int(new[1])) if new else None


def year_told(value: object) -> int | None:
    """The year that a value of a file tells.

    Args:
        value: A number, or a text that begins with four digits (``"2011-11"``).

    Returns:
        The year; None where the value tells none from 1500 to 2100.
    """
    if isinstance(value, str):
        digits = re.match(r"\s*([0-9]{4})(?![0-9])", value)
        return _plausible(int(digits[1])) if digits else None
    if isinstance(value, float) and value.is_integer():  # 2011.0: a column with nulls
        return _plausible(int(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return _plausible(value)
    return None


def _plausible(year: int) -> int | None:
    return year if year in _YEARS else None


def id_told(value: object, where: str) -> str | None:
    """The id that a value of a file tells.

    Args:
        value: A text, or a whole number, which is written out.
        where: What the value is called, for the message.

    Returns:
        The id; None where the value is none or blank.

    Raises:
        RecordError: The value is neither text nor number.
    """
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise RecordError("malformed", f"{where}: expected text, got {type(value).__name__}")
    return value if value.strip() else None


def id_of_file(name: str) -> str:
    """The id that the name of a file tells: the name without its folders and endings.

    Args:
        name: A path in POSIX form.

    Example:
        >>> id_of_file("acl/2020.acl-main.207.tei.xml.gz")
        '2020.acl-main.207'
    """
    stem = name.rpartition("/")[2]
    while True:
        shorter, _, ending = stem.rpartition(".")
        if not shorter or ending.lower() not in _ENDINGS:
            return stem
        stem = shorter


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
class SkippedPaper:
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

    def to_paper(self, file: str, line: int, id_of_file: str | None) -> Paper | SkippedPaper:
        """The paper, if it has an id and text.

        A year that the file does not tell is that of the id, if that is of the ACL Anthology.

        Args:
            file: The file that it was read from, as the user named it.
            line: Its line there, from 1; 0 where the file is one paper.
            id_of_file: What a paper without an id is called; None where the file has several.
        """
        paper_id = self.id or id_of_file
        if paper_id is None:
            return SkippedPaper(file, line, "malformed", "id: expected text, got none")
        if not self.sections:
            return SkippedPaper(
                file, line, "no text", f"the paper {paper_id!r:.80} has no sentence"
            )
        year = self.year or year_of_anthology_id(paper_id)
        return Paper(paper_id, year, self.domain, self.sections, file, line)


def skip(error: RecordError, file: str, line: int) -> SkippedPaper:
    """The report of a paper that cannot be read.

    Args:
        error: Why; its own line goes before the other.
        file: The file, as the user named it.
        line: The line of the paper.
    """
    return SkippedPaper(file, error.line or line, error.reason, error.detail)


def read_each(
    records: Iterator[tuple[int, Record | RecordError]],
    read: Callable[[Record], Content],
    file: str,
) -> Iterator[Paper | SkippedPaper]:
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
            yield SkippedPaper(file, number, error.reason, error.detail)
        else:
            yield content.to_paper(file, number, None)
