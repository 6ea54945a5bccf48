"""Reads papers in JSON: one a line, or one a file.

JSON is UTF-8; a line or file that is not is malformed. Lines without a character that shows are
passed over.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import IO

import orjson

from . import plain, s2orc
from .content import Content, read_each
from .paper import Paper, Skipped, SplitSentences
from .skips import MAX_PAPER_BYTES, PaperError, too_large
from .streams import number_lines

_BOM = b"\xef\xbb\xbf"
_LINE_ENDINGS = frozenset({".jsonl", ".ndjson"})


def are_lines_by_name(name: str) -> bool:
    """Whether a file is named as one of JSON lines: ``a.jsonl``, ``a.ndjson.gz``."""
    return not _LINE_ENDINGS.isdisjoint(PurePosixPath(name.lower()).suffixes)


def read_json(
    stream: IO[bytes], file: str, id_of_file: str, split: SplitSentences
) -> Iterator[Paper | Skipped]:
    """Reads a file of JSON.

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
        PaperError: The file is one paper, and cannot be read.
    """
    if are_lines_by_name(file):
        yield from read_each(number_lines(stream), partial(_read, split=split), file)
        return
    first = stream.readline(MAX_PAPER_BYTES + 1)
    second = stream.readline(MAX_PAPER_BYTES + 1) if first.rstrip().endswith(b"}") else b""
    if second.strip():
        lines = number_lines(stream, first, second)
        yield from read_each(lines, partial(_read, split=split), file)
        return
    document = first + second + stream.read(MAX_PAPER_BYTES + 1)
    if len(document) > MAX_PAPER_BYTES:
        raise too_large()
    yield _read(document.removeprefix(_BOM), split).to_paper(file, 0, id_of_file)


def _read(text: bytes, split: SplitSentences) -> Content:
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise PaperError("malformed", f"no JSON: {error}", error.lineno) from None
    if not isinstance(record, dict):
        got = type(record).__name__
        raise PaperError("malformed", f"expected a JSON object, got {got}")
    if not s2orc.KEYS.isdisjoint(record):
        return s2orc.read_s2orc(record, split)
    if not plain.KEYS.isdisjoint(record):
        return plain.read_plain(record, split)
    names = ", ".join(map(repr, record)) or "none"
    raise PaperError("unknown format", f"the keys of the object are {names:.200}")
