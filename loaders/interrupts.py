"""Say what stays of work that is interrupted, to whoever interrupts it.

An interrupt is a ``KeyboardInterrupt``, or the ``SystemExit`` that the command line makes of
SIGTERM. What stays is told in a note of the exception, which the command line prints, and a
traceback shows.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def kept_when_interrupted(note: str | Callable[[], str]) -> Iterator[None]:
    """Add a note to an interrupt in the block.

    Args:
        note: What is kept and how to go on, in a sentence, or what returns it then.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as interrupt:
        interrupt.add_note(note if isinstance(note, str) else note())
        raise


def notes_of(error: BaseException | None) -> list[str]:
    """Return the notes of an exception, and of those that it was raised from or during."""
    found: list[str] = []
    while error is not None:
        found += getattr(error, "__notes__", ())
        error = error.__cause__ or error.__context__
    return list(dict.fromkeys(found))
