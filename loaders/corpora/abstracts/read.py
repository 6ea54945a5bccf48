"""Reads files of annotated abstracts; the format is told by what is in a file.

The files may be compressed (gzip, bzip2, xz, Zstandard), and may be tar archives, as those of
PubTator's whole collection are. JSON is one value a line, or one a file: a document of BioC, a
collection of them (``{"PubTator3": [...]}``, ``{"documents": [...]}`` or a list), or a record of a
mechanism. A file that is one value is read whole; one of lines, a line at a time.

There are libraries for these formats. ``bioc`` (2.1, August 2023) reads all three, but brings
``docopt``, ``intervaltree``, ``jsonlines``, ``lxml`` and ``tqdm``, has no types, stops at the first
malformed line, and does not compare offsets with the text. ``pubtator-loader`` (2021) is under the
GPL and needs spaCy 3.0.5; ``bconv`` (2023) needs nltk and lxml below 5. None tells lines.
"""

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from ...errors import MAX_RECORD_BYTES, RecordError, too_large
from ..papers.files import printable
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
from .abstract import Abstract, Read, Skipped
from .bioc import COLLECTION_KEYS, DOCUMENT_KEY, read_bioc_xml, read_document
from .mechanism_records import KEY, MechanismRecord, read_record, record_pmid
from .pubtator import FIRST_LINE, read_pubtator

#: What is read, for who gives a folder without any.
FORMATS = "abstracts: expected PubTator, BioC or JSON Lines"
_UTF_16_XML = (b"\xff\xfe<\0", b"\xfe\xff\0<")


def read_abstracts(paths: Iterable[Path]) -> Iterator[Abstract | MechanismRecord | Skipped]:
    """Read files of abstracts in PubTator's format or BioC, and of records of mechanisms.

    Args:
        paths: The files; what is in them tells the format, whatever their names.

    Yields:
        The abstracts and records in the order of the files, each followed by what was left out of
        it; in their places what is wrong with those that cannot be read. Nothing that is in a file
        raises an error. Of several of one pmid the first is read; the pmids are kept in memory.
    """
    seen: dict[str, str] = {}
    for path in paths:
        for unit, skipped in _read_file(path):
            if not isinstance(unit, Skipped):
                if (before := seen.get(unit.pmid)) is not None:
                    yield _twice(unit, before)
                    continue
                seen[unit.pmid] = f"{unit.file}:{unit.line}" if unit.line else unit.file
            yield unit
            yield from skipped


def _twice(unit: Abstract | MechanismRecord, before: str) -> Skipped:
    kind = "abstract" if isinstance(unit, Abstract) else "record"
    return Skipped(unit.file, unit.line, unit.pmid, kind, "pmid twice", f"first read from {before}")


def _read_file(path: Path) -> Iterator[Read]:
    name = printable(str(path))
    try:
        stream = open_plain(path)
    except OSError as error:
        yield _refused(unreadable(error), name)
    else:
        yield from _read_stream(stream, name, is_member=False)


def _read_stream(stream: IO[bytes], name: str, *, is_member: bool) -> Iterator[Read]:
    try:
        with stream:
            yield from _read_content(stream, name, is_member)
    except RecordError as error:
        yield _refused(error, name)
    except UNREADABLE as error:
        yield _refused(unreadable(error), name)


def _refused(error: RecordError, name: str) -> Read:
    return Read(Skipped(name, error.line, None, "file", error.reason, error.detail), [])


def _read_content(stream: IO[bytes], name: str, is_member: bool) -> Iterator[Read]:
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


def _read_archive(stream: IO[bytes], name: str) -> Iterator[Read]:
    for member, content in read_members(stream):
        member_name = f"{name}/{printable(member)}"
        if content is None:
            yield _refused(RecordError("unreadable", "a link inside an archive"), member_name)
        else:
            yield from _read_stream(content, member_name, is_member=True)


def _read_json(stream: IO[bytes], file: str) -> Iterator[Read]:
    """Read the documents and records of a file.

    It has a value a line where its name says so, or where its first line ends with ``}`` and has
    another after it; else it is one value.

    Args:
        stream: The file.
        file: What it is called.

    Yields:
        The abstracts and records in the order of the file, with what was left out of each.
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


def _read_value(text: bytes | RecordError, file: str, line: int) -> Iterator[Read]:
    unit = "record" if line else "file"
    try:
        if isinstance(text, RecordError):
            raise text
        value = _parse(text)
    except RecordError as error:
        yield Read(Skipped(file, line or error.line, None, unit, error.reason, error.detail), [])
        return
    for item in _items(value):
        yield _read_item(item, file, line)


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise RecordError("malformed", f"no JSON: {error}", error.lineno) from None


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        for key in COLLECTION_KEYS:
            if isinstance(value.get(key), list):
                return list(value[key])
    return value if isinstance(value, list) else [value]


def _read_item(item: Any, file: str, line: int) -> Read:
    if isinstance(item, dict) and DOCUMENT_KEY in item:
        return read_document(item, file, line)
    if isinstance(item, dict) and KEY in item:
        try:
            return Read(read_record(item, file, line), [])
        except RecordError as error:
            entry = Skipped(file, line, record_pmid(item), "record", error.reason, error.detail)
            return Read(entry, [])
    got = f"an object with {', '.join(map(repr, item))}" if isinstance(item, dict) else repr(item)
    detail = f"expected an object with {DOCUMENT_KEY!r} or {KEY!r}, got {got:.200}"
    return Read(Skipped(file, line, None, "record", "unknown format", detail), [])
