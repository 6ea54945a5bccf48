"""Reads files of annotated abstracts; the format is told by what is in a file.

The files may be compressed (gzip, bzip2, xz, Zstandard), and may be tar archives, as those of
PubTator's whole collection are.

There are libraries for these formats. ``bioc`` (2.1, August 2023) reads all three, but brings
``docopt``, ``intervaltree``, ``jsonlines``, ``lxml`` and ``tqdm``, has no types, stops at the first
malformed line, and does not compare offsets with the text. ``pubtator-loader`` (2021) is under the
GPL and needs spaCy 3.0.5; ``bconv`` (2023) needs nltk and lxml below 5. None tells lines.
"""

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from ..papers.archives import is_archive, read_members
from ..papers.files import printable
from ..papers.json_papers import are_lines_by_name
from ..papers.skips import PaperError
from ..papers.streams import UNREADABLE, decompress, number_lines, open_plain, peek, unreadable
from .abstract import Abstract
from .annotations import Read
from .bioc_xml import read_bioc_xml
from .mechanism_records import MechanismRecord
from .pubtator import FIRST_LINE, read_pubtator
from .read_json import read_json
from .skipped import Skipped

#: What is read, for who gives a folder without any.
FORMATS = "abstracts: expected PubTator, BioC or JSON Lines"
_UTF_16_XML = (b"\xff\xfe<\0", b"\xfe\xff\0<")


def read_abstracts(paths: Iterable[Path]) -> Iterator[Abstract | MechanismRecord | Skipped]:
    """Reads files of abstracts in PubTator's format or BioC, and of records of mechanisms.

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
    except PaperError as error:
        yield _refused(error, name)
    except UNREADABLE as error:
        yield _refused(unreadable(error), name)


def _refused(error: PaperError, name: str) -> Read:
    return Read(Skipped(name, error.line, None, "file", error.reason, error.detail), [])


def _read_content(stream: IO[bytes], name: str, is_member: bool) -> Iterator[Read]:
    stream = decompress(stream) or stream
    head = peek(stream)
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if is_archive(head):
        if is_member:
            raise PaperError("unknown format", "an archive inside an archive: unpack the outer one")
        yield from _read_archive(stream, name)
    elif head.startswith(_UTF_16_XML) or start.startswith(b"<"):
        yield from read_bioc_xml(stream, name)
    elif start.startswith((b"{", b"[")) or are_lines_by_name(name):
        yield from read_json(stream, name)
    elif FIRST_LINE.match(start):
        yield from read_pubtator(number_lines(stream), name)
    else:
        got = f"begins with {head[:20]!r}" if head else "is empty"
        raise PaperError("unknown format", f"expected PubTator, BioC XML or JSON; the file {got}")


def _read_archive(stream: IO[bytes], name: str) -> Iterator[Read]:
    for member, content in read_members(stream):
        member_name = f"{name}/{printable(member)}"
        if content is None:
            yield _refused(PaperError("unreadable", "a link inside an archive"), member_name)
        else:
            yield from _read_stream(content, member_name, is_member=True)
