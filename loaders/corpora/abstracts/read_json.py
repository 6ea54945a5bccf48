"""Reads JSON: one value a line, or one a file.

A value is a document of BioC, a collection of them (``{"PubTator3": [...]}``,
``{"documents": [...]}`` or a list), or a record of a mechanism. A file that is one value is read
whole; one of lines, a line at a time.
"""

from collections.abc import Iterator
from typing import IO, Any

import orjson

from ..papers.json_papers import are_lines_by_name
from ..papers.skips import MAX_PAPER_BYTES, PaperError, too_large
from ..papers.streams import number_lines
from .annotations import Read
from .bioc import COLLECTION_KEYS, DOCUMENT_KEY, read_document
from .mechanism_records import KEY, read_record, record_pmid
from .skipped import Skipped

_BOM = b"\xef\xbb\xbf"


def read_json(stream: IO[bytes], file: str) -> Iterator[Read]:
    """Reads the documents and records of a file.

    It has a value a line where its name says so, or where its first line ends with ``}`` and has
    another after it; else it is one value.

    Args:
        stream: The file.
        file: What it is called.

    Yields:
        The abstracts and records in the order of the file, with what was left out of each.
    """
    first = stream.readline(MAX_PAPER_BYTES + 1)
    second = stream.readline(MAX_PAPER_BYTES + 1) if first.rstrip().endswith(b"}") else b""
    if are_lines_by_name(file) or second.strip():
        already_read = [line for line in (first, second) if line]
        for number, line in number_lines(stream, *already_read):
            yield from _read_value(line, file, number)
        return
    value = first + second + stream.read(MAX_PAPER_BYTES + 1)
    is_whole = len(value) <= MAX_PAPER_BYTES
    yield from _read_value(value.removeprefix(_BOM) if is_whole else too_large(), file, 0)


def _read_value(text: bytes | PaperError, file: str, line: int) -> Iterator[Read]:
    unit = "record" if line else "file"
    try:
        if isinstance(text, PaperError):
            raise text
        value = _parse(text)
    except PaperError as error:
        yield Read(Skipped(file, line or error.line, None, unit, error.reason, error.detail), [])
        return
    for item in _items(value):
        yield _read_item(item, file, line)


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise PaperError("malformed", f"no JSON: {error}", error.lineno) from None


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
        except PaperError as error:
            entry = Skipped(file, line, record_pmid(item), "record", error.reason, error.detail)
            return Read(entry, [])
    got = f"an object with {', '.join(map(repr, item))}" if isinstance(item, dict) else repr(item)
    detail = f"expected an object with {DOCUMENT_KEY!r} or {KEY!r}, got {got:.200}"
    return Read(Skipped(file, line, None, "record", "unknown format", detail), [])
