"""Tables in Markdown, and scores as their cells."""

import re
from typing import Any

from ....metrics.rows import Rows

_PLAIN = r"[<>+-]* ?\d[\d,]*(?:\.\d+)?"

#: ``78.06 ± 0.39``, ``**78.06**``, ``> 99.0``, ``0.0159 (0.0318)``, ``+1.02 to +2.40``, ``1.4 M``.
_NUMBER = re.compile(rf"(?:\*\*)?{_PLAIN}(?: (?:±|to) {_PLAIN}| \((?:{_PLAIN})?\)| M)?(?:\*\*)?")


def markdown(rows: Rows) -> str:
    """A table in Markdown: texts to the left, numbers to the right.

    Args:
        rows: The head, and the rows. The first column is text; another one is of numbers if most
            of its cells that are not empty are.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    columns = list(zip(*cells[1:], strict=True)) or [()] * len(cells[0])
    rules = ["---", *("---:" if _are_numbers(column) else "---" for column in columns[1:])]
    lines = ["| " + " | ".join(row) + " |" for row in (cells[0], rules, *cells[1:])]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _are_numbers(column: tuple[str, ...]) -> bool:
    filled = [cell for cell in column if cell]
    return 2 * sum(_NUMBER.fullmatch(cell) is not None for cell in filled) >= len(filled)


def percent(mean: float, std: float | None = None, decimals: int = 2) -> str:
    """A share as a percentage.

    Example:
        >>> percent(0.7806, 0.0039)
        '78.06 ± 0.39'
    """
    shown = f"{100 * mean:.{decimals}f}"
    return shown if std is None else f"{shown} ± {100 * std:.{decimals}f}"


def signed(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{100 * difference:+.2f}"
