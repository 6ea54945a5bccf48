"""XML papers into trees, with nothing that a file could do beyond its text.

A document type is passed over, since files of PubMed Central name theirs; nothing outside the file
is ever read. What such a document type would define, the names of characters (``&nbsp;``,
``&alpha;``), is taken from HTML's list of them. A file that declares entities of its own is refused
before any is expanded, since a few of them can stand for gigabytes, or for files on this machine.
Pictures may be declared: they are never expanded.
"""

from collections.abc import Collection
from html.entities import html5
from typing import IO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from .skips import MAX_PAPER_BYTES, PaperError, too_large

_CHUNK_BYTES = 1 << 16


def parse_tree(stream: IO[bytes], roots: Collection[str]) -> Element:
    """Reads an XML file of one paper.

    Args:
        stream: The file; it says its encoding itself, else it is UTF-8.
        roots: The names that its root element may have.

    Returns:
        The root element. Names are as written, with their prefixes; comments and processing
        instructions are left out.

    Raises:
        PaperError: It is not well-formed, has another root, declares an entity or is too large.
    """
    # The builder's methods are called by the parser directly: no Python code runs for an element.
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start_root(tag: str, attributes: dict[str, str]) -> None:
        if tag not in roots:
            expected = ", ".join(f"<{root}>" for root in sorted(roots))
            raise PaperError("unknown format", f"the root is <{tag:.80}>, expected {expected}")
        parser.StartElementHandler = builder.start
        builder.start(tag, attributes)

    def declare_entity(name: str, *declared: object) -> None:
        *_, notation = declared
        if notation is None:
            raise PaperError(
                "malformed",
                f"declares the entity {name!r:.80}; expected text without entities of its own",
                parser.CurrentLineNumber,
            )

    def add_character(name: str, is_parameter: bool) -> None:
        if is_parameter:
            return
        character = named_character(name)
        if character is None:
            raise PaperError(
                "malformed", f"the entity &{name:.80}; is not known", parser.CurrentLineNumber
            )
        builder.data(character)

    parser.StartElementHandler = start_root
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = declare_entity
    parser.SkippedEntityHandler = add_character
    n_bytes = 0
    try:
        while chunk := stream.read(_CHUNK_BYTES):
            n_bytes += len(chunk)
            if n_bytes > MAX_PAPER_BYTES:
                raise too_large()
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        message = f"not well-formed XML: {expat.errors.messages[error.code]}"
        raise PaperError("malformed", message, error.lineno) from None
    except (LookupError, ValueError) as error:  # an encoding that is not known or does not fit
        raise PaperError("malformed", f"cannot be decoded: {error}", 1) from None
    return builder.close()


def named_character(name: str) -> str | None:
    """The character, or characters, that HTML calls by that name; None if there is none."""
    return html5.get(f"{name};")
