"""What a release file has to look like."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .oddities import Oddities

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """A column of a release file; its values are texts.

    Attributes:
        name: Its name, as the file writes it.
        values: The only values that it may have, or None for any text that is not empty.
        beginnings: How each value must begin, whatever its case, or empty for any.
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
        """Whether its values are known beforehand, as those of a label are."""
        return self.values is not None or bool(self.beginnings)

    def problem(self, value: object) -> str | None:
        """What is wrong with a value, or None."""
        if self.is_number:
            text = str(value)
            whole = text.removesuffix(".0")
            is_whole = whole.isascii() and whole.isdecimal() and not isinstance(value, bool)
            return None if is_whole else f"{value!r} is no whole number"
        if not isinstance(value, str):
            return f"{value!r} is no text"
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"{value!r:.80} holds half a character (a lone surrogate)"
        if self.values is not None and value not in self.values:
            return f"{value!r} is none of {', '.join(sorted(self.values))}"
        if self.beginnings and not value.casefold().startswith(self.beginnings):
            return f"{value!r} begins with none of {', '.join(self.beginnings)}"
        return None if value or not self.is_required else "has no text"


@dataclass(frozen=True)
class Layout:
    """The columns of a release file.

    Attributes:
        columns: The columns that are read.
        may_have_others: Whether further columns are passed over, and counted, or refused. A column
            without a name, such as pandas writes for its index, is always passed over.
        delimiter: What separates the values of a table: a comma, or a tab.
        has_quotes: Whether a table quotes values as CSV does. Where it does not, as in TSV by its
            standard, a quotation mark is a character like others, and no value spans lines.
    """

    columns: tuple[Column, ...]
    may_have_others: bool = False
    delimiter: str = ","
    has_quotes: bool = True

    @property
    def formats(self) -> tuple[str, ...]:
        """The endings of its files: tables, then JSON lines, which have the same columns."""
        return (*((".tsv", ".txt") if self.delimiter == "\t" else (".csv",)), ".jsonl")

    def read(
        self, path: Path, oddities: Oddities | None = None, *, is_known: bool = False
    ) -> "Iterator[pa.RecordBatch]":
        """Read a file of this layout; see ``tables.read_batches``."""
        from .tables import read_batches  # pyarrow takes long to import

        yield from read_batches(path, self, oddities, is_known=is_known)

    def problems(self, names: list[str]) -> list[str]:
        """What is wrong with the names of a file's columns."""
        known = {column.name for column in self.columns}
        missing = [c.name for c in self.columns if c.is_required and c.name not in names]
        others = [name for name in names if name and name not in known]
        doubled = sorted({name for name in names if name and names.count(name) > 1})
        problems = []
        if missing:
            problems.append(f"lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}")
        if others and not self.may_have_others:
            problems.append(f"has the unknown column{'s' * (len(others) > 1)} {', '.join(others)}")
        if doubled:
            problems.append(f"has more than one column {', '.join(doubled)}")
        if problems:
            problems.append(f"its columns are {', '.join(map(repr, names))}")
        return problems
