"""Reads JATS, the XML of PubMed Central and of many publishers (also as ``.nxml``).

Read are the abstract, if it is not marked as one of another kind (graphical, of the editor, in
other words), and the sections of the body. Figures, tables, boxes, footnotes, supplements and what
stands in ``<back>`` are no prose. A citation or footnote mark printed above the line is left out:
"disease.1 However" hides where the sentence ends. Citations in the line stay as written. Numbers
above the line that are no marks stay above it (10 to the power of 4 is no 104): they are written
with the characters that exist for it.

A paper is called by its id in PubMed Central (``PMC5828200``), else by its DOI, else as its file
is. Its year is that of its earliest publication date.

Source: ANSI/NISO Z39.96 (JATS); tagging guidelines of PubMed Central.
"""

import re
from collections.abc import Sequence
from html import unescape
from typing import ClassVar
from xml.etree.ElementTree import Element

from ..safe_xml import named_character
from .paper import Content, Section, SplitSentences, year_told
from .prose import ProseReader, collapse, is_back_matter, plain_text

#: The name of the root element.
ROOT = "PAPER"

_SENTENCE = "S"
_SUBSECTION = "SUBSECTION"
_PARTS = ("ABSTRACT", "SECTION", _SUBSECTION)
_TITLE_SID = "0"
_REFERENCE = re.compile(r"&(?:(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6})|([0-9A-Za-z]+));")


def read_split_xml(root: Element) -> Content:
    """Read a paper.

    Args:
        root: The element ``<PAPER>``.
    """
    sections: list[Section] = []
    _read_part(root, "", sections)
    return Content(None, None, None, sections)


def _read_part(part: Element, title: str, sections: list[Section]) -> None:
    if is_back_matter(title):
        return
    sentences: list[str] = []

    def close() -> None:
        nonlocal sentences
        if sentences:
            sections.append(Section(title, [sentences]))
        sentences = []

    for child in part:
        if child.tag == _SENTENCE:
            if child.get("sid") != _TITLE_SID and (text := _text(child)):
                sentences.append(text)
        elif child.tag in _PARTS:
            close()
            own_title = _title(child)
            _read_part(child, own_title, sections)
            if child.tag == _SUBSECTION:
                title = own_title
    close()


def _title(part: Element) -> str:
    told = part.get("title") or part.text or ""
    return _clean(told) or ("Abstract" if part.tag == "ABSTRACT" else "")


def _text(sentence: Element) -> str:
    return _clean("".join(sentence.itertext()) if len(sentence) else sentence.text or "")


def _clean(text: str) -> str:
    return collapse(_REFERENCE.sub(_character, text) if "&" in text else text)


def _character(reference: re.Match[str]) -> str:
    number, name = reference.groups()
    return unescape(reference[0]) if number else named_character(name) or reference[0]


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


#: The name of the root element.
ROOT = "article"

_MARK_TYPES = ("bibr", "fn", "table-fn", "author-notes")
_ABOVE = str.maketrans(
    "0123456789+-\u2212",
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207b",
)
_MATH = "mml:math"
_TEX = "tex-math"


class _JatsReader(ProseReader):
    SECTION: ClassVar = "sec"
    TITLE: ClassVar = "title"
    PARAGRAPHS: ClassVar = frozenset({"p"})
    BLOCKS: ClassVar = frozenset({"p", "list", "disp-quote", "statement", "disp-formula-group"})
    FORMULA: ClassVar = "disp-formula"
    LEFT_OUT: ClassVar = frozenset(
        [
            "annotation",
            "annotation-xml",
            "array",
            "attrib",
            "boxed-text",
            "caption",
            "code",
            "def-list",
            "fig",
            "fig-group",
            "fn",
            "fn-group",
            "glossary",
            "graphic",
            "inline-graphic",
            "label",
            "media",
            "object-id",
            "preformat",
            "ref-list",
            "supplementary-material",
            "table",
            "table-wrap",
            "table-wrap-group",
        ]
    )

    def is_aside(self, element: Element) -> bool:
        return element.get("sec-type") == "supplementary-material"

    def render(self, element: Element, before: Sequence[str]) -> str | None:
        match element.tag:
            case "xref" if _is_mark(element) and element.find(".//sup") is not None:
                return ""
            case "sup":
                if any(_is_mark(xref) for xref in element.iter("xref")):
                    return ""
                text = plain_text(element, self.LEFT_OUT)
                above = text.translate(_ABOVE)
                return above if not any(map(str.isascii, above)) else text
            case "inline-formula":
                return self.formula(element)
            case "break":
                return " "
        return None

    def formula(self, element: Element) -> str:
        # The same formula may be there as MathML, as TeX and as a picture.
        if (math := next(element.iter(_MATH), None)) is not None:
            return plain_text(math, self.LEFT_OUT)
        if (tex := next(element.iter(_TEX), None)) is not None:
            return collapse(_body_of_tex(tex.text or ""))
        return super().formula(element)


def _is_mark(xref: Element) -> bool:
    return xref.get("ref-type") in _MARK_TYPES


def _body_of_tex(text: str) -> str:
    # Some publishers give each formula as a document with all its packages.
    return text.partition(r"\begin{document}")[2].partition(r"\end{document}")[0] or text


def read_jats(root: Element, split: SplitSentences) -> Content:
    """Read a paper.

    Args:
        root: The element ``<article>``.
        split: Cuts paragraphs into sentences.
    """
    reader = _JatsReader(split)
    for abstract in root.findall("front/article-meta/abstract"):
        if abstract.get("abstract-type") is None:
            reader.read(abstract, "Abstract")
    if (body := root.find("body")) is not None:
        reader.read(body, "")
    dates = root.findall("front/article-meta/pub-date/year")
    years = [year for date in dates if (year := year_told(date.text)) is not None]
    return Content(_id(root), min(years, default=None), None, reader.sections)


def _id(root: Element) -> str | None:
    ids = {
        told.get("pub-id-type"): collapse(told.text or "")
        for told in root.findall("front/article-meta/article-id")
    }
    if number := (ids.get("pmc") or ids.get("pmcid") or "").removeprefix("PMC"):
        return f"PMC{number}"
    return ids.get("doi") or None
