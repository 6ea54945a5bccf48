"""Read a file of papers in any format; its content tells which."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...errors import RecordError
from ..files import Content, PaperFile, is_paper_name, read_contents, read_json_values
from ..safe_xml import XMLReader
from .json_papers import read_parquet_rows, read_record
from .paper import Paper, PaperContent, SkippedPaper, SplitSentences, id_from_name
from .xml_papers import XML_READERS, read_xml_paper

_PARQUET_MARK = b"PAR1"
_WEB_PAGES = (b"<!doctype html", b"<html")
_OTHER_FORMATS = {b"%PDF-": "a PDF", b"PK\x03\x04": "a zip archive", b"\x89PNG": "a picture"}


def read_papers(file: PaperFile, split: SplitSentences) -> Iterator[Paper | SkippedPaper]:
    """Read the papers of a file, one at a time.

    The file may be compressed (gzip, bzip2, xz, Zstandard), and may be a tar archive of papers
    that are compressed or not; members that ``is_paper_name`` excludes are passed over.

    Args:
        file: The file; its content tells the format, whatever its name.
        split: Cuts paragraphs into sentences where the file does not mark them.

    Yields:
        The papers in the order of the file, and in its place what is wrong with one that cannot be
        read: no content of a file raises an error.
    """

    def refuse(error: RecordError, name: str) -> SkippedPaper:
        return SkippedPaper(name, error.line, error.reason, error.detail)

    read = partial(_read_content, split=split)
    yield from read_contents(file.path, read, refuse, is_paper_name)


def _read_content(content: Content, split: SplitSentences) -> Iterator[Paper | SkippedPaper]:
    head, name = content.head, content.name
    read: Callable[[Any, SplitSentences], PaperContent] = read_record
    values: Iterator[tuple[int, Any]]
    if not head:
        raise RecordError("no text", "the file is empty")
    if head.startswith(_PARQUET_MARK):
        if content.path is None:
            detail = "a Parquet file, compressed or in an archive: unpack it"
            raise RecordError("unknown format", detail)
        values = read_parquet_rows(content.path)
    elif content.is_xml:
        if head.lstrip().lower().startswith(_WEB_PAGES):
            raise RecordError("unknown format", "a web page")
        values = ((0, root) for root in XMLReader(content.stream, XML_READERS))
        read = read_xml_paper
    elif content.is_json:
        values = read_json_values(content)
    else:
        known = (other for mark, other in _OTHER_FORMATS.items() if head.startswith(mark))
        raise RecordError("unknown format", next(known, f"begins with {head[:20]!r}"))
    for line, value in values:
        try:
            if isinstance(value, RecordError):
                raise value
            default_id = None if line else id_from_name(name)
            yield read(value, split).to_paper(name, line, default_id)
        except RecordError as error:
            yield SkippedPaper(name, line or error.line, error.reason, error.detail)
