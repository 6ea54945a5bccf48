"""The layout of a release file, and the defects of a file that does not have it.

Defects are found slowly, line by line, with a reader that is as strict as the file's format.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Defect
from . import Oddities

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_SHOWN = 20
_MAX_VALUE_CHARS = 80
_MAX_FIELD_CHARS = 1 << 30  # of csv, whose own limit of 128 KiB a text may pass


@dataclass(frozen=True)
class Column:
    """A column of a release file; its values are strings.

    Attributes:
        name: Its name in the file.
        values: The only values that it may have; None for any that are not empty.
        beginnings: How each value must begin, whatever its case; empty for any.
        is_number: Whether it holds whole numbers, which may be written as floats (``"123.0"``).
        is_required: Whether a file without it is refused.
    """

    name: str
    values: frozenset[str] | None = None
    beginnings: tuple[str, ...] = ()
    is_number: bool = False
    is_required: bool = True

    @property
    def has_few_values(self) -> bool:
        """Whether its values are known beforehand, such as labels."""
        return self.values is not None or bool(self.beginnings)

    def problem(self, value: object) -> str | None:
        """Return what is wrong with a value; None if nothing is."""
        if self.is_number:
            text = str(value)
            whole = text.removesuffix(".0")
            is_whole = whole.isascii() and whole.isdecimal() and not isinstance(value, bool)
            return None if is_whole else f"{value!r} is not a whole number"
        if not isinstance(value, str):
            return f"{value!r} is not a string"
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"{value!r:.80} holds a lone surrogate, half a character"
        if self.values is not None and value not in self.values:
            return f"{value!r} is none of {', '.join(sorted(self.values))}"
        if self.beginnings and not value.casefold().startswith(self.beginnings):
            return f"{value!r} begins with none of {', '.join(self.beginnings)}"
        return None if value or not self.is_required else "is empty"


@dataclass(frozen=True)
class Layout:
    """The columns of a release file.

    Attributes:
        columns: The columns that are read.
        may_have_others: Whether other columns are skipped and counted, or refused. A column without
            a name, such as pandas writes for its index, is always skipped.
        delimiter: The separator of a table's values: a comma, or a tab.
        has_quotes: Whether a table quotes values as CSV does. If not, as in TSV by its standard, a
            quotation mark is a character like others, no value spans lines, and one that looks
            quoted is refused.
    """

    columns: tuple[Column, ...]
    may_have_others: bool = False
    delimiter: str = ","
    has_quotes: bool = True

    @property
    def formats(self) -> tuple[str, ...]:
        """The suffixes of its files: tables, then JSON lines, which have the same columns."""
        return (*((".tsv", ".txt") if self.delimiter == "\t" else (".csv",)), ".jsonl")

    def read(
        self, path: Path, oddities: Oddities | None = None, *, is_known: bool = False
    ) -> "Iterator[pa.RecordBatch]":
        """Read a release file of this layout.

        Args:
            path: A table (UTF-8, with a header, quotes doubled) or a ``.jsonl`` file; its suffix is
                one of ``formats``.
            oddities: Counts to add to; None counts nothing.
            is_known: Whether the file is, by its hash, a published one: then it is read once, and
                nothing is checked that the hash vouches for.

        Yields:
            Batches of rows in order; those of the columns that the file has, all strings, numbers
            without ``.0``.

        Raises:
            ReleaseError: The file is not of this layout; lists the defects, with line and value.
        """
        from .tables import read_release  # pyarrow takes long to import

        yield from read_release(path, self, oddities, is_known=is_known)

    def count_rows(self, path: Path) -> int:
        """Return the number of rows of a release file, as far as Arrow can tell.

        Raises:
            ReleaseError: The file is not of this layout.
        """
        return sum(len(batch) for batch in self.read(path, is_known=True))

    def problems(self, names: list[str]) -> list[str]:
        """Return what is wrong with the names of a file's columns."""
        known = {column.name for column in self.columns}
        missing = [c.name for c in self.columns if c.is_required and c.name not in names]
        others = [name for name in names if name and name not in known]
        doubled = sorted(name for name, times in Counter(names).items() if name and times > 1)
        problems = []
        if missing:
            problems.append(f"lacks the column{'s' * (len(missing) > 1)} {_list(missing)}")
        if others and not self.may_have_others:
            problems.append(f"has the unknown column{'s' * (len(others) > 1)} {_list(others)}")
        if doubled:
            problems.append(f"has more than one column {_list(doubled)}")
        if problems:
            problems.append(f"its columns are {_list(list(map(repr, names)))}")
        return problems


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_SHOWN:,} more" if len(names) > _MAX_SHOWN else ""
    return ", ".join(name[:_MAX_VALUE_CHARS] for name in names[:_MAX_SHOWN]) + more


