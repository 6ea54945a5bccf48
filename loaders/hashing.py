"""Hashes of files: sha256, the id that git gives a file, and one hash of all code of a package."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

_PACKAGE = __package__.partition(".")[0]


@dataclass(frozen=True)
class FileHash:
    """Size and hashes of a file.

    Attributes:
        bytes: Its size.
        sha256: 64 hexadecimal digits.
        git_blob: The id of its content in git, 40 hexadecimal digits; None if not asked for.
    """

    bytes: int
    sha256: str
    git_blob: str | None = None


def hash_file(path: Path) -> str:
    """Return the sha256 of a file, 64 hexadecimal digits."""
    return identify_file(path).sha256


def identify(content: bytes) -> FileHash:
    """Return size and hashes of a file's content, its id in git too."""
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    return FileHash(len(content), hashlib.sha256(content).hexdigest(), blob.hexdigest())


def identify_file(path: Path, *, with_git_blob: bool = False) -> FileHash:
    """Return size and hashes of a file.

    Args:
        path: The file.
        with_git_blob: Whether to compute its id in git too.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if not with_git_blob:
            return FileHash(size, sha256)
        file.seek(0)
        blob = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        return FileHash(size, sha256, hashlib.file_digest(file, lambda: blob).hexdigest())


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
