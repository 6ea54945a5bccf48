"""Reads PubTator's text format.

An abstract is a line ``pmid|t|title`` and a line ``pmid|a|text``, then a line for each entity and
relation, with tabs between::

    pmid  start  end  mention  type  id          (or more columns, which are not read)
    pmid  type   id   id                         (as in PubTator 3, BioCreative's CDR, and PPI)

Offsets count characters of the title, one blank and the text. A line whose second column is a whole
number, or that has six columns or more, is an entity; one of four or five is a relation (the fifth
column, where a corpus tells whether a relation is new, is not read). Abstracts need no empty line
between them: a title begins one.

Source: the format that PubTator 3 exports, and that of BioCreative V's CDR corpus.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ...errors import RecordError
from .abstract import Mention, Read, Skipped, Told, annotate

_PASSAGE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
#: Whether a file is of this format is told by its first line.
FIRST_LINE = re.compile(rb"[^|\t\n]+\|[ta]\|")
_WHOLE_NUMBER = re.compile(r"-?[0-9]+", re.ASCII)
_ENTITY, _RELATION = 6, (4, 5)


@dataclass(slots=True)
class _Block:
    """The lines of one abstract."""

    pmid: str
    line: int
    file: str
    passages: dict[str, str] = field(default_factory=dict)
    mentions: list[Mention] = field(default_factory=list)
    relations: list[Told] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def skip(self, line: int, unit: str, reason: str, detail: str) -> None:
        self.skipped.append(Skipped(self.file, line, self.pmid, unit, reason, detail))

    def add(self, line: int, columns: list[str]) -> None:
        pmid, *rest = columns
        if rest and pmid != self.pmid:
            self.skip(line, "line", "other pmid", f"expected {self.pmid}, got {pmid:.80}")
        elif len(columns) >= _ENTITY or (rest and _WHOLE_NUMBER.fullmatch(rest[0])):
            self._add_mention(line, rest)
        elif len(columns) in _RELATION:
            self.relations.append(Told(rest[0], rest[1].strip(), rest[2].strip(), line))
        else:
            detail = f"expected 6 columns of an entity or 4 of a relation, got {len(columns)}"
            self.skip(line, "line", "malformed", detail)

    def _add_mention(self, line: int, rest: list[str]) -> None:
        # Without an identifier there may be no column for it.
        start, end, text, kind, identifier = (*rest[:5], *[""] * (5 - len(rest)))
        if not (_WHOLE_NUMBER.fullmatch(start) and _WHOLE_NUMBER.fullmatch(end)):
            detail = f"offsets: expected whole numbers, got {start!r:.80} and {end!r:.80}"
            self.skip(line, "entity", "malformed", detail)
        elif not kind:
            self.skip(line, "entity", "malformed", "expected a type of entity, got none")
        else:
            self.mentions.append(Mention(int(start), int(end), text, kind, identifier, line))

    def read(self) -> Read:
        made = annotate(
            self.pmid,
            self.passages.get("t", ""),
            self.passages.get("a", ""),
            self.mentions,
            self.relations,
            self.file,
            self.line,
        )
        return Read(made.unit, self.skipped + made.skipped)


def read_pubtator(lines: Iterable[tuple[int, bytes | RecordError]], file: str) -> Iterator[Read]:
    """Read abstracts, one at a time.

    Args:
        lines: The lines with their numbers, or with what is wrong with them.
        file: The file, as the user named it.

    Yields:
        The abstracts in the order of the file, with what was left out of each.
    """
    block: _Block | None = None
    for number, line in lines:
        try:
            text = _decode(line)
        except RecordError as error:
            pmid = block.pmid if block else None
            yield Read(Skipped(file, number, pmid, "line", error.reason, error.detail), [])
            continue
        if passage := _PASSAGE.fullmatch(text):
            pmid, kind, content = passage[1].strip(), passage[2], passage[3]
            if block is None or kind == "t" or pmid != block.pmid:
                if block is not None:
                    yield block.read()
                block = _Block(pmid, number, file)
            if kind in block.passages:
                block.skip(number, "line", "malformed", "expected one line |a|, got another")
            else:
                block.passages[kind] = content
        elif block is None:
            detail = f"expected pmid|t|title, got {text!r:.80}"
            yield Read(Skipped(file, number, None, "line", "malformed", detail), [])
        else:
            block.add(number, text.split("\t"))
    if block is not None:
        yield block.read()


def _decode(line: bytes | RecordError) -> str:
    if isinstance(line, RecordError):
        raise line
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise RecordError("malformed", f"no UTF-8: {error.reason} at byte {error.start}") from None
