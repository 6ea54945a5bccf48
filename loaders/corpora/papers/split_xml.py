"""Reads XML whose sentences are told, each an ``<S>``.

They stand in ``<ABSTRACT>``, ``<SECTION>`` and ``<SUBSECTION>``. Paragraphs are not told, so a
section is one. A subsection may hold its sentences, or be no more than a heading among those of its
section, in which case those after it are its own. The sentence with ``sid="0"`` is the title of the
paper. A sentence without text is none. Sentences that stand in no section are one section without
title.

Some of these files were escaped twice (``&amp;quot;``): a reference to a character that is left in
a text is replaced by that character, if there is one of that name.

A paper is called as its file is; the format tells no year.

Source: the papers of CL-SciSumm and ScisummNet.
"""

import re
from html import unescape
from xml.etree.ElementTree import Element

from ..safe_xml import named_character
from .paper import Content, Section
from .prose import collapse, is_back_matter

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
