"""Reads papers in JSON, in our plain form or that of S2ORC: one a line, or one a file.

JSON is UTF-8; a line or file that is not is malformed. Lines without a character that shows are
passed over.

S2ORC was released in three forms. 20190928 keeps a paper in ``grobid_parse`` (or ``latex_parse``)
beside its ``metadata``; 20200705 has ``abstract`` and ``body_text`` at the top and tells no year;
20210101 and its followers add ``metadata`` and ``back_matter``, which is no prose and left out.
Each entry of ``abstract`` and ``body_text`` is a paragraph; neighbours under one heading are a
section. Text stays as written.

Source: the samples of S2ORC's releases 20190928, 20200705 and 20210101.
"""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import PurePosixPath
from typing import IO, Any

import orjson

from ...errors import MAX_RECORD_BYTES, RecordError, too_large
from ..streams import number_lines
from . import plain
from .paper import (
    Content,
    Paper,
    Section,
    SkippedPaper,
    SplitSentences,
    id_told,
    read_each,
    year_told,
)
from .prose import is_back_matter

_BOM = b"\xef\xbb\xbf"
_LINE_ENDINGS = frozenset({".jsonl", ".ndjson"})
_PARSES = ("grobid_parse", "latex_parse")
#: A record with one of these keys is of S2ORC.
_S2ORC_KEYS = frozenset({"body_text", *_PARSES})


def are_lines_by_name(name: str) -> bool:
    """Whether a file is named as one of JSON lines: ``a.jsonl``, ``a.ndjson.gz``."""
    return not _LINE_ENDINGS.isdisjoint(PurePosixPath(name.lower()).suffixes)


def read_json(
    stream: IO[bytes], file: str, id_of_file: str, split: SplitSentences
) -> Iterator[Paper | SkippedPaper]:
    """Read a file of JSON.

    It has a paper a line where its name says so, or where its first line ends with ``}`` and has
    another after it; else it is one paper.

    Args:
        stream: The file.
        file: What it is called.
        id_of_file: What its paper is called where it is one that tells no id.
        split: Cuts texts into sentences.

    Yields:
        The papers, and what is wrong with those that cannot be read.

    Raises:
        RecordError: The file is one paper, and cannot be read.
    """
    if are_lines_by_name(file):
        yield from read_each(number_lines(stream), partial(_read, split=split), file)
        return
    first = stream.readline(MAX_RECORD_BYTES + 1)
    second = stream.readline(MAX_RECORD_BYTES + 1) if first.rstrip().endswith(b"}") else b""
    if second.strip():
        lines = number_lines(stream, first, second)
        yield from read_each(lines, partial(_read, split=split), file)
        return
    document = first + second + stream.read(MAX_RECORD_BYTES + 1)
    if len(document) > MAX_RECORD_BYTES:
        raise too_large()
    yield _read(document.removeprefix(_BOM), split).to_paper(file, 0, id_of_file)


def _read(text: bytes, split: SplitSentences) -> Content:
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise RecordError("malformed", f"no JSON: {error}", error.lineno) from None
    if not isinstance(record, dict):
        got = type(record).__name__
        raise RecordError("malformed", f"expected a JSON object, got {got}")
    if not _S2ORC_KEYS.isdisjoint(record):
        return _read_s2orc(record, split)
    if not plain.KEYS.isdisjoint(record):
        return plain.read_plain(record, split)
    names = ", ".join(map(repr, record)) or "none"
    raise RecordError("unknown format", f"the keys of the object are {names:.200}")


def _read_s2orc(record: dict[str, Any], split: SplitSentences) -> Content:
    """Read a paper.

    Args:
        record: The JSON object of the paper.
        split: Cuts paragraphs into sentences.

    Raises:
        RecordError: A value is not of the type that the format has there.
    """
    metadata = _mapping(record, "metadata")
    parse = record
    if "body_text" not in record:
        parse = _mapping(record, _PARSES[0]) or _mapping(record, _PARSES[1])
    abstract = parse.get("abstract") or metadata.get("abstract") or []
    if isinstance(abstract, str):
        abstract = [{"text": abstract}]
    sections = [
        *_sections(abstract, "abstract", "Abstract", split),
        *_sections(parse.get("body_text") or [], "body_text", "", split),
    ]
    paper_id = id_told(record.get("paper_id"), "paper_id")
    return Content(paper_id, year_told(metadata.get("year")), None, sections)


def _mapping(record: dict[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key) or {}
    if not isinstance(value, dict):
        raise _type_error(key, "an object", value)
    return value


def _sections(entries: object, part: str, title: str, split: SplitSentences) -> Iterator[Section]:
    paragraphs = _paragraphs(entries, part, title)
    for heading, group in groupby(paragraphs, key=lambda paragraph: paragraph[0]):
        if not is_back_matter(heading):
            split_paragraphs = [sentences for _, text in group if (sentences := split(text))]
            if split_paragraphs:
                yield Section(heading, split_paragraphs)


def _paragraphs(entries: object, part: str, title: str) -> Iterator[tuple[str, str]]:
    if not isinstance(entries, list):
        raise _type_error(part, "a list", entries)
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise _type_error(f"{part}[{number}]", "an object", entry)
        text, heading = entry.get("text"), entry.get("section") or title
        if not isinstance(text, str):
            raise _type_error(f"{part}[{number}].text", "text", text)
        if not isinstance(heading, str):
            raise _type_error(f"{part}[{number}].section", "text", heading)
        yield heading, text


def _type_error(where: str, expected: str, value: object) -> RecordError:
    return RecordError("malformed", f"{where}: expected {expected}, got {type(value).__name__}")
