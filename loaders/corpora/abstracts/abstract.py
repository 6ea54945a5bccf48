"""The record of an annotated abstract, and how every reader makes it.

Each mention is compared with the text at its offsets, each id of a relation with those of the
mentions. What does not fit is left out and reported. Each line end or tab becomes one space, so
that offsets stay; spaces at the ends of a mention are cut off.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import RecordError
from .mechanism_records import MechanismRecord, split_ids

_LINE_END = re.compile(r"[\t-\r\x1c-\x1f\x85\u2028\u2029]")
_MAX_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Entity:
    """A mention of an entity in an abstract.

    Attributes:
        start: Offset of its first character in ``Abstract.text``.
        end: Offset after its last character.
        type: Its annotated type, e.g. ``"Gene"`` or ``"Chemical"``.
        ids: Its database identifier as annotated and, where that lists several, each of them.
    """

    start: int
    end: int
    type: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityRelation:
    """A relation between two entities of an abstract.

    Attributes:
        type: Its annotated type, e.g. ``"CID"`` or ``"PPI"``.
        first: An id of the first entity.
        second: An id of the second; whether the order is a direction depends on the type.
    """

    type: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Abstract:
    """An abstract with its entities and relations.

    Attributes:
        pmid: Its PubMed id.
        text: Its title, one space, and its body; all offsets count in it, as in PubTator.
        title_end: Offset after the title.
        entities: The mentions, in the order of the file.
        relations: The relations, in the order of the file; each id is that of a mention.
        file: Its file, as the user named it.
        line: Its line in the file, from 1; 0 where the format has no lines.
    """

    pmid: str
    text: str
    title_end: int
    entities: tuple[Entity, ...]
    relations: tuple[EntityRelation, ...]
    file: str
    line: int


#: The units that can be left out; the larger ones are read without the smaller.
UNITS = ("file", "line", "abstract", "record", "entity", "relation")

#: Why a unit is left out.
REASONS = {
    "unknown format": "the format of the content is not read",
    "malformed": "it is not well-formed, or not of the form of its format",
    "unreadable": "the file cannot be opened, or ends in the middle",
    "too large": "one line or document takes more bytes than are read of one",
    "no abstract": "there is no text besides the title",
    "other pmid": "an annotation is not of the abstract that it stands under",
    "pmid twice": "an abstract or record of that pmid was read before",
    "offsets do not match": "the text at the offsets is not that of the mention",
    "entity without text": "a mention covers no character",
    "mention in pieces": "a mention is of several places",
    "unknown id": "a relation is of an entity that is not mentioned",
    "broken markers": "markers are missing, repeated, nested or not closed",
    "unknown polarity": "the polarity is not read",
}


@dataclass(frozen=True, slots=True)
class SkippedAbstract:
    """An abstract, or a part of a file of abstracts, that was not read.

    Attributes:
        file: Its file, as the user named it.
        line: Its line in the file, from 1; 0 where the format has no lines.
        pmid: PubMed id of its abstract; None where unknown.
        unit: One of ``UNITS``; with an abstract go its entities and relations.
        reason: One of ``REASONS``.
        detail: The defect, expected against got.
    """

    file: str
    line: int
    pmid: str | None
    unit: str
    reason: str
    detail: str


class RawEntity(NamedTuple):
    """A mention as a file states it, not yet checked.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last character.
        text: Its text.
        type: Its type.
        identifier: Its id or ids, as written.
        line: Its line in the file, from 1; 0 where the format has no lines.
    """

    start: int
    end: int
    text: str
    type: str
    identifier: str
    line: int


class RawRelation(NamedTuple):
    """A relation as a file states it, not yet checked.

    Attributes:
        type: Its type.
        first: An id, perhaps after a type: ``Chemical|MESH:D003911``.
        second: The other id, of the same form.
        line: Its line in the file, from 1; 0 where the format has no lines.
    """

    type: str
    first: str
    second: str
    line: int


class ReadUnit(NamedTuple):
    """An abstract or a record of a mechanism, as a reader yields it.

    Attributes:
        unit: The abstract or record, or why it was not read.
        skipped: Its parts that were left out.
    """

    unit: Abstract | MechanismRecord | SkippedAbstract
    skipped: Sequence[SkippedAbstract] = ()

    @classmethod
    def refused(
        cls, error: RecordError, file: str, line: int, pmid: str | None = None, unit: str = "file"
    ) -> "ReadUnit":
        """Report why a unit of an abstracts file was not read; see ``SkippedAbstract``."""
        return cls(SkippedAbstract(file, line, pmid, unit, error.reason, error.detail))


@dataclass(slots=True)
class AbstractDraft:
    """An abstract as its file states it; ``finish`` checks its annotations.

    Attributes:
        pmid: Its PubMed id.
        file: Its file, as the user named it.
        line: Its line in the file, from 1; 0 where the format has no lines.
        entities: Its mentions.
        relations: Its relations.
        elsewhere: Identifiers of entities in parts of the document that are not read; their
            relations are left out without a report.
        skipped: Its parts that were left out.
    """

    pmid: str
    file: str
    line: int
    entities: list[RawEntity] = field(default_factory=list)
    relations: list[RawRelation] = field(default_factory=list)
    elsewhere: set[str] = field(default_factory=set)
    skipped: list[SkippedAbstract] = field(default_factory=list)

    def skip(self, unit: str, reason: str, detail: str, line: int) -> None:
        """Leave out a part of the abstract; see ``SkippedAbstract``."""
        self.skipped.append(SkippedAbstract(self.file, line, self.pmid, unit, reason, detail))

    def finish(self, title: str, body: str) -> ReadUnit:
        """Make the abstract from its title, which may be empty, and the rest of its text."""
        if not body.strip():
            detail = f"expected a text behind the title, got {title!r:.{_MAX_SHOWN}} alone"
            error = RecordError("no abstract", detail)
            refused = ReadUnit.refused(error, self.file, self.line, self.pmid, "abstract")
            return ReadUnit(refused.unit, self.skipped)
        text = _LINE_END.sub(" ", f"{title} {body}")
        entities: list[Entity] = []
        for one in self.entities:
            if wrong := _check(one, text):
                self.skip("entity", *wrong, one.line)
            else:
                covered = text[one.start : one.end]
                start = one.end - len(covered.lstrip())
                end = one.start + len(covered.rstrip())
                entities.append(Entity(start, end, one.type, split_ids(one.identifier)))
        known = {one for entity in entities for one in entity.ids}
        outside = {one for identifier in self.elsewhere for one in split_ids(identifier)}
        relations: list[EntityRelation] = []
        for told in self.relations:
            ids = [_known_id(one, known | outside) for one in (told.first, told.second)]
            if known.issuperset(ids):
                relations.append(EntityRelation(told.type, *ids))
            elif unknown := ", ".join(one for one in ids if one not in known | outside):
                detail = f"{told.type}: expected ids of mentioned entities, got {unknown!r}"
                self.skip("relation", "unknown id", detail, told.line)
        abstract = Abstract(
            self.pmid, text, len(title), tuple(entities), tuple(relations), self.file, self.line
        )
        return ReadUnit(abstract, self.skipped)


def _check(mention: RawEntity, text: str) -> tuple[str, str] | None:
    place = f"{mention.start}-{mention.end}"
    if not mention.text.strip() or mention.end <= mention.start:
        return "entity without text", f"expected a mention at {place}, got {mention.text!r}"
    got = text[mention.start : mention.end] if mention.start >= 0 else ""
    if got != _LINE_END.sub(" ", mention.text):
        expected = f"{mention.text!r:.{_MAX_SHOWN}}"
        return "offsets do not match", f"at {place} expected {expected}, got {got!r:.{_MAX_SHOWN}}"
    return None


def _known_id(told: str, known: Collection[str]) -> str:
    # A type may stand before the id: "Gene|672".
    _, _, bare = told.partition("|")
    return bare if told not in known and bare in known else told
