"""Reads our own plain form of a paper: JSON objects, or rows of a Parquet file.

::

    {"id": "a1", "year": 2020, "domain": "acl", "sections": [
        {"title": "Introduction", "paragraphs": [["One sentence.", "Another."], "Text to split."]},
        {"title": "Method", "sentences": ["One sentence.", "Another."]},
        {"text": "Text to split."}]}

Only ``id`` must be there. A flat paper has ``paragraphs``, ``sentences`` or ``text`` at the top, in
place of ``sections``; either may have an ``abstract``, a text or a list of sentences. Of several of
these names in one place the first counts, in the order given here. Null is as good as absent. An
empty line in a ``text`` ends a paragraph. Sentences are taken as they are; those without a
character that shows are none. In Parquet the same names are columns, plain or nested, in which the
paragraphs are all lists or all texts. Blanks around a sentence are no part of it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import RecordError
from .paper import Content, Section, SplitSentences, id_told, year_told

_BODY_KEYS = ("paragraphs", "sentences", "text")
#: A record with one of these keys is of the plain form.
KEYS = frozenset({"sections", "abstract", *_BODY_KEYS})
_ABOUT_KEYS = ("id", "year", "domain")
_EMPTY_LINE = re.compile(r"\n\s*\n")
#: Where a value stands, as keys and positions; said only of a wrong one.
_Place = tuple[str | int, ...]
_N_ROWS = 64  # of a Parquet file at a time: papers are long


def read_plain(record: dict[str, Any], split: SplitSentences) -> Content:
    """Read a paper.

    Args:
        record: The JSON object, or the row, of the paper.
        split: Cuts texts into sentences.

    Raises:
        RecordError: A value is not of the type that the form has there.
    """
    sections = []
    if (abstract := record.get("abstract")) is not None:
        key = "text" if isinstance(abstract, str) else "sentences"
        if paragraphs := _paragraphs({key: abstract}, split, ("abstract",)):
            sections.append(Section("Abstract", paragraphs))
    told = record.get("sections")
    if told is None:
        if paragraphs := _paragraphs(record, split, ()):
            sections.append(Section("", paragraphs))
    elif not isinstance(told, list):
        raise _type_error(("sections",), "a list", told)
    else:
        for number, section in enumerate(told):
            place = ("sections", number)
            if not isinstance(section, dict):
                raise _type_error(place, "an object", section)
            if paragraphs := _paragraphs(section, split, place):
                sections.append(Section(_text(section, "title", place) or "", paragraphs))
            elif section.keys().isdisjoint(_BODY_KEYS):
                names = ", ".join(map(repr, section)) or "nothing"
                expected = '"paragraphs", "sentences" or "text"'
                detail = f"{_told(place)}: expected {expected}, got {names:.200}"
                raise RecordError("malformed", detail)
    paper_id = id_told(record.get("id"), "id")
    domain = _text(record, "domain", ()) or None
    return Content(paper_id, year_told(record.get("year")), domain, sections)


def _paragraphs(part: dict[str, Any], split: SplitSentences, place: _Place) -> list[list[str]]:
    if (told := part.get("paragraphs")) is not None:
        if not isinstance(told, list):
            raise _type_error((*place, "paragraphs"), "a list", told)
        paragraphs = [
            split(one) if isinstance(one, str) else _sentences(one, place, "paragraphs")
            for one in told
        ]
    elif (told := part.get("sentences")) is not None:
        paragraphs = [_sentences(told, place, "sentences")]
    else:
        text = _text(part, "text", place) or ""
        paragraphs = [split(one) for one in _EMPTY_LINE.split(text)]
    return paragraphs if all(paragraphs) else list(filter(None, paragraphs))


def _sentences(sentences: object, place: _Place, key: str) -> list[str]:
    if not isinstance(sentences, list):
        raise _type_error((*place, key), "a list of sentences", sentences)
    try:
        found = list(map(str.strip, sentences))
    except TypeError:
        other = next(sentence for sentence in sentences if not isinstance(sentence, str))
        raise _type_error((*place, key), "sentences", other) from None
    return found if all(found) else list(filter(None, found))


def _text(part: dict[str, Any], key: str, place: _Place) -> str | None:
    value = part.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _type_error((*place, key), "text", value)


def _type_error(place: _Place, expected: str, value: object) -> RecordError:
    got = type(value).__name__
    return RecordError("malformed", f"{_told(place)}: expected {expected}, got {got}")


def _told(place: _Place) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return "".join(steps).removeprefix(".")


def read_parquet_records(path: Path) -> Iterator[tuple[int, dict[str, Any] | RecordError]]:
    """The rows of a Parquet file, a few at a time.

    Args:
        path: The file.

    Yields:
        The number of each row, from 1, with its values by column, or with what is wrong with it.

    Raises:
        RecordError: None of the columns is of the plain form.
        pyarrow.ArrowException: The file is damaged.
        OSError: The file cannot be read.
    """
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        columns = [name for name in (*_ABOUT_KEYS, *sorted(KEYS)) if name in names]
        if KEYS.isdisjoint(columns):
            raise RecordError("unknown format", f"the columns are {', '.join(names):.200}")
        number = 0
        for batch in file.iter_batches(batch_size=_N_ROWS, columns=columns):
            for row in _rows(batch):
                number += 1
                yield number, row


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | RecordError]:
    try:
        yield from batch.to_pylist()
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            yield RecordError("malformed", f"a text that is no UTF-8: {error.reason}")
            return
        for position in range(batch.num_rows):
            yield from _rows(batch.slice(position, 1))
