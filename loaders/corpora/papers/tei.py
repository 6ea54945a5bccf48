"""Reads TEI as GROBID writes it, with or without its sentences told as ``<s>``.

Read are the abstract and the sections (``<div>``) of the body. Figures, tables, footnotes and what
stands in ``<back>`` are no prose. A citation or footnote mark that is a bare number was printed
above the line, and is left out: "of a paper.4 As such" hides where the sentence ends. Citations by
name and those in brackets stay as written.

TEI has no id to trust: a paper is called as its file is. Its year is that of the publication date
in the header.

Source: the TEI that GROBID documents and writes (versions 0.6 to 0.8).
"""

import re
from collections.abc import Sequence
from typing import ClassVar
from xml.etree.ElementTree import Element

from .ids import year_told
from .paper import Content, SplitSentences
from .prose import ProseReader, plain_text

#: The name of the root element.
ROOT = "TEI"

_DATES = (
    "teiHeader/fileDesc/publicationStmt/date",
    "teiHeader/fileDesc/sourceDesc/biblStruct/monogr/imprint/date",
)
_MARK_TYPES = ("bibr", "foot")
_MARK = re.compile(r"[0-9]{1,3}(?:\s*[,\u2013-]\s*[0-9]{1,3})*,?")
_N_PIECES_BEFORE = 16  # in which a bracket that is still open is looked for


class _TeiReader(ProseReader):
    SECTION: ClassVar = "div"
    TITLE: ClassVar = "head"
    PARAGRAPHS: ClassVar = frozenset({"p", "item", "ab"})
    BLOCKS: ClassVar = frozenset({"p", "list", "item", "quote"})
    FORMULA: ClassVar = "formula"
    SENTENCE: ClassVar = "s"
    LEFT_OUT: ClassVar = frozenset({"figure", "table", "note", "label", "listBibl", "graphic"})

    def render(self, element: Element, before: Sequence[str]) -> str | None:
        if element.tag != "ref" or element.get("type") not in _MARK_TYPES:
            return None
        if not _MARK.fullmatch(plain_text(element, self.LEFT_OUT)):
            return None
        text = "".join(before[-_N_PIECES_BEFORE:])
        is_in_brackets = any(text.rfind(a) > text.rfind(b) for a, b in ("[]", "()"))
        return None if is_in_brackets else ""


def read_tei(root: Element, split: SplitSentences) -> Content:
    """Read a paper.

    Args:
        root: The element ``<TEI>``.
        split: Cuts paragraphs whose sentences the file does not tell.
    """
    reader = _TeiReader(split)
    if (abstract := root.find("teiHeader/profileDesc/abstract")) is not None:
        reader.read(abstract, "Abstract")
    if (body := root.find("text/body")) is not None:
        reader.read(body, "")
    dates = (date for path in _DATES for date in root.findall(path))
    told = (year_told(date.get("when") or date.text) for date in dates)
    return Content(None, next(filter(None, told), None), None, reader.sections)
