"""The progress of long work: lines for the caller, or a bar on standard error.

- ``Tell`` is for steps that differ, such as the stages of publishing: a function takes ``tell``,
  by default ``silent``, and the command line prints the lines.
- ``progress_bar`` is for many steps of one kind, such as bytes, rows or shards: it appears once
  the work has taken a second.

Warnings go through ``logging``. Only the command line prints.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

#: Takes a line on each step.
Tell = Callable[[str], None]


def silent(_: str) -> None:
    """Take a line, and do nothing with it."""


def progress_bar(
    what: str,
    items: Iterable[Any] | None = None,
    *,
    n_steps: int | None = None,
    n_done: int = 0,
    unit: str = "it",
    is_transient: bool = False,
) -> "tqdm[Any]":
    """Return a progress bar to iterate over, or to use in a ``with`` block and to ``update``.

    Args:
        what: The text before the bar.
        items: The items to iterate over; None if the caller counts.
        n_steps: The number of steps; None if it is that of the items, or unknown.
        n_done: The number of steps done before.
        unit: The unit of a step; ``"B"`` is shown as kB, MB and so on.
        is_transient: Whether to show the bar only on a terminal, after five seconds, and leave no
            trace, as for work that recurs.
    """
    from tqdm.auto import tqdm  # takes long to import

    return tqdm(
        items,
        desc=what,
        total=n_steps,
        initial=n_done,
        unit=unit,
        unit_scale=unit == "B",
        delay=5 if is_transient else 1,
        disable=None if is_transient else False,
        leave=not is_transient,
    )
