"""The largest things that are read, so that no file can fill memory, the disk or the day.

Each bound has a name, a default and the error of what is beyond it. None is an option: they are far
beyond what releases, papers and abstracts have.
"""

from .errors import RecordError

#: Of one paper, abstract or document, in bytes; beyond it a ``RecordError``, "too large".
MAX_RECORD_BYTES = 1 << 26
#: Of the values of one paper or abstract in JSON; beyond it a ``RecordError``, "too large".
#: A value takes up to 60 bytes of memory, in the file as few as 2.
MAX_VALUES = 4_000_000
#: Of the tags of one paper in XML, opening and closing ones; beyond it a ``RecordError``, "too
#: large". An element takes up to 280 bytes of memory, in the file as few as 3.
MAX_TAGS = 2_000_000
#: Of one tag, comment or name in XML, in bytes; beyond it a ``RecordError``, "too large". An
#: attribute that does not end is read again with every piece of the file.
MAX_TOKEN_BYTES = 1 << 22
#: Of a whole number in text: each has a meaning as an offset, length, number or year. Beyond it the
#: number is malformed like any other text.
MAX_DIGITS = 18
#: Of the conclusion of an abstract, in characters; beyond it the abstract gives no mechanism, since
#: the time to judge a sentence grows with the square of its length.
MAX_CONCLUSION_CHARS = 4_000
#: Of the answer of a model's server, in bytes; beyond it the question counts as refused.
MAX_ANSWER_BYTES = 1 << 23


def too_large(
    detail: str = f"takes more than {MAX_RECORD_BYTES:,} bytes", line: int = 0
) -> RecordError:
    """Return the error for a paper or abstract that is beyond a bound."""
    return RecordError("too large", f"one paper {detail}", line)


def is_whole_number(text: str) -> bool:
    """Return whether a text is a whole number of ASCII digits, at most ``MAX_DIGITS``.

    >>> is_whole_number("042"), is_whole_number("-1"), is_whole_number("1" * 19)
    (True, False, False)
    """
    return 0 < len(text) <= MAX_DIGITS and text.isascii() and text.isdigit()
