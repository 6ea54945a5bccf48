"""Read the running prose of an XML paper: which text counts, and where paragraphs end."""

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar
from xml.etree.ElementTree import Element

from .paper import Section, SplitSentences

# Sections that some pipelines leave in the body though they are back matter: "8 Acknowledgements",
# "References.", "ACKNOWLEGMENTS".
_BACK_MATTER = re.compile(
    r"(?:(?:[0-9]+|[IVX]+)\.?\s+)?"
    r"(?:acknowled?ge?ments?|references|bibliography|literature cited|funding"
    r"|author(?:s['\u2019]|['\u2019]s)? contributions?"
    r"|(?:conflicts? of|competing|declaration of(?: competing)?) interests?)"
    r"[\s.:]*",
    re.IGNORECASE,
)


def collapse(text: str) -> str:
    """Return a text with each run of blanks and line breaks as one blank, and none at its ends."""
    # Most sentences are clean already; to see that takes a quarter of the time of cleaning. In XML,
    # ASCII has no more blanks than these.
    if (
        text.isascii()
        and "  " not in text
        and "\n" not in text
        and "\t" not in text
        and "\r" not in text
        and text == text.strip()
    ):
        return text
    return " ".join(text.split())


def is_back_matter(title: str) -> bool:
    """Return whether a section of that title is not part of a paper's argument.

    These are acknowledgements, references, and statements on funding, contributions and interests,
    wherever in the file they are.
    """
    return _BACK_MATTER.fullmatch(title.strip()) is not None


class ProseReader:
    """Reads the sections of a paper from its tree; formats say which element is what.

    An element that a format does not name is passed through: inside a paragraph it is part of its
    text, outside one it may hold paragraphs. A displayed formula belongs to the paragraph before
    it, and does not end it where the text goes on with a lower-case letter ("where W is ...").

    Attributes:
        sections: The sections that were read so far.
        SECTIONS: The elements of sections.
        TITLE: The element of its heading.
        PARAGRAPHS: Elements that hold a paragraph.
        BLOCKS: Elements inside a paragraph that interrupt it: paragraphs, and what holds some.
        FORMULA: The element of a displayed formula.
        SENTENCE: The element of a sentence, where a format has one.
        LEFT_OUT: Elements whose text is not prose.
    """

    SECTIONS: ClassVar[frozenset[str]]
    TITLE: ClassVar[str]
    PARAGRAPHS: ClassVar[frozenset[str]]
    BLOCKS: ClassVar[frozenset[str]]
    FORMULA: ClassVar[str]
    SENTENCE: ClassVar[str | None] = None
    LEFT_OUT: ClassVar[frozenset[str]]

    def __init__(self, split: SplitSentences) -> None:
        self.sections: list[Section] = []
        self._split = split
        self._title = ""
        self._paragraphs: list[list[str]] = []
        self._paragraph: list[str] = []  # the sentences of the paragraph that is being read
        self._pieces: list[str] = []  # its text that is not yet split
        self._is_after_formula = False

    def read(self, element: Element, title: str) -> None:
        """Read all paragraphs of an element, and its sections.

        Args:
            element: The abstract, the body, or a section.
            title: The title of the paragraphs outside all sections with a heading.
        """
        if is_back_matter(title):
            return
        self._begin_section(title)
        self._read_blocks(element, title)
        self._begin_section("")

    def is_aside(self, element: Element) -> bool:
        """Return whether a section or block is not the paper's own prose, whatever its title."""
        return False

    def render(self, element: Element, before: Sequence[str]) -> str | None:
        """Return the text of an element inside a paragraph, where the format decides it.

        Args:
            element: The element.
            before: The pieces of text before it, in the paragraph or sentence.

        Returns:
            The text, empty to leave it out; None for an element that is read as any other.
        """
        return None

    def formula(self, element: Element) -> str:
        """Return the text of a formula, without its number."""
        return plain_text(element, self.LEFT_OUT)

    def _begin_section(self, title: str) -> None:
        if self._paragraphs:
            self.sections.append(Section(self._title, self._paragraphs))
        self._paragraphs = []
        self._is_after_formula = False
        self._title = title

    def _read_blocks(self, elements: Iterable[Element], title: str) -> None:
        for child in elements:
            if self.is_aside(child):
                continue
            if child.tag in self.SECTIONS:
                heading = child.find(self.TITLE)
                own = "" if heading is None else plain_text(heading, self.LEFT_OUT)
                self.read(child, own or title)
                self._begin_section(title)
            elif child.tag in self.PARAGRAPHS:
                self._read_paragraph(child)
                self._end_paragraph()
            elif child.tag == self.FORMULA:
                self._add_formula(self.formula(child))
            elif child.tag != self.TITLE and child.tag not in self.LEFT_OUT:
                self._read_blocks(child, title)

    def _read_paragraph(self, element: Element) -> None:
        pieces = self._pieces
        pieces.append(element.text or "")
        for child in element:
            tag = child.tag
            if tag == self.SENTENCE:
                self._end_text()
                self._read_paragraph(child)
                self._end_text(is_sentence=True)
            elif tag in self.BLOCKS:
                self._end_paragraph()
                self._read_blocks([child], self._title)
            elif tag == self.FORMULA:
                pieces.append(f" {self.formula(child)} ")
            elif tag not in self.LEFT_OUT:
                text = self.render(child, pieces)
                if text is None:
                    self._read_paragraph(child)
                else:
                    if not text and (child.tail or "").startswith((".", ",", ";", ":", ")")):
                        pieces[-1] = pieces[-1].rstrip()  # "disease <sup>1</sup>."
                    pieces.append(text)
            pieces.append(child.tail or "")

    def _end_text(self, *, is_sentence: bool = False) -> None:
        text = collapse("".join(self._pieces))
        self._pieces.clear()
        if text:
            self._paragraph.extend([text] if is_sentence else self._split(text))

    def _end_paragraph(self) -> None:
        self._end_text()
        sentences, self._paragraph = self._paragraph, []
        if not sentences:
            return
        if self._is_after_formula and sentences[0][0].islower():
            self._paragraphs[-1][-1] += f" {sentences[0]}"
            self._paragraphs[-1] += sentences[1:]
        else:
            self._paragraphs.append(sentences)
        self._is_after_formula = False

    def _add_formula(self, text: str) -> None:
        if not text:
            return
        if self._paragraphs:
            self._paragraphs[-1][-1] += f" {text}"
        else:  # right under a heading
            self._paragraphs.append([text])
        self._is_after_formula = True


def plain_text(element: Element, left_out: frozenset[str]) -> str:
    """Return the text in an element, without the elements in it that are left out."""
    pieces: list[str] = []

    def add(part: Element) -> None:
        pieces.append(part.text or "")
        for child in part:
            if child.tag not in left_out:
                add(child)
            pieces.append(child.tail or "")

    add(element)
    return collapse("".join(pieces))
