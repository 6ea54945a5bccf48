"""What an entry is reproduced as: tables with the paper's numbers beside ours, notes, a picture."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...builders.core.markdown import markdown_table
from ..reports.scores import MeanScore


class Options(NamedTuple):
    """How an entry is made.

    Attributes:
        config: The config that predictions are of; None takes the default one.
        splits: The splits to build from source files, empty means all; of predictions the first.
        parser: Address of a CoreNLP server; None for no parses.
    """

    config: str | None = None
    splits: Sequence[str] = ()
    parser: str | None = None


class Percent(NamedTuple):
    """A score as a percentage, with the number of decimals shown."""

    score: MeanScore
    decimals: int = 2

    def __str__(self) -> str:
        return self.score.show(self.decimals)

    def as_json(self) -> float | dict[str, float]:
        """Return the mean in percent; with a deviation both of them."""
        mean, std = round(100 * self.score.mean, self.decimals), self.score.std
        return mean if std is None else {"mean": mean, "std": round(100 * std, self.decimals)}


#: A cell of a table; None is empty.
Cell = str | int | float | Percent | None


class Table(NamedTuple):
    """A table of a reproduction: its title, the titles of its columns, and its rows."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def as_markdown(self) -> str:
        """Return the title and the table in Markdown."""
        rows = [[_show(cell) for cell in row] for row in self.rows]
        return f"## {self.title}\n\n{markdown_table(self.columns, rows, aligns_numbers=True)}"

    def as_json(self) -> dict[str, Any]:
        """Return the table in plain values; a mean with its deviation is an object."""
        rows = [[c.as_json() if isinstance(c, Percent) else c for c in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


def _show(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:,.10g}"
    is_count = isinstance(cell, int) and not isinstance(cell, bool)
    return f"{cell:,}" if is_count else "" if cell is None else str(cell)


@dataclass
class Reproduced:
    """What an entry is reproduced as.

    Attributes:
        tables: The tables, the main one first.
        notes: What is to be known about our numbers.
        used: The names of the paper's numbers that stand in a table.
        draw: Draws the picture into a file, whose suffix says the format; None without a picture.
    """

    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    draw: Callable[[Path], None] | None = None


def compare(title: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return a table whose rows end with the paper's number, ours, and their difference.

    Args:
        title: What it shows.
        head: The titles of the first columns.
        rows: The cells of these columns, then the paper's number and ours; None for none.
    """
    compared = []
    for *cells, paper, ours in rows:
        are_numbers = all(isinstance(value, int | float) for value in (paper, ours))
        # Without noise of the last digits.
        difference = round(ours - paper, 6) if are_numbers else None
        compared.append([*cells, paper, ours, difference])
    return Table(title, (*head, "paper", "ours", "difference"), compared)


def compare_numbers(
    title: str, paper: Mapping[str, float | str], ours: Mapping[str, float | str | None]
) -> Table:
    """Return a table of the paper's numbers and ours by name."""
    names = dict.fromkeys([*paper, *ours])
    return compare(title, ("",), ((name, paper.get(name), ours.get(name)) for name in names))
