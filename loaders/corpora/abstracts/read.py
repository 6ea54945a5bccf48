"""Read files of annotated abstracts, whose format shows in their content.

The files may be compressed (gzip, bzip2, xz, Zstandard), and may be tar archives, as those of
PubTator's whole collection are. JSON is one value a line, or one a file: a document of BioC, a
collection of them (``{"PubTator3": [...]}``, ``{"documents": [...]}`` or a list), or a record of a
mechanism. A file that is one value is read whole; one of lines, a line at a time.

Of the libraries for these formats, ``bioc`` (2.1, August 2023) brings five others, has no types,
stops at the first malformed line, and does not compare offsets with the text; ``pubtator-loader``
(2021) is under the GPL and needs spaCy 3.0.5; ``bconv`` (2023) needs nltk and lxml below 5. None
reports lines.
"""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from ...bounds import MAX_RECORD_BYTES, too_large
from ...errors import RecordError
from ...json_text import parse_record
from ..papers.files import PaperFile, printable
from ..papers.json_papers import are_lines_by_name
from ..streams import (
    UNREADABLE,
    decompress,
    is_archive,
    number_lines,
    open_plain,
    peek,
    read_members,
    unreadable,
)
from .abstract import Abstract, ReadUnit, SkippedAbstract
from .bioc import COLLECTION_KEYS, DOCUMENT_KEY, read_bioc_document, read_bioc_xml
from .mechanism_records import KEY, MechanismRecord, read_mechanism_record, record_pmid
from .pubtator import FIRST_LINE, PubTatorPart, read_pubtator

#: The formats, for the error on a folder without a file of them.
FORMATS = "abstracts: expected PubTator, BioC or JSON Lines"
_UTF_16_XML = (b"\xff\xfe<\0", b"\xfe\xff\0<")


def read_abstracts(paths: Iterable[Path]) -> Iterator[Abstract | MechanismRecord | SkippedAbstract]:
    """Read files of abstracts in PubTator's format or BioC, and of records of mechanisms.

    Args:
        paths: The files; their content gives the format, whatever their names.

    Yields:
        The abstracts and records in the order of the files, each followed by its parts that were
        left out, or why it was not read; no content of a file raises an error. Of several of one
        pmid the first is read; the pmids are kept in memory.
    """
    seen: dict[str, str] = {}
    for path in paths:
        for unit, skipped in read_units(path):
            if not isinstance(unit, SkippedAbstract):
                if (before := seen.get(unit.pmid)) is not None:
                    kind = "abstract" if isinstance(unit, Abstract) else "record"
                    error = RecordError("pmid twice", f"first read from {before}")
                    yield ReadUnit.refused(error, unit.file, unit.line, unit.pmid, kind).unit
                    continue
                seen[unit.pmid] = f"{unit.file}:{unit.line}" if unit.line else unit.file
            yield unit
            yield from skipped


def cut_file(file: PaperFile, part_bytes: int) -> list[PaperFile]:
    """Cut a file of abstracts into parts that several processes can read; see ``read_part``.

    A large file in PubTator's format is cut where abstracts begin. Other files are one part: what
    is packed cannot be read from its middle, and the files of BioC are small, or in archives.

    Args:
        file: The file.
        part_bytes: Size of a part, in bytes.
    """
    if file.size <= part_bytes or not _is_plain_pubtator(file.path):
        return [file]
    parts = []
    n_lines = position = 0
    with file.path.open("rb") as stream:
        for start in range(0, file.size, part_bytes):
            end = min(start + part_bytes, file.size)
            n_lines += stream.read(max(0, start - 1) - position).count(b"\n")
            position = max(0, start - 1)
            parts.append(
                replace(file, start=start, end=end, size=end - start, n_lines_before=n_lines)
            )
    return parts


def _is_plain_pubtator(path: Path) -> bool:
    try:
        with open_plain(path) as stream:
            head = peek(stream)
    except OSError:  # reported when it is read
        return False
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    is_named_otherwise = is_archive(head) or are_lines_by_name(str(path))
    return not is_named_otherwise and FIRST_LINE.match(start) is not None


def read_part(file: PaperFile) -> Iterator[ReadUnit]:
    """Read a file of abstracts, or a part of one as ``cut_file`` gives it.

    The abstracts of all parts, in their order, are those of the file.

    Args:
        file: The file, or a part of it.

    Yields:
        The abstracts and records in the order of the file, those of one pmid too; no content of a
        file raises an error.
    """
    if file.end is None:
        yield from read_units(file.path)
        return
    name = printable(str(file.path))
    try:
        with open_plain(file.path) as stream:
            part = PubTatorPart(stream, file.start, file.end)
            first = file.n_lines_before + part.n_lines_skipped + 1
            yield from read_pubtator(number_lines(part, first=first), name)
    except UNREADABLE as error:
        yield ReadUnit.refused(unreadable(error), name, 0)


