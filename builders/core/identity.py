"""A hash of the package's code, so that what an earlier rule made is made anew."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

_PACKAGE = __package__.partition(".")[0]


@cache
def code_hash(*packages: str) -> str:
    """Return the sha256 of all code and data of packages, and of those inside them.

    Args:
        packages: Packages by their names inside this one, as in ``builders.core``.
    """
    digest = hashlib.sha256()
    for name in packages:
        folder = Path(str(files(f"{_PACKAGE}.{name}")))
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.parent.name != "__pycache__":
                content = path.read_bytes()
                place = path.relative_to(folder).as_posix()
                digest.update(f"{name}/{place} {len(content)}\n".encode() + content)
    return digest.hexdigest()
