"""How long work tells its caller of each step."""

from collections.abc import Callable

#: Takes a line on each step.
Tell = Callable[[str], None]


def silent(_: str) -> None:
    """Tells nobody."""
