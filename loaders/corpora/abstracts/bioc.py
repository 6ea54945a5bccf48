"""Reads a document of BioC, from JSON or from XML, as PubTator 3 serves them.

Read are the passages whose ``type`` or ``section_type`` says title or abstract; several of an
abstract are joined with a blank. All others, of a full text, are passed over with what is annotated
in them. Offsets of passages and of annotations count characters from the start of the document.

An entity has its id in the infon ``identifier``. A relation has its two in ``role1`` and ``role2``
(in JSON an object with an ``identifier``, or, as always in XML, ``Chemical|MESH:D003911``), and its
kind in ``type``. Where there are no roles, its two nodes name annotations by their ids.

Source: the BioC format (Comeau et al., 2013), and what PubTator 3 exports as BioC XML and JSON.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..papers.skips import PaperError
from .annotations import Mention, Read, Told, annotate
from .skipped import Skipped

#: A JSON object with one of these keys is a document; one of the others holds several.
DOCUMENT_KEY = "passages"
COLLECTION_KEYS = ("PubTator3", "documents")
_TITLES = frozenset({"title", "front"})
_ABSTRACT = "abstract"
_NUMBER = re.compile(r"[0-9]+", re.ASCII)

Fields = Mapping[str, Any]


class _Document:
    """Collects what one document says."""

    def __init__(self, pmid: str, file: str, line: int) -> None:
        self.pmid, self.file, self.line = pmid, file, line
        self.texts: dict[str, list[str]] = {"title": [], _ABSTRACT: []}
        self.annotations: list[tuple[str, int, Fields]] = []  # part, where it begins there, what
        self.mentions: list[Mention] = []
        self.identifiers: dict[str, str] = {}  # of annotations, by their ids
        self.relations: list[Told] = []
        self.elsewhere: set[str] = set()
        self.skipped: list[Skipped] = []

    def skip(self, fields: Fields, unit: str, error: PaperError) -> None:
        line = error.line or _line(fields, self.line)
        entry = Skipped(self.file, line, self.pmid, unit, error.reason, error.detail)
        self.skipped.append(entry)

    def read(self, document: Fields) -> Read:
        passages = _objects(document, DOCUMENT_KEY)
        for passage in passages:
            self._read_passage(passage)
        title, body = (" ".join(self.texts[part]) for part in ("title", _ABSTRACT))
        for part, shift, annotation in self.annotations:
            begin = shift + (len(title) + 1 if part == _ABSTRACT else 0)
            try:
                self.mentions.append(self._mention(annotation, begin))
            except PaperError as error:
                self.skip(annotation, "entity", error)
        for holder in (*passages, document):
            for relation in _objects(holder, "relations"):
                try:
                    self.relations.append(self._relation(relation))
                except PaperError as error:
                    self.skip(relation, "relation", error)
        made = annotate(
            self.pmid,
            title,
            body,
            self.mentions,
            self.relations,
            self.file,
            self.line,
            self.elsewhere,
        )
        return Read(made.unit, self.skipped + made.skipped)

    def _read_passage(self, passage: Fields) -> None:
        annotations = _objects(passage, "annotations")
        for annotation in annotations:
            identifier = _word(_infons(annotation).get("identifier")) or ""
            if (key := _word(annotation.get("id"))) is not None:
                self.identifiers[key] = identifier
        part = _part(_infons(passage))
        if part is None:
            self.elsewhere.update(
                _word(_infons(annotation).get("identifier")) or "" for annotation in annotations
            )
            return
        text = passage.get("text") or ""
        if not isinstance(text, str):
            raise PaperError("malformed", f"text: expected text, got {type(text).__name__}")
        before = self.texts[part]
        shift = sum(map(len, before)) + len(before)
        before.append(text)
        offset = _whole_number(passage.get("offset"), "offset of a passage")
        self.annotations.extend((part, shift - offset, one) for one in annotations)

    def _mention(self, annotation: Fields, shift: int) -> Mention:
        infons = _infons(annotation)
        kind, text = _word(infons.get("type")), annotation.get("text") or ""
        if kind is None:
            raise PaperError("malformed", "expected a type of entity, got none")
        if not isinstance(text, str):
            raise PaperError("malformed", f"text: expected text, got {type(text).__name__}")
        locations = _objects(annotation, "locations")
        if not locations:
            raise PaperError("malformed", "expected a location, got none")
        if len(locations) > 1:
            raise PaperError("mention in pieces", f"expected one location, got {len(locations)}")
        start = shift + _whole_number(locations[0].get("offset"), "offset")
        end = start + _whole_number(locations[0].get("length"), "length")
        identifier = _word(infons.get("identifier")) or ""
        return Mention(start, end, text, kind, identifier, _line(annotation, self.line))

    def _relation(self, relation: Fields) -> Told:
        infons = _infons(relation)
        kind = _word(infons.get("type"))
        if kind is None:
            raise PaperError("malformed", "expected a type of relation, got none")
        ids = list(self._related(relation, infons))
        if len(ids) != 2 or not all(ids):
            got = ", ".join(repr(one) for one in ids) or "none"
            raise PaperError("malformed", f"{kind}: expected two ids, got {got:.200}")
        return Told(kind, ids[0], ids[1], _line(relation, self.line))

    def _related(self, relation: Fields, infons: Fields) -> Iterator[str]:
        roles = [infons.get(key) for key in ("role1", "role2")]
        if any(roles):
            for role in roles:
                yield _word(role.get("identifier") if isinstance(role, dict) else role) or ""
        else:
            for node in _objects(relation, "nodes"):
                yield self.identifiers.get(_word(node.get("refid")) or "", "")


def read_document(document: Fields, file: str, line: int) -> Read:
    """Reads a document.

    Args:
        document: Its fields, as in BioC JSON. Any of them may have a ``line``.
        file: The file, as the user named it.
        line: The line of the document, from 1; 0 where it has none.
    """
    told = document.get("pmid")
    pmid = _word(document.get("id") if told is None else told)
    if pmid is None:
        detail = "id: expected that of the abstract, got none"
        return Read(Skipped(file, line, None, "abstract", "malformed", detail), [])
    try:
        return _Document(pmid, file, line).read(document)
    except PaperError as error:
        return Read(Skipped(file, line, pmid, "abstract", error.reason, error.detail), [])


def _part(infons: Fields) -> str | None:
    kind = (_word(infons.get("type")) or "").lower()
    section = (_word(infons.get("section_type")) or "").lower()
    if section == "title" or (not section and kind in _TITLES):
        return "title"
    return _ABSTRACT if (section or kind) == _ABSTRACT else None


def _objects(holder: Fields, key: str) -> list[dict[str, Any]]:
    values = holder.get(key) or []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise PaperError("malformed", f"{key}: expected a list of objects, got {values!r:.80}")
    return values


def _infons(holder: Fields) -> Fields:
    infons = holder.get("infons") or {}
    if not isinstance(infons, dict):
        raise PaperError("malformed", f"infons: expected an object, got {infons!r:.80}")
    return infons


def _word(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return (value.strip() or None) if isinstance(value, str) else None


def _whole_number(value: object, where: str) -> int:
    word = _word(value)
    if word is None or not _NUMBER.fullmatch(word):
        raise PaperError("malformed", f"{where}: expected a whole number, got {value!r:.80}")
    return int(word)


def _line(fields: Fields, otherwise: int) -> int:
    line = fields.get("line")
    return line if isinstance(line, int) else otherwise
