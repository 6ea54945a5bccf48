"""Paths as users give them, in Python, on the command line and in the environment."""

from errno import ELOOP
from os import PathLike
from pathlib import Path

from .errors import UsageError


def local_path(given: str | PathLike[str]) -> Path:
    """Expand ``~`` in a path and check it; no shell expands ``--output=~/x``.

    Args:
        given: The path.

    Raises:
        UsageError: It names a user that does not exist, is a link to itself, or has a byte that is
            not UTF-8, which manifests cannot hold.
    """
    try:
        path = Path(given).expanduser()
        str(path).encode()
        path.stat()
    except RuntimeError:
        raise UsageError(f"{str(given)!r}: there is no such user.") from None
    except UnicodeEncodeError:
        raise UsageError(
            f"The path {str(given)!r} has a byte that is not UTF-8. Rename it, or name another."
        ) from None
    except ValueError:
        raise UsageError(f"The path {str(given)!r} contains a NUL byte.") from None
    except OSError as error:  # most often there is nothing yet
        if error.errno == ELOOP:
            raise UsageError(f"{given} is a link that leads back to itself.") from None
    return path