def find_defects(path: Path, layout: Layout) -> list[Defect]:
    """Return the first twenty different defects of a release file, each at its first line.

    Args:
        path: A file with one of the suffixes ``layout.formats``.
        layout: The layout that it should have.
    """
    find = _in_jsonl if path.suffix == ".jsonl" else _in_table
    first: dict[str, int] = {}
    times: Counter[str] = Counter()
    for line, message in find(path, layout):
        if message not in first and len(first) == _MAX_SHOWN:
            break
        first.setdefault(message, line)
        times[message] += 1
    return [
        Defect(
            str(path), line, "", message + (f" ({n:,} times)" if (n := times[message]) > 1 else "")
        )
        for message, line in first.items()
    ]


def parse_lines(lines: Iterable[str], layout: Layout) -> Iterator[list[str]]:
    """Parse the lines of a release table as rows of values; the first is its header.

    Raises:
        csv.Error: They are not of the layout's format.
    """
    if layout.has_quotes:
        return csv.reader(lines, strict=True, delimiter=layout.delimiter)
    return csv.reader(lines, strict=True, delimiter=layout.delimiter, quoting=csv.QUOTE_NONE)


def looks_quoted(value: str) -> bool:
    """Return whether a value of a table without quotes is quoted as CSV writers quote.

    They double a quotation mark, or write two for an empty text. A value with a tab or line break
    needs no rule: its row has another number of values. The metrics have the same rule.

    >>> [looks_quoted(v) for v in ('"Is it ""so""?"', '""', '"It is so."', '"So," he said.')]
    [True, True, False, False]
    """
    if len(value) < 2 or not (value[0] == value[-1] == '"'):
        return False
    inner = value[1:-1]
    return not inner or ('"' in inner and '"' not in inner.replace('""', ""))


def _in_table(path: Path, layout: Layout) -> Iterator[tuple[int, str]]:
    undecodable: list[tuple[int, str]] = []
    number, last = 0, ""

    def lines() -> Iterator[str]:
        nonlocal number, last
        with path.open("rb") as file:
            for line in file:
                number += 1
                try:
                    last = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    undecodable.append((number, _encoding_problem(error)))
                    last = line.decode("utf-8", errors="replace")
                yield last

    before = csv.field_size_limit(_MAX_FIELD_CHARS)
    reader = parse_lines(lines(), layout)
    start = 1
    try:
        names = next(reader, [])
        start = number + 1
        for row in reader:
            yield from undecodable
            undecodable.clear()
            if len(row) != len(names):
                yield start, f"{len(row)} values, expected {len(names)}: {_shown(row)}"
            elif not layout.has_quotes and (quoted := next(filter(looks_quoted, row), "")):
                yield (
                    start,
                    f"{_shown(quoted)} is quoted as in CSV, but here a quotation mark is a "
                    "character: write it as it is, or JSON lines, or set has_quotes in the layout",
                )
            else:
                yield from (
                    (start, problem)
                    for problem in _problems(dict(zip(names, row, strict=True)), layout)
                )
            start = number + 1
    except csv.Error as error:
        yield start, f"{error}: the file is truncated or damaged"
    finally:
        csv.field_size_limit(before)
    yield from undecodable
    if not last.endswith(("\n", "\r")):
        yield number, "the last line has no line break: the file is truncated"


def _in_jsonl(path: Path, layout: Layout) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(
                    line.decode("utf-8-sig" if number == 1 else "utf-8"),
                    object_pairs_hook=_without_repeats,
                )
            except UnicodeDecodeError as error:
                yield number, _encoding_problem(error)
            except (ValueError, RecursionError) as error:
                yield number, f"not a JSON object: {error}: {_shown(line)}"
            else:
                if not isinstance(row, dict):
                    yield number, f"expected a JSON object, got {_shown(row)}"
                    continue
                yield from ((number, problem) for problem in layout.problems(list(row)))
                yield from ((number, problem) for problem in _problems(row, layout))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key is repeated")
    return row


def _problems(row: dict[str, Any], layout: Layout) -> Iterator[str]:
    for column in layout.columns:
        if column.name in row and (problem := column.problem(row[column.name])):
            yield f"{column.name}: {problem[: _MAX_VALUE_CHARS * 2]}"


def _encoding_problem(error: UnicodeDecodeError) -> str:
    byte = error.object[error.start]
    return f"byte 0x{byte:02x} at position {error.start + 1} of the line is not UTF-8"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}..."
