"""Reads BioC XML, one document at a time, with nothing that a file could do beyond its text.

Each ``<document>`` becomes the fields that it has in BioC JSON. The document type that PubTator's
files name is not read; a file that declares entities of its own is refused, since a few of them can
stand for gigabytes.
"""

from collections.abc import Iterator
from typing import IO, Any
from xml.parsers import expat

from ..markup import Element
from ..papers.skips import MAX_PAPER_BYTES, PaperError, too_large
from ..papers.xml_tree import named_character
from .annotations import Read
from .bioc import read_document
from .skipped import Skipped

_ROOT, _DOCUMENT = "collection", "document"
_CHUNK_BYTES = 1 << 16


class _Parser:
    """Cuts a collection into the elements of its documents."""

    def __init__(self) -> None:
        self.documents: list[Element] = []
        self.open: list[Element] = []  # the document that is being read, and what is open in it
        self._pieces: list[str] = []
        self._is_root = True
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._pieces.append
        self._expat.EntityDeclHandler = self._refuse_entity
        self._expat.SkippedEntityHandler = self._add_character

    def feed(self, chunk: bytes) -> PaperError | None:
        """Reads on; an empty chunk is the end. Says what is wrong."""
        try:
            self._expat.Parse(chunk, not chunk)
        except PaperError as error:
            return error
        except expat.ExpatError as error:
            message = f"not well-formed XML: {expat.errors.messages[error.code]}"
            return PaperError("malformed", message, error.lineno)
        except (LookupError, ValueError) as error:  # an encoding that is not known or does not fit
            return PaperError("malformed", f"cannot be decoded: {error}", 1)
        return None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._is_root and tag != _ROOT:
            detail = f"the root is <{tag:.80}>, expected <{_ROOT}>"
            raise PaperError("unknown format", detail, self._expat.CurrentLineNumber)
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

    def _refuse_entity(self, name: str, *_: object) -> None:
        detail = f"declares the entity {name!r:.80}; expected text without entities of its own"
        raise PaperError("malformed", detail, self._expat.CurrentLineNumber)

    def _add_character(self, name: str, is_parameter: bool) -> None:
        if is_parameter:
            return
        if (character := named_character(name)) is None:
            raise PaperError(
                "malformed", f"the entity &{name:.80}; is not known", self._expat.CurrentLineNumber
            )
        self._pieces.append(character)


def read_bioc_xml(stream: IO[bytes], file: str) -> Iterator[Read]:
    """Reads the documents of a collection.

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
        if broken is None and n_bytes > MAX_PAPER_BYTES:
            broken = too_large()
        for element in parser.documents:
            yield read_document(_document(element), file, element.line)
        parser.documents.clear()
    if broken is not None:
        pmid = _text(parser.open[0], "id") if parser.open else None
        yield Read(Skipped(file, broken.line, pmid, "file", broken.reason, broken.detail), [])


def _document(element: Element) -> dict[str, Any]:
    """A document with the fields that it has in BioC JSON, and with lines."""
    return {
        "id": _text(element, "id"),
        "infons": _infons(element),
        "passages": [
            {
                "infons": _infons(passage),
                "offset": _text(passage, "offset"),
                "text": _text(passage, "text", is_stripped=False),
                "annotations": [_annotation(one) for one in passage.all("annotation")],
                "relations": [_relation(one) for one in passage.all("relation")],
            }
            for passage in element.all("passage")
        ],
        "relations": [_relation(one) for one in element.all("relation")],
    }


def _annotation(element: Element) -> dict[str, Any]:
    return {
        "id": element.attributes.get("id"),
        "infons": _infons(element),
        "text": _text(element, "text", is_stripped=False),
        "locations": [location.attributes for location in element.all("location")],
        "line": element.line,
    }


def _relation(element: Element) -> dict[str, Any]:
    nodes = [node.attributes for node in element.all("node")]
    return {"infons": _infons(element), "nodes": nodes, "line": element.line}


def _infons(element: Element) -> dict[str, str]:
    return {infon.attributes.get("key", ""): infon.text for infon in element.all("infon")}


def _text(element: Element, tag: str, *, is_stripped: bool = True) -> str | None:
    child = next(element.all(tag), None)
    if child is None:
        return None
    return child.text.strip() if is_stripped else child.text
