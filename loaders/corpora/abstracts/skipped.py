"""What was not read of a file of abstracts, and why."""

from dataclasses import dataclass

#: What can be left out, the smaller without the larger.
UNITS = ("file", "line", "abstract", "record", "entity", "relation")

#: Why it is left out.
REASONS = {
    "unknown format": "the content is none of the formats that are read",
    "malformed": "it is not well-formed, or not of the form of its format",
    "unreadable": "the file cannot be opened, or ends in the middle",
    "too large": "one line or document takes more bytes than are read of one",
    "no abstract": "there is no text besides the title",
    "other pmid": "an annotation is not of the abstract that it stands under",
    "pmid twice": "an abstract or record of that pmid was read before",
    "offsets do not match": "the text at the offsets is not that of the mention",
    "entity without text": "a mention covers no character",
    "mention in pieces": "a mention is of several places",
    "unknown id": "a relation is of an entity that is not mentioned",
    "broken markers": "markers are missing, repeated, nested or not closed",
    "unknown polarity": "a polarity is none of those that are read",
}


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not read; all else of its file was.

    Attributes:
        file: The file, as the user named it.
        line: The line in it, from 1; 0 where it has none.
        pmid: The abstract that it is of; None where that is not known.
        unit: What is left out, one of ``UNITS``. With an abstract go its entities and relations.
        reason: Why, one of ``REASONS``.
        detail: What exactly is wrong, expected against got.
    """

    file: str
    line: int
    pmid: str | None
    unit: str
    reason: str
    detail: str
