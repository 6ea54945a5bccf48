"""Makes an abstract of its text and of what a file says of entities and relations.

Each mention is compared with the text at its offsets, each id of a relation with those of the
mentions. What does not fit is left out and reported; the abstract is read without it. Line ends and
tabs become blanks, each for itself, so that offsets stay; blanks at the ends of a mention are no
part of it.
"""

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from .abstract import Abstract, Entity, Relation
from .mechanism_records import MechanismRecord
from .skipped import Skipped

#: What stands for no id.
_NO_IDS = frozenset({"", "-", "-1", "None"})
#: Between several ids of one mention: "D007674|D008107", "5290;5291", "1,2"; not in "factor, beta".
_BETWEEN_IDS = re.compile(r"[|;]|,(?! )")
_LINE_END = re.compile(r"[\t-\r\x1c-\x1f\x85\u2028\u2029]")
_MAX_SHOWN = 80


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
    """Makes an abstract.

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
