"""What is wrong with an input, collected and raised once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

N_SHOWN = 5


class MetricInputError(ValueError):
    """Inputs that a metric refuses; every problem found is listed.

    Attributes:
        problems: A line for each problem: the column, how many rows, which, and what was expected.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class MissingExtraError(ImportError):
    """A library that only some features need is not installed; names the extra that has it."""


class Problems:
    """Collects problems; ``check`` raises them together."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, problem: str) -> None:
        """Notes a problem."""
        self.found.append(problem)

    def check(self) -> None:
        """Ends here if anything was found.

        Raises:
            MetricInputError: There are problems.
        """
        if self.found:
            raise MetricInputError(self.found)


def show_rows(rows: np.ndarray, values: pa.Array | np.ndarray | Sequence[Any]) -> str:
    """Names rows and their values.

    Args:
        rows: Positions of the rows, from 0.
        values: The column.

    Returns:
        ``"3 of 10 rows: 0 (-1), 4 (7), 9 (-1)"``.
    """
    shown = []
    for row in rows[:N_SHOWN].tolist():
        value = values[row]
        value = value.as_py() if isinstance(value, pa.Scalar) else value
        shown.append(f"{row} ({value.item() if isinstance(value, np.generic) else value!r})")
    more = ", ..." if len(rows) > N_SHOWN else ""
    plural = "s" if len(values) != 1 else ""
    return f"{len(rows)} of {len(values)} row{plural}: {', '.join(shown)}{more}"
