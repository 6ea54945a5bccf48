"""What baselines need besides the package itself."""

import contextlib
from collections.abc import Iterator

from ...metrics.inputs.problems import MissingExtraError


@contextlib.contextmanager
def extra_explained() -> Iterator[None]:
    """Says which extra to install where a package of the baselines is missing.

    Raises:
        MissingExtraError: One is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "nlihub":
            raise
        raise MissingExtraError(
            f"{error.name} is not installed; baselines need: pip install 'nlihub[baselines]'"
        ) from error
