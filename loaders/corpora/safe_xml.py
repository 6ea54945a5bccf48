"""Read XML with nothing that a file could do beyond its text: no entities, no other files.

A file that declares entities of its own is refused before any is expanded, since a few of them can
stand for gigabytes, or for files on this machine. Pictures may be declared: they are never
expanded. A document type, such as that of PubMed Central, is passed over; nothing outside the file
is ever read. The names of characters that it would define (``&nbsp;``, ``&alpha;``) are those of
HTML. Pattern banks may not name a document type.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat

from ..bounds import MAX_RECORD_BYTES, MAX_TAGS, MAX_TOKEN_BYTES, too_large
from ..errors import BankError, Defect, RecordError

#: The errors of a parser where XML is not well-formed, or its encoding unknown or not kept.
XML_ERRORS = (expat.ExpatError, LookupError, ValueError)

_CHUNK_BYTES = 1 << 16


@dataclass(slots=True)
class Element:
    """An XML element that knows its line.

    Attributes:
        tag: The name.
        attributes: The attributes, in file order.
        line: The line where it opens, from 1.
        text: The text before the first child element; comments leave no trace.
        children: The child elements.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def all(self, tag: str) -> Iterator["Element"]:
        """Return the children of a name."""
        return (child for child in self.children if child.tag == tag)


def new_parser(add_text: Callable[[str], object]) -> expat.XMLParserType:
    """Return an XML parser that refuses declared entities, and reads named characters as text.

    Its handlers raise ``RecordError``; it raises ``XML_ERRORS`` itself.

    Args:
        add_text: Takes each piece of text.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse_entity(name: str, *declared: object) -> None:
        *_, notation = declared
        if notation is None:
            raise RecordError(
                "malformed",
                f"declares the entity {name!r:.80}; expected text without entities of its own",
                parser.CurrentLineNumber,
            )

    def add_character(name: str, is_parameter: bool) -> None:
        if is_parameter:
            return
        character = named_character(name)
        if character is None:
            raise RecordError(
                "malformed", f"the entity &{name:.80}; is not known", parser.CurrentLineNumber
            )
        add_text(character)

    parser.CharacterDataHandler = add_text
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = add_character
    return parser


def named_character(name: str) -> str | None:
    """Return the character, or characters, of a name in HTML; None if there is none."""
    return html5.get(f"{name};")


def xml_problem(error: BaseException) -> RecordError:
    """Return the problem of a file for one of ``XML_ERRORS``."""
    if isinstance(error, expat.ExpatError):
        message = f"not well-formed XML: {expat.errors.messages[error.code]}"
        return RecordError("malformed", message, error.lineno)
    return RecordError("malformed", f"cannot be decoded: {error}", 1)


def parse_tree(stream: IO[bytes], roots: Collection[str]) -> ElementTree.Element:
    """Read an XML file of one paper or collection, without comments and processing instructions.

    Args:
        stream: The file, in the encoding that it declares, else in UTF-8.
        roots: The names that its root element may have.

    Returns:
        The root element. Names are as written, with their prefixes.

    Raises:
        RecordError: It is not well-formed, has another root, declares an entity or is too large.
    """
    # The builder's methods are called by the parser directly: no Python code runs for an element.
    builder = ElementTree.TreeBuilder()
    parser = new_parser(builder.data)

    def start_root(tag: str, attributes: dict[str, str]) -> None:
        if tag not in roots:
            expected = ", ".join(f"<{root}>" for root in sorted(roots))
            raise RecordError("unknown format", f"the root is <{tag:.80}>, expected {expected}")
        parser.StartElementHandler = builder.start
        builder.start(tag, attributes)

    parser.StartElementHandler = start_root
    parser.EndElementHandler = builder.end
    n_bytes = n_tags = 0
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            n_bytes += len(chunk)
            if n_bytes > MAX_RECORD_BYTES:
                raise too_large()
            n_tags += chunk.count(b"<")
            if n_tags > MAX_TAGS:
                raise too_large(f"has more than {MAX_TAGS:,} tags")
            parser.Parse(chunk, False)
            if n_bytes - parser.CurrentByteIndex > MAX_TOKEN_BYTES:
                detail = f"has a tag of more than {MAX_TOKEN_BYTES:,} bytes"
                raise too_large(detail, parser.CurrentLineNumber)
        parser.Parse(b"", True)
    except XML_ERRORS as error:
        raise xml_problem(error) from None
    return builder.close()


def read_xml(path: Path) -> Element:
    """Read a small XML file of a pattern bank, and return its root element.

    A document type is refused before anything in it is read.

    Raises:
        BankError: The file is not well-formed XML, or declares a document type.
        FileNotFoundError: There is no such file.
    """
    root = Element("", {}, 0)
    open_elements = [root]
    pieces: dict[int, list[str]] = {}  # of the texts of the open elements

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(tag: str) -> None:
        element = open_elements.pop()
        element.text = "".join(pieces.pop(id(element), ()))

    def characters(text: str) -> None:
        if not open_elements[-1].children:
            pieces.setdefault(id(open_elements[-1]), []).append(text)

    def doctype(*_: object) -> None:
        message = "a document type declaration (<!DOCTYPE ...>) is not allowed: remove it"
        raise RecordError("malformed", message, parser.CurrentLineNumber)

    parser = new_parser(characters)
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(path.read_bytes(), True)
    except (RecordError, *XML_ERRORS) as error:
        problem = error if isinstance(error, RecordError) else xml_problem(error)
        raise BankError([Defect(str(path), problem.line, "", problem.detail)]) from None
    return root.children[0]
