"""Paths as users give them, in Python, on the command line and in the environment."""

from errno import ELOOP
from os import PathLike
from pathlib import Path

from .errors import UsageError


def local_path(given: str | PathLike[str]) -> Path:
    """Return a path on this machine, with ``~`` expanded, which no shell does in ``--output=~/x``.

    Args:
        given: The path.

    Raises:
        UsageError: It begins with the name of nobody, is a link that leads back to itself, or has a
            byte that is not UTF-8, which neither a manifest nor the libraries that read and write
            rows could hold.
    """
    try:
        path = Path(given).expanduser()
        str(path).encode()
        path.stat()
    except RuntimeError:
        raise UsageError(f"{str(given)!r}: nobody on this machine has that name.") from None
    except UnicodeEncodeError:
        raise UsageError(
            f"The path {str(given)!r} has a byte that is not UTF-8. Rename it, or name another."
        ) from None
    except ValueError:
        raise UsageError(f"The path {str(given)!r} has a NUL, which no file's name has.") from None
    except OSError as error:  # most often there is nothing yet
        if error.errno == ELOOP:
            raise UsageError(f"{given} is a link that leads back to itself.") from None
    return path
