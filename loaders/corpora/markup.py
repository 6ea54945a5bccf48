"""XML into plain elements with line numbers, with nothing that a file could do beyond its text.

A document type declaration is refused before anything in it is read, so there are no entities to
expand and no files to fetch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ..errors import BankError, Defect


@dataclass(slots=True)
class Element:
    """An XML element.

    Attributes:
        tag: Its name.
        attributes: Its attributes, in file order.
        line: The line where it opens, from 1.
        text: The text before its first child element; comments leave no trace.
        children: Its child elements.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def all(self, tag: str) -> Iterator["Element"]:
        """The children of that name."""
        return (child for child in self.children if child.tag == tag)


class _DoctypeError(Exception):
    pass


def read_xml(path: Path) -> Element:
    """Reads an XML file.

    Args:
        path: The file.

    Returns:
        The root element.

    Raises:
        BankError: The file is not well-formed XML, or declares a document type.
        FileNotFoundError: There is no such file.
    """
    parser = expat.ParserCreate()
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
        raise _DoctypeError

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(path.read_bytes(), True)
    except _DoctypeError:
        message = "a document type declaration (<!DOCTYPE ...>) is not allowed: remove it"
        raise BankError([Defect(str(path), parser.CurrentLineNumber, "", message)]) from None
    except (LookupError, ValueError) as error:  # an encoding that is not known or does not fit
        message = f"cannot be decoded: {error}"
        raise BankError([Defect(str(path), 1, "", message)]) from None
    except expat.ExpatError as error:
        message = f"not well-formed XML: {expat.errors.messages[error.code]}"
        raise BankError([Defect(str(path), error.lineno, "", message)]) from None
    return root.children[0]
