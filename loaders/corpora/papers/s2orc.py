"""Reads the JSON of S2ORC, in the three forms that it was released in.

20190928 keeps a paper in ``grobid_parse`` (or ``latex_parse``) beside its ``metadata``; 20200705
has ``abstract`` and ``body_text`` at the top and tells no year; 20210101 and its followers add
``metadata`` and ``back_matter``, which is no prose and left out. Each entry of ``abstract`` and
``body_text`` is a paragraph; neighbours under one heading are a section. Text stays as written.

Source: the samples of the releases 20190928, 20200705 and 20210101.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from .content import Content
from .ids import id_told, year_told
from .paper import Section, SplitSentences
from .prose import is_back_matter
from .skips import PaperError

_PARSES = ("grobid_parse", "latex_parse")
#: A record with one of these keys is of S2ORC.
KEYS = frozenset({"body_text", *_PARSES})


def read_s2orc(record: dict[str, Any], split: SplitSentences) -> Content:
    """Reads a paper.

    Args:
        record: The JSON object of the paper.
        split: Cuts paragraphs into sentences.

    Raises:
        PaperError: A value is not of the type that the format has there.
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


def _type_error(where: str, expected: str, value: object) -> PaperError:
    return PaperError("malformed", f"{where}: expected {expected}, got {type(value).__name__}")
