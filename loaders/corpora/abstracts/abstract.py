"""The record that every reader of annotated abstracts gives."""

from dataclasses import dataclass


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
