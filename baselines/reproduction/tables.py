"""Tables with the paper's numbers beside ours, as Markdown and as plain values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...builders.core.markdown import markdown_table
from ..reports.systems import Mean


@dataclass(frozen=True)
class MeanCell:
    """A score in percent.

    Attributes:
        mean: The mean over runs, or the score of one.
        std: The standard deviation over runs; None of one run, or where a paper prints none.
        decimals: Number of decimals shown.
        is_lower_bound: Whether the score is above the mean.
    """

    mean: float
    std: float | None = None
    decimals: int = 2
    is_lower_bound: bool = False

    @classmethod
    def of(cls, mean: Mean, decimals: int = 2, is_lower_bound: bool = False) -> "MeanCell":
        """Return the cell of a mean and deviation from 0 to 1, rounded to what is shown."""
        share, deviation = mean
        std = None if deviation is None else round(100 * deviation, decimals)
        return cls(round(100 * share, decimals), std, decimals, is_lower_bound)

    def __str__(self) -> str:
        shown = f"{self.mean:.{self.decimals}f}"
        spread = "" if self.std is None else f" ± {self.std:.{self.decimals}f}"
        return "> " * self.is_lower_bound + shown + spread


#: A cell of a table; None is empty.
Cell = str | int | float | MeanCell | None


@dataclass(frozen=True)
class ComparedTable:
    """A table of a reproduction.

    Attributes:
        title: What it shows.
        columns: The titles of its columns.
        rows: The cells of each row, as many as there are columns.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]

    def as_markdown(self) -> str:
        """Return the title and the table in Markdown."""
        rows = [[_show(cell) for cell in row] for row in self.rows]
        return f"## {self.title}\n\n{markdown_table(self.columns, rows, aligns_numbers=True)}"

    def as_json(self) -> dict[str, Any]:
        """Return the table in plain values; a mean with its deviation is an object."""
        rows = [[_plain(cell) for cell in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


def _show(cell: Cell) -> str:
    if isinstance(cell, int) and not isinstance(cell, bool):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.10g}"
    return "" if cell is None else str(cell)


def _plain(cell: Cell) -> Any:
    if isinstance(cell, MeanCell):
        return cell.mean if cell.std is None else {"mean": cell.mean, "std": cell.std}
    return cell


@dataclass
class Made:
    """What a maker made of an entry.

    Attributes:
        tables: The tables, the main one first.
        notes: What is to be known about our numbers.
        used: The names of the paper's numbers that stand in a table.
        draw: Draws the picture into a file, whose suffix says the format; None without a picture.
    """

    tables: list[ComparedTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    draw: Callable[[Path], None] | None = None


def compare_numbers(
    paper: Mapping[str, float | str], ours: Mapping[str, float | str | None]
) -> list[list[Cell]]:
    """Return rows of a name, the paper's number, ours, and the difference."""
    return [
        [name, paper.get(name), ours.get(name), difference(paper.get(name), ours.get(name))]
        for name in dict.fromkeys([*paper, *ours])
    ]


def difference(paper: Any, ours: Any) -> float | None:
    """Return our number minus the paper's, without noise of the last digits; None without both."""
    numbers = [isinstance(value, int | float) for value in (paper, ours)]
    return round(ours - paper, 6) if all(numbers) else None


def left_over(entry_numbers: Mapping[str, float | str], made: Made) -> Iterator[ComparedTable]:
    """Yield the table of the paper's numbers that stand beside none of ours."""
    rest = [[name, value] for name, value in entry_numbers.items() if name not in made.used]
    if rest:
        yield ComparedTable("Also in the paper", ("of", "paper"), rest)
