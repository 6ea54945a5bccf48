"""A hash of this package's code and data, so that no cache serves rows of an earlier one."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

_PACKAGES = ("builders", "dataset_cards", "loaders")


@cache
def code_digest(extra: str = "") -> str:
    """A hash of every file of the package that rows or cards can depend on.

    Args:
        extra: Anything else to depend on, e.g. the version of a library.

    Returns:
        64 hexadecimal digits.
    """
    digest = hashlib.sha256(extra.encode())
    for package in _PACKAGES:
        root = Path(str(files(f"nlihub.{package}")))
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{package}/{path.relative_to(root).as_posix()}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()
