"""What generation needs besides the package itself."""

from collections.abc import Iterator
from contextlib import contextmanager

from .....loaders.errors import MissingExtraError


@contextmanager
def needs_baselines() -> Iterator[None]:
    """Says which extra to install where torch or transformers is missing.

    Raises:
        MissingExtraError: One is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "nlihub":
            raise
        raise MissingExtraError(
            f"{error.name} is not installed; generation needs: pip install 'nlihub[baselines]'."
        ) from error
