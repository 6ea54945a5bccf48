"""The record that every reader of annotated abstracts gives, and how one is made.

Each mention is compared with the text at its offsets, each id of a relation with those of the
mentions. What does not fit is left out and reported; the abstract is read without it. Line ends and
tabs become blanks, each for itself, so that offsets stay; blanks at the ends of a mention are no
part of it.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from .mechanism_records import MechanismRecord

#: What stands for no id.
_NO_IDS = frozenset({"", "-", "-1", "None"})
#: Between several ids of one mention: "D007674|D008107", "5290;5291", "1,2"; not in "factor, beta".
_BETWEEN_IDS = re.compile(r"[|;]|,(?! )")
_LINE_END = re.compile(r"[\t-\r\x1c-\x1f\x85\u2028\u2029]")
_MAX_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Entity:
    """A mention of an entity.

    Attributes:
        start: Where it begins in ``Abstract.text``, in characters.
        end: Where it ends there.
        type: Its type as annotated, e.g. ``"Gene"`` or ``"Chemical"``.
        ids: What it is called in a database: the identifier as annotated and, where that lists
            several, each of them; none where it is not told.
    """

    start: int
    end: int
    type: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two entities.

    Attributes:
        type: What kind of relation, as annotated, e.g. ``"CID"`` or ``"PPI"``.
        first: An id of an entity.
        second: An id of another; whether the order tells a direction depends on the type.
    """

    type: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Abstract:
    """An abstract with its entities and relations.

    Attributes:
        pmid: Its id in PubMed.
        text: Its title, one blank, and what follows; offsets count in it, as those of PubTator.
        title_end: Where the title ends.
        entities: The mentions, in the order of the file. What they cover is as annotated.
        relations: The relations, in the order of the file; each id is that of a mention.
        file: The file that it was read from, as the user named it.
        line: Its line there, from 1; 0 where the file tells no lines.
    """

    pmid: str
    text: str
    title_end: int
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    file: str
    line: int


#: What can be left out, the smaller without the larger.
UNITS = ("file", "line", "abstract", "record", "entity", "relation")

#: Why it is left out.
REASONS = {
    "unknown format": "the content is none of the formats that are read",
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
    "unknown polarity": "a polarity is none of those that are read",
}


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not read; all else of its file was.

    Attributes:
        file: The file, as the user named it.
        line: The line in it, from 1; 0 where it has none.
        pmid: The abstract that it is of; None where that is not known.
        unit: What is left out, one of ``UNITS``. With an abstract go its entities and relations.
        reason: Why, one of ``REASONS``.
        detail: What exactly is wrong, expected against got.
    """

    file: str
    line: int
    pmid: str | None
    unit: str
    reason: str
    detail: str


class Mention(NamedTuple):
    """What a file says of an entity.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        text: What it covers.
        type: Its type.
        identifier: Its id or ids, as written.
        line: The line in the file, from 1; 0 where it has none.
    """

    start: int
    end: int
    text: str
    type: str
    identifier: str
    line: int


class Told(NamedTuple):
    """What a file says of a relation.

    Attributes:
        type: Its type.
        first: An id, perhaps with a type before it: ``Chemical|MESH:D003911``.
        second: Another.
        line: The line in the file, from 1; 0 where it has none.
    """

    type: str
    first: str
    second: str
    line: int


class Read(NamedTuple):
    """What was read of one abstract or record.

    Attributes:
        unit: It, or what is wrong with it.
        skipped: What was left out of it.
    """

    unit: Abstract | MechanismRecord | Skipped
    skipped: list[Skipped]


def annotate(
    pmid: str,
    title: str,
    body: str,
    mentions: Iterable[Mention],
    relations: Iterable[Told],
    file: str,
    line: int,
    elsewhere: Collection[str] = (),
) -> Read:
    """Make an abstract.

    Args:
        pmid: Its id.
        title: Its title, empty where there is none.
        body: Its text without the title.
        mentions: What the file says of entities.
        relations: What it says of relations.
        file: The file, as the user named it.
        line: The line of the abstract.
        elsewhere: Identifiers of entities in parts of the document that are not read. Relations of
            them are passed over without a report.
    """
    if not body.strip():
        detail = f"expected a text behind the title, got {title!r:.{_MAX_SHOWN}} alone"
        return Read(Skipped(file, line, pmid, "abstract", "no abstract", detail), [])
    text = _LINE_END.sub(" ", f"{title} {body}")
    skipped: list[Skipped] = []
    entities: list[Entity] = []
    for mention in mentions:
        if wrong := _check(mention, text):
            skipped.append(Skipped(file, mention.line, pmid, "entity", *wrong))
        else:
            covered = text[mention.start : mention.end]
            start = mention.end - len(covered.lstrip())
            end = mention.start + len(covered.rstrip())
            entities.append(Entity(start, end, mention.type, _ids(mention.identifier)))
    known = {one for entity in entities for one in entity.ids}
    outside = {one for identifier in elsewhere for one in _ids(identifier)}
    found: list[Relation] = []
    for told in relations:
        ids = [_known_id(one, known | outside) for one in (told.first, told.second)]
        if all(one in known for one in ids):
            found.append(Relation(told.type, *ids))
        elif unknown := [one for one in ids if one not in known and one not in outside]:
            detail = f"{told.type}: expected ids of mentioned entities, got {', '.join(unknown)!r}"
            skipped.append(Skipped(file, told.line, pmid, "relation", "unknown id", detail))
    abstract = Abstract(pmid, text, len(title), tuple(entities), tuple(found), file, line)
    return Read(abstract, skipped)


def _check(mention: Mention, text: str) -> tuple[str, str] | None:
    place = f"{mention.start}-{mention.end}"
    if not mention.text.strip() or mention.end <= mention.start:
        return "entity without text", f"expected a mention at {place}, got {mention.text!r}"
    got = text[mention.start : mention.end] if mention.start >= 0 else ""
    if got != _LINE_END.sub(" ", mention.text):
        expected = f"{mention.text!r:.{_MAX_SHOWN}}"
        return "offsets do not match", f"at {place} expected {expected}, got {got!r:.{_MAX_SHOWN}}"
    return None


def _ids(identifier: str) -> tuple[str, ...]:
    parts = [part.strip() for part in (identifier, *_BETWEEN_IDS.split(identifier))]
    return tuple(dict.fromkeys(part for part in parts if part not in _NO_IDS))


def _known_id(told: str, known: Collection[str]) -> str:
    # A type may stand before the id: "Gene|672".
    _, _, bare = told.partition("|")
    return bare if told not in known and bare in known else told
