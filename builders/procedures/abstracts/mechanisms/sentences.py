"""Cuts the text of an abstract into sentences, none of which cuts a mention."""

from typing import NamedTuple

from .....loaders.corpora.abstracts.abstract import Abstract
from .....loaders.corpora.papers.paper import SplitSentences


class Span(NamedTuple):
    """A part of ``Abstract.text``.

    Attributes:
        start: Where it begins.
        end: Where it ends.
    """

    start: int
    end: int

    def holds(self, other: "Span") -> bool:
        """Whether the other lies in it."""
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: "Span") -> bool:
        """Whether they share a character."""
        return self.start < other.end and other.start < self.end


def find_sentences(abstract: Abstract, split: SplitSentences) -> list[Span]:
    """The sentences of an abstract, without the title.

    Two sentences between which a mention was cut become one: "Heat shock protein (mol. wt. 70)".

    Args:
        abstract: The abstract.
        split: Cuts a text into sentences that have all its characters but the blanks between them.

    Returns:
        Where the sentences are.

    Raises:
        ValueError: ``split`` gives a sentence that is not in the text.
    """
    sentences: list[Span] = []
    position = abstract.title_end + 1
    inner = {place for entity in abstract.entities for place in range(entity.start + 1, entity.end)}
    for sentence in split(abstract.text[position:]):
        start = abstract.text.index(sentence, position)
        position = start + len(sentence)
        # A mention is cut where a place inside of it lies between two sentences.
        is_cut = bool(sentences) and not inner.isdisjoint(range(sentences[-1].end, start + 1))
        sentences.append(Span(sentences.pop().start if is_cut else start, position))
    return sentences
