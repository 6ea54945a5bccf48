"""What a paper is called, and when it was published."""

import re

from ...errors import RecordError

#: Endings of file names that say how a paper is kept, not what it is called.
_ENDINGS = frozenset(
    [
        "bz2",
        "gz",
        "jats",
        "json",
        "jsonl",
        "ndjson",
        "nxml",
        "parquet",
        "tar",
        "tei",
        "tgz",
        "xml",
        "xz",
        "zst",
        "zstd",
    ]
)
_OLD_ANTHOLOGY_ID = re.compile(r"[A-Z]([0-9]{2})-[0-9]{4}")
_NEW_ANTHOLOGY_ID = re.compile(r"([0-9]{4})\.[a-z0-9_]+-[a-z0-9]+\.[0-9]+")
_FIRST_OLD_YEAR = 60  # the oldest papers of the Anthology are of the 1960s
_YEARS = range(1500, 2101)


def year_of_anthology_id(paper_id: str) -> int | None:
    """The year that the id of a paper in the ACL Anthology tells.

    Args:
        paper_id: Any id; ``P98-1046`` and ``2020.acl-main.207`` are the two forms of the Anthology.

    Returns:
        The year; None for an id that is not of the Anthology. Two digits from 60 on are of the
        20th century.

    Source: the Anthology's documentation of its ids.

    Example:
        >>> year_of_anthology_id("P98-1046"), year_of_anthology_id("W04-1013")
        (1998, 2004)
        >>> year_of_anthology_id("2020.acl-main.207")
        2020
    """
    if old := _OLD_ANTHOLOGY_ID.fullmatch(paper_id):
        digits = int(old[1])
        return digits + (1900 if digits >= _FIRST_OLD_YEAR else 2000)
    new = _NEW_ANTHOLOGY_ID.fullmatch(paper_id)
    return _plausible(int(new[1])) if new else None


def year_told(value: object) -> int | None:
    """The year that a value of a file tells.

    Args:
        value: A number, or a text that begins with four digits (``"2011-11"``).

    Returns:
        The year; None where the value tells none from 1500 to 2100.
    """
    if isinstance(value, str):
        digits = re.match(r"\s*([0-9]{4})(?![0-9])", value)
        return _plausible(int(digits[1])) if digits else None
    if isinstance(value, float) and value.is_integer():  # 2011.0: a column with nulls
        return _plausible(int(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return _plausible(value)
    return None


def _plausible(year: int) -> int | None:
    return year if year in _YEARS else None


def id_told(value: object, where: str) -> str | None:
    """The id that a value of a file tells.

    Args:
        value: A text, or a whole number, which is written out.
        where: What the value is called, for the message.

    Returns:
        The id; None where the value is none or blank.

    Raises:
        RecordError: The value is neither text nor number.
    """
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise RecordError("malformed", f"{where}: expected text, got {type(value).__name__}")
    return value if value.strip() else None


def id_of_file(name: str) -> str:
    """The id that the name of a file tells: the name without its folders and endings.

    Args:
        name: A path in POSIX form.

    Example:
        >>> id_of_file("acl/2020.acl-main.207.tei.xml.gz")
        '2020.acl-main.207'
    """
    stem = name.rpartition("/")[2]
    while True:
        shorter, _, ending = stem.rpartition(".")
        if not shorter or ending.lower() not in _ENDINGS:
            return stem
        stem = shorter