def read_units(path: Path) -> Iterator[ReadUnit]:
    """Read a file of abstracts; see ``read_part``."""
    name = printable(str(path))
    try:
        stream = open_plain(path)
    except OSError as error:
        yield ReadUnit.refused(unreadable(error), name, 0)
    else:
        yield from _read_stream(stream, name, is_member=False)


def _read_stream(stream: IO[bytes], name: str, *, is_member: bool) -> Iterator[ReadUnit]:
    try:
        with stream:
            yield from _read_content(stream, name, is_member)
    except RecordError as error:
        yield ReadUnit.refused(error, name, error.line)
    except UNREADABLE as error:
        yield ReadUnit.refused(unreadable(error), name, 0)


def _read_content(stream: IO[bytes], name: str, is_member: bool) -> Iterator[ReadUnit]:
    stream = decompress(stream) or stream
    head = peek(stream)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if is_archive(head):
        if is_member:
            raise RecordError(
                "unknown format", "an archive inside an archive: unpack the outer one"
            )
        yield from _read_archive(stream, name)
    elif head.startswith(_UTF_16_XML) or start.startswith(b"<"):
        yield from read_bioc_xml(stream, name)
    elif start.startswith((b"{", b"[")) or are_lines_by_name(name):
        yield from _read_json(stream, name)
    elif FIRST_LINE.match(start):
        yield from read_pubtator(number_lines(stream), name)
    else:
        got = f"begins with {head[:20]!r}" if head else "is empty"
        raise RecordError("unknown format", f"expected PubTator, BioC XML or JSON; the file {got}")


def _read_archive(stream: IO[bytes], name: str) -> Iterator[ReadUnit]:
    for member, content in read_members(stream):
        member_name = f"{name}/{printable(member)}"
        if content is None:
            error = RecordError("unreadable", "a link inside an archive")
            yield ReadUnit.refused(error, member_name, 0)
        else:
            yield from _read_stream(content, member_name, is_member=True)


def _read_json(stream: IO[bytes], file: str) -> Iterator[ReadUnit]:
    """Read the documents and records of a JSON file.

    It has a value a line where its name says so, or where its first line ends with ``}`` and has
    another after it; else it is one value.
    """
    first = stream.readline(MAX_RECORD_BYTES + 1)
    second = stream.readline(MAX_RECORD_BYTES + 1) if first.rstrip().endswith(b"}") else b""
    if are_lines_by_name(file) or second.strip():
        already_read = [line for line in (first, second) if line]
        for number, line in number_lines(stream, *already_read):
            yield from _read_value(line, file, number)
        return
    value = first + second + stream.read(MAX_RECORD_BYTES + 1)
    is_whole = len(value) <= MAX_RECORD_BYTES
    yield from _read_value(
        value.removeprefix(codecs.BOM_UTF8) if is_whole else too_large(), file, 0
    )


def _read_value(text: bytes | RecordError, file: str, line: int) -> Iterator[ReadUnit]:
    unit = "record" if line else "file"
    try:
        if isinstance(text, RecordError):
            raise text
        value = parse_record(text)
    except RecordError as error:
        yield ReadUnit.refused(error, file, line or error.line, None, unit)
        return
    for item in _items(value):
        yield _read_item(item, file, line)


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        for key in COLLECTION_KEYS:
            if isinstance(value.get(key), list):
                return list(value[key])
    return value if isinstance(value, list) else [value]


def _read_item(item: Any, file: str, line: int) -> ReadUnit:
    if isinstance(item, dict) and DOCUMENT_KEY in item:
        return read_bioc_document(item, file, line)
    if isinstance(item, dict) and KEY in item:
        try:
            return ReadUnit(read_mechanism_record(item, file, line))
        except RecordError as error:
            return ReadUnit.refused(error, file, line, record_pmid(item), "record")
    got = f"an object with {', '.join(map(repr, item))}" if isinstance(item, dict) else repr(item)
    detail = f"expected an object with {DOCUMENT_KEY!r} or {KEY!r}, got {got:.200}"
    refused = RecordError("unknown format", detail)
    return ReadUnit.refused(refused, file, line, None, "record")
