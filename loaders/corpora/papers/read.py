"""Read a file of papers in any format; its content tells which."""

import codecs
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from ...errors import RecordError
from ..safe_xml import parse_tree
from ..streams import UNREADABLE, decompress, is_archive, open_plain, peek, read_members, unreadable
from .files import PaperFile, is_paper_name, printable
from .json_papers import are_lines_by_name, read_json
from .paper import Paper, SkippedPaper, SplitSentences, id_from_name, read_each, skip
from .plain import read_parquet_records, read_plain
from .xml_papers import XML_READERS

_UTF_16_XML = (b"\xff\xfe<\0", b"\xfe\xff\0<")
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
    name = printable(str(file.path))
    try:
        stream = open_plain(file.path)
    except OSError as error:
        yield skip(unreadable(error), name, 0)
    else:
        yield from _read_stream(stream, name, split, file.path)


def _read_stream(
    stream: IO[bytes], name: str, split: SplitSentences, path: Path | None
) -> Iterator[Paper | SkippedPaper]:
    # ``path`` is None for a member of an archive.
    try:
        with stream:
            yield from _read_content(stream, name, split, path)
    except RecordError as error:
        yield skip(error, name, 0)
    except UNREADABLE as error:
        yield skip(unreadable(error), name, 0)
    except RecursionError:
        yield SkippedPaper(name, 0, "malformed", "elements inside elements, too many to follow")


def _read_content(
    stream: IO[bytes], name: str, split: SplitSentences, path: Path | None
) -> Iterator[Paper | SkippedPaper]:
    content = decompress(stream)
    is_plain_file = content is None and path is not None
    stream = content or stream
    head = peek(stream)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if not head:
        raise RecordError("no text", "the file is empty")
    if is_archive(head):
        if path is None:
            raise RecordError(
                "unknown format", "an archive inside an archive: unpack the outer one"
            )
        yield from _read_archive(stream, name, split)
    elif head.startswith(_PARQUET_MARK):
        if path is None or not is_plain_file:
            raise RecordError(
                "unknown format", "a Parquet file, compressed or in an archive: unpack it"
            )
        yield from read_each(read_parquet_records(path), partial(read_plain, split=split), name)
    elif head.startswith(_UTF_16_XML) or start.startswith(b"<"):
        if start.lower().startswith(_WEB_PAGES):
            raise RecordError("unknown format", "a web page")
        root = parse_tree(stream, XML_READERS)
        yield XML_READERS[root.tag](root, split).to_paper(name, 0, id_from_name(name))
    elif start.startswith((b"{", b"[")) or are_lines_by_name(name):
        yield from read_json(stream, name, id_from_name(name), split)
    else:
        known = (other for mark, other in _OTHER_FORMATS.items() if head.startswith(mark))
        raise RecordError("unknown format", next(known, f"begins with {head[:20]!r}"))


def _read_archive(
    stream: IO[bytes], name: str, split: SplitSentences
) -> Iterator[Paper | SkippedPaper]:
    is_empty = True
    for member, content in read_members(stream):
        if is_paper_name(member):
            is_empty = False
            member_name = f"{name}/{printable(member)}"
            if content is None:
                yield SkippedPaper(member_name, 0, "unreadable", "a link inside an archive")
            else:
                yield from _read_stream(content, member_name, split, None)
    if is_empty:
        raise RecordError("no text", "the archive holds no file that is taken for papers")
