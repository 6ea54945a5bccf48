"""Read papers in JSON, in our plain form or that of S2ORC: one a line, or one a file.

JSON is UTF-8; a line or file that is not is malformed. Blank lines are passed over.

S2ORC was released in three forms. 20190928 keeps a paper in ``grobid_parse`` (or ``latex_parse``)
beside its ``metadata``; 20200705 has ``abstract`` and ``body_text`` at the top and states no year;
20210101 and its followers add ``metadata`` and ``back_matter``, which is not prose and left out.
Each entry of ``abstract`` and ``body_text`` is a paragraph; neighbours under one heading are a
section. Text stays as written.

The datasets API of Semantic Scholar serves a fourth: one text in ``content`` (``s2orc``) or
``body`` (``s2orc_v2``), with ``annotations`` whose values are lists of offsets in characters,
written as strings of JSON. Abstract, paragraphs and headings are taken from these. Such a paper is
called by its ``corpusid``, and states no year.

Source: the samples of S2ORC's releases 20190928, 20200705 and 20210101; the API's records.
"""

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import PurePosixPath
from typing import IO, Any

from ...bounds import MAX_RECORD_BYTES, is_whole_number, too_large
from ...errors import RecordError
from ...json_text import parse_record
from ..streams import number_lines
from . import plain
from .paper import (
    Content,
    Paper,
    Section,
    SkippedPaper,
    SplitSentences,
    parse_id,
    parse_year,
    read_each,
    wrong_type,
)
from .prose import collapse, is_back_matter

_BOM = b"\xef\xbb\xbf"
_LINE_ENDINGS = frozenset({".jsonl", ".ndjson"})
_PARSES = ("grobid_parse", "latex_parse")
#: A record with one of these keys is of S2ORC.
_S2ORC_KEYS = frozenset({"body_text", *_PARSES})
#: Where the datasets API puts the text and its annotations, and the name of those of headings.
_ANNOTATED = {"content": "sectionheader", "body": "section_header"}


def are_lines_by_name(name: str) -> bool:
    """Return whether a file is named as JSON lines: ``a.jsonl``, ``a.ndjson.gz``."""
    return not _LINE_ENDINGS.isdisjoint(PurePosixPath(name.lower()).suffixes)


def read_json(
    stream: IO[bytes], file: str, default_id: str, split: SplitSentences
) -> Iterator[Paper | SkippedPaper]:
    """Read papers in JSON, with what is wrong with those that cannot be read.

    A file has a paper a line where its name says so, or where its first line ends with ``}`` and
    another follows; else it is one paper.

    Args:
        stream: The file.
        file: The file, as the user named it.
        default_id: The id of a paper that is a file of its own and states none.
        split: Cuts texts into sentences.

    Raises:
        RecordError: The file is one paper, and cannot be read.
    """
    lines: list[bytes] = []
    if not are_lines_by_name(file):
        lines.append(stream.readline(MAX_RECORD_BYTES + 1))
        if lines[0].rstrip().endswith(b"}"):
            lines.append(stream.readline(MAX_RECORD_BYTES + 1))
        if not b"".join(lines[1:]).strip():
            document = b"".join(lines) + stream.read(MAX_RECORD_BYTES + 1)
            if len(document) > MAX_RECORD_BYTES:
                raise too_large()
            yield _read(document.removeprefix(_BOM), split).to_paper(file, 0, default_id)
            return
    yield from read_each(number_lines(stream, *lines), partial(_read, split=split), file)


def _read(text: bytes, split: SplitSentences) -> Content:
    record = parse_record(text)
    if not isinstance(record, dict):
        got = type(record).__name__
        raise RecordError("malformed", f"expected a JSON object, got {got}")
    if not _S2ORC_KEYS.isdisjoint(record):
        return _read_s2orc(record, split)
    for part in _ANNOTATED:
        if isinstance(record.get(part), dict) and "annotations" in record[part]:
            return _read_annotated(record, part, split)
    if not plain.KEYS.isdisjoint(record):
        return plain.read_plain(record, split)
    names = ", ".join(map(repr, record)) or "none"
    raise RecordError("unknown format", f"the keys of the object are {names:.200}")


def _read_s2orc(record: dict[str, Any], split: SplitSentences) -> Content:
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
    paper_id = parse_id(record.get("paper_id"), "paper_id")
    return Content(paper_id, parse_year(metadata.get("year")), None, sections)


def _read_annotated(record: dict[str, Any], part: str, split: SplitSentences) -> Content:
    text = record[part].get("text") or ""
    if not isinstance(text, str):
        raise wrong_type(f"{part}.text", "text", text)
    annotations = _mapping(record[part], "annotations")

    def spans(name: str) -> list[tuple[int, int]]:
        return _read_spans(annotations.get(name), f"{part}.annotations.{name}", len(text))

    abstract, headings = spans("abstract"), spans(_ANNOTATED[part])
    body = [{"text": text[start:end]} for start, end in abstract]
    sections = [*_sections(body, "abstract", "Abstract", split)]
    body = []
    for start, end in spans("paragraph"):
        behind = bisect_right(abstract, start, key=itemgetter(1))
        if behind == len(abstract) or end <= abstract[behind][0]:
            place = bisect_right(headings, start, key=itemgetter(1)) - 1
            heading = text[slice(*headings[place])] if place >= 0 else ""
            body.append({"text": text[start:end], "section": collapse(heading)})
    sections += _sections(body, "paragraph", "", split)
    return Content(parse_id(record.get("corpusid"), "corpusid"), None, None, sections)


def _read_spans(value: object, where: str, n_chars: int) -> list[tuple[int, int]]:
    """Return the offsets of annotations in the order of the text."""
    if isinstance(value, str):
        try:
            value = parse_record(value.encode())
        except RecordError as error:
            raise RecordError(error.reason, f"{where}: {error.detail}") from None
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong_type(where, "a list", value)
    found = []
    for number, one in enumerate(value):
        bounds = (one.get("start"), one.get("end")) if isinstance(one, dict) else (None, None)
        texts = (str(bound) for bound in bounds)  # some dumps write numbers as texts
        start, end = (int(text) if is_whole_number(text) else -1 for text in texts)
        if not 0 <= start <= end <= n_chars:
            expected = f"expected 0 <= start <= end <= {n_chars}"
            raise RecordError("malformed", f"{where}[{number}]: {expected}, got {one!r:.80}")
        found.append((start, end))
    return sorted(found)


def _mapping(record: dict[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key) or {}
    if not isinstance(value, dict):
        raise wrong_type(key, "an object", value)
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
        raise wrong_type(part, "a list", entries)
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise wrong_type(f"{part}[{number}]", "an object", entry)
        text, heading = entry.get("text"), entry.get("section") or title
        if not isinstance(text, str):
            raise wrong_type(f"{part}[{number}].text", "text", text)
        if not isinstance(heading, str):
            raise wrong_type(f"{part}[{number}].section", "text", heading)
        yield heading, text
