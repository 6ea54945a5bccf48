"""Reads documents of BioC, from JSON or from XML, as PubTator 3 serves them.

Read are the passages whose ``type`` or ``section_type`` says title or abstract; several of an
abstract are joined with a blank. All others, of a full text, are passed over with what is annotated
in them. Offsets of passages and of annotations count characters from the start of the document.

An entity has its id in the infon ``identifier``. A relation has its two in ``role1`` and ``role2``
(in JSON an object with an ``identifier``, or, as always in XML, ``Chemical|MESH:D003911``), and its
kind in ``type``. Where there are no roles, its two nodes name annotations by their ids.

XML is read one ``<document>`` at a time; each becomes the fields that it has in BioC JSON.

Source: the BioC format (Comeau et al., 2013), and what PubTator 3 exports as BioC XML and JSON.
"""

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from ...errors import MAX_RECORD_BYTES, RecordError, too_large
from ..safe_xml import XML_ERRORS, Element, new_parser, xml_problem
from .abstract import Mention, Read, Skipped, Told, annotate

#: A JSON object with one of these keys is a document; one of the others holds several.
DOCUMENT_KEY = "passages"
COLLECTION_KEYS = ("PubTator3", "documents")
_TITLES = frozenset({"title", "front"})
_ABSTRACT = "abstract"
_NUMBER = re.compile(r"[0-9]+", re.ASCII)
#: The elements of BioC XML that hold documents, and a document.
_ROOT, _DOCUMENT = "collection", "document"
_CHUNK_BYTES = 1 << 16

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

    def skip(self, fields: Fields, unit: str, error: RecordError) -> None:
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
            except RecordError as error:
                self.skip(annotation, "entity", error)
        for holder in (*passages, document):
            for relation in _objects(holder, "relations"):
                try:
                    self.relations.append(self._relation(relation))
                except RecordError as error:
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
            raise RecordError("malformed", f"text: expected text, got {type(text).__name__}")
        before = self.texts[part]
        shift = sum(map(len, before)) + len(before)
        before.append(text)
        offset = _whole_number(passage.get("offset"), "offset of a passage")
        self.annotations.extend((part, shift - offset, one) for one in annotations)

    def _mention(self, annotation: Fields, shift: int) -> Mention:
        infons = _infons(annotation)
        kind, text = _word(infons.get("type")), annotation.get("text") or ""
        if kind is None:
            raise RecordError("malformed", "expected a type of entity, got none")
        if not isinstance(text, str):
            raise RecordError("malformed", f"text: expected text, got {type(text).__name__}")
        locations = _objects(annotation, "locations")
        if not locations:
            raise RecordError("malformed", "expected a location, got none")
        if len(locations) > 1:
            raise RecordError("mention in pieces", f"expected one location, got {len(locations)}")
        start = shift + _whole_number(locations[0].get("offset"), "offset")
        end = start + _whole_number(locations[0].get("length"), "length")
        identifier = _word(infons.get("identifier")) or ""
        return Mention(start, end, text, kind, identifier, _line(annotation, self.line))

    def _relation(self, relation: Fields) -> Told:
        infons = _infons(relation)
        kind = _word(infons.get("type"))
        if kind is None:
            raise RecordError("malformed", "expected a type of relation, got none")
        ids = list(self._related(relation, infons))
        if len(ids) != 2 or not all(ids):
            got = ", ".join(repr(one) for one in ids) or "none"
            raise RecordError("malformed", f"{kind}: expected two ids, got {got:.200}")
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
    """Read a document.

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
    except RecordError as error:
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
        raise RecordError("malformed", f"{key}: expected a list of objects, got {values!r:.80}")
    return values


def _infons(holder: Fields) -> Fields:
    infons = holder.get("infons") or {}
    if not isinstance(infons, dict):
        raise RecordError("malformed", f"infons: expected an object, got {infons!r:.80}")
    return infons


def _word(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return (value.strip() or None) if isinstance(value, str) else None


def _whole_number(value: object, where: str) -> int:
    word = _word(value)
    if word is None or not _NUMBER.fullmatch(word):
        raise RecordError("malformed", f"{where}: expected a whole number, got {value!r:.80}")
    return int(word)


def _line(fields: Fields, otherwise: int) -> int:
    line = fields.get("line")
    return line if isinstance(line, int) else otherwise


class _Parser:
    """Cuts a collection into the elements of its documents."""

    def __init__(self) -> None:
        self.documents: list[Element] = []
        self.open: list[Element] = []  # the document that is being read, and what is open in it
        self._pieces: list[str] = []
        self._is_root = True
        self._expat = new_parser(self._pieces.append)
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end

    def feed(self, chunk: bytes) -> RecordError | None:
        """Read on; an empty chunk is the end. Return what is wrong."""
        try:
            self._expat.Parse(chunk, not chunk)
        except RecordError as error:
            return error
        except XML_ERRORS as error:
            return xml_problem(error)
        return None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._is_root and tag != _ROOT:
            detail = f"the root is <{tag:.80}>, expected <{_ROOT}>"
            raise RecordError("unknown format", detail, self._expat.CurrentLineNumber)
        self._is_root = False
        self._pieces.clear()
        if self.open or tag == _DOCUMENT:
            element = Element(tag, attributes, self._expat.CurrentLineNumber)
            if self.open:
                self.open[-1].children.append(element)
            self.open.append(element)

    def _end(self, tag: str) -> None:
        if self.open:
            element = self.open.pop()
            if not element.children:
                element.text = "".join(self._pieces)
            if not self.open:
                self.documents.append(element)
        self._pieces.clear()


def read_bioc_xml(stream: IO[bytes], file: str) -> Iterator[Read]:
    """Read the documents of a collection.

    Args:
        stream: The file; it says its encoding itself, else it is UTF-8.
        file: What it is called.

    Yields:
        The abstracts in the order of the file, with what was left out of each; last what is wrong
        with the file, if it is not well-formed to its end.
    """
    parser = _Parser()
    n_bytes = 0  # since a document ended
    chunk, broken = b"start", None
    while chunk and broken is None:
        chunk = stream.read(_CHUNK_BYTES)
        broken = parser.feed(chunk)
        n_bytes = 0 if parser.documents else n_bytes + len(chunk)
        if broken is None and n_bytes > MAX_RECORD_BYTES:
            broken = too_large()
        for element in parser.documents:
            yield read_document(_xml_document(element), file, element.line)
        parser.documents.clear()
    if broken is not None:
        pmid = _xml_text(parser.open[0], "id") if parser.open else None
        yield Read(Skipped(file, broken.line, pmid, "file", broken.reason, broken.detail), [])


def _xml_document(element: Element) -> dict[str, Any]:
    """A document with the fields that it has in BioC JSON, and with lines."""
    return {
        "id": _xml_text(element, "id"),
        "infons": _xml_infons(element),
        "passages": [
            {
                "infons": _xml_infons(passage),
                "offset": _xml_text(passage, "offset"),
                "text": _xml_text(passage, "text", is_stripped=False),
                "annotations": [_xml_annotation(one) for one in passage.all("annotation")],
                "relations": [_xml_relation(one) for one in passage.all("relation")],
            }
            for passage in element.all("passage")
        ],
        "relations": [_xml_relation(one) for one in element.all("relation")],
    }


def _xml_annotation(element: Element) -> dict[str, Any]:
    return {
        "id": element.attributes.get("id"),
        "infons": _xml_infons(element),
        "text": _xml_text(element, "text", is_stripped=False),
        "locations": [location.attributes for location in element.all("location")],
        "line": element.line,
    }


def _xml_relation(element: Element) -> dict[str, Any]:
    nodes = [node.attributes for node in element.all("node")]
    return {"infons": _xml_infons(element), "nodes": nodes, "line": element.line}


def _xml_infons(element: Element) -> dict[str, str]:
    return {infon.attributes.get("key", ""): infon.text for infon in element.all("infon")}


def _xml_text(element: Element, tag: str, *, is_stripped: bool = True) -> str | None:
    child = next(element.all(tag), None)
    if child is None:
        return None
    return child.text.strip() if is_stripped else child.text
