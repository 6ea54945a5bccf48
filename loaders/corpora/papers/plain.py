"""Read our own plain form of a paper: JSON objects, or rows of a Parquet file.

::

    {"id": "a1", "year": 2020, "domain": "acl", "sections": [
        {"title": "Introduction", "paragraphs": [["One sentence.", "Another."], "Text to split."]},
        {"title": "Method", "sentences": ["One sentence.", "Another."]},
        {"text": "Text to split."}]}

Only ``id`` must be there. A flat paper has ``paragraphs``, ``sentences`` or ``text`` at the top, in
place of ``sections``; either may have an ``abstract``, a text or a list of sentences. Of several of
these names in one place the first counts, in the order given here. Null counts as absent. An empty
line in a ``text`` ends a paragraph. Sentences are taken as they are, without the blanks around
them; blank ones are left out, and so are sections titled as references, acknowledgements and other
back matter. In Parquet the same names are columns, plain or nested, in which the
paragraphs are all lists or all texts.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import RecordError
from .paper import Content, Section, SplitSentences, parse_id, parse_year, wrong_type
from .prose import is_back_matter

_BODY_KEYS = ("paragraphs", "sentences", "text")
#: A record with one of these keys is of the plain form.
KEYS = frozenset({"sections", "abstract", *_BODY_KEYS})
_ABOUT_KEYS = ("id", "year", "domain")
_EMPTY_LINE = re.compile(r"\n\s*\n")
#: Where a value stands, as keys and positions; written out only for a wrong one.
_Place = tuple[str | int, ...]
_N_ROWS = 64  # of a Parquet file at a time: papers are long
_BUFFER_BYTES = 1 << 20  # of a column; else all of a group of rows is read at once


def read_plain(record: dict[str, Any], split: SplitSentences) -> Content:
    """Read a paper in the plain form.

    Args:
        record: The JSON object, or the row, of the paper.
        split: Cuts texts into sentences.

    Raises:
        RecordError: A value is of another type than the form has there.
    """
    sections = []
    if (abstract := record.get("abstract")) is not None:
        key = "text" if isinstance(abstract, str) else "sentences"
        if paragraphs := _paragraphs({key: abstract}, split, ("abstract",)):
            sections.append(Section("Abstract", paragraphs))
    stated = record.get("sections")
    if stated is None:
        if paragraphs := _paragraphs(record, split, ()):
            sections.append(Section("", paragraphs))
    elif not isinstance(stated, list):
        raise wrong_type("sections", "a list", stated)
    else:
        for number, section in enumerate(stated):
            place = ("sections", number)
            if not isinstance(section, dict):
                raise wrong_type(_path(*place), "an object", section)
            title = _text(section, "title", place) or ""
            if is_back_matter(title):
                continue
            if paragraphs := _paragraphs(section, split, place):
                sections.append(Section(title, paragraphs))
            elif section.keys().isdisjoint(_BODY_KEYS):
                names = ", ".join(map(repr, section)) or "nothing"
                expected = '"paragraphs", "sentences" or "text"'
                detail = f"{_path(*place)}: expected {expected}, got {names:.200}"
                raise RecordError("malformed", detail)
    paper_id = parse_id(record.get("id"), "id")
    domain = _text(record, "domain", ()) or None
    return Content(paper_id, parse_year(record.get("year")), domain, sections)


def _paragraphs(part: dict[str, Any], split: SplitSentences, place: _Place) -> list[list[str]]:
    if (stated := part.get("paragraphs")) is not None:
        if not isinstance(stated, list):
            raise wrong_type(_path(*place, "paragraphs"), "a list", stated)
        paragraphs = [
            split(one) if isinstance(one, str) else _sentences(one, place, "paragraphs")
            for one in stated
        ]
    elif (stated := part.get("sentences")) is not None:
        paragraphs = [_sentences(stated, place, "sentences")]
    else:
        text = _text(part, "text", place) or ""
        paragraphs = [split(one) for one in _EMPTY_LINE.split(text)]
    return paragraphs if all(paragraphs) else list(filter(None, paragraphs))


def _sentences(sentences: object, place: _Place, key: str) -> list[str]:
    if not isinstance(sentences, list):
        raise wrong_type(_path(*place, key), "a list of sentences", sentences)
    try:
        found = list(map(str.strip, sentences))
    except TypeError:
        other = next(sentence for sentence in sentences if not isinstance(sentence, str))
        raise wrong_type(_path(*place, key), "sentences", other) from None
    return found if all(found) else list(filter(None, found))


def _text(part: dict[str, Any], key: str, place: _Place) -> str | None:
    value = part.get(key)
    if value is None or isinstance(value, str):
        return value
    raise wrong_type(_path(*place, key), "text", value)


def _path(*steps_to_value: str | int) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps_to_value)
    return "".join(steps).removeprefix(".")


def read_parquet_records(path: Path) -> Iterator[tuple[int, dict[str, Any] | RecordError]]:
    """Yield the papers of a Parquet file as records, a few rows at a time.

    Args:
        path: The file.

    Yields:
        The number of each row, from 1, with its values by column, or with what is wrong with it.

    Raises:
        RecordError: None of the columns is of the plain form.
        pyarrow.ArrowException: The file is damaged.
        OSError: The file cannot be read.
    """
    with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file:
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
            yield RecordError("malformed", f"a text that is not UTF-8: {error.reason}")
            return
        for position in range(batch.num_rows):
            yield from _rows(batch.slice(position, 1))
