"""Writes a folder or a file whole or not at all."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from ...loaders.errors import OutputError


@contextmanager
def whole_folder(target: Path, may_replace: Callable[[Path], bool]) -> Iterator[Path]:
    """A new folder that takes the place of ``target`` when the block ends without an error.

    One process at a time writes to a target; another one waits. What a killed process left is
    removed by the next.

    Args:
        target: The folder to make or replace.
        may_replace: Whether an existing folder there may be replaced.

    Yields:
        An empty folder beside the target.

    Raises:
        OutputError: There is something else at the target.
    """
    target = target.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(_lock_file(target)):
        if target.exists() and not may_replace(target):
            raise OutputError(f"{target} exists and is no built version; name another folder.")
        prefix = f".{target.name}.partial-"
        for leftover in target.parent.glob(f"{prefix}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
        try:
            new = work / "new"
            new.mkdir()
            yield new
            if target.exists():
                target.rename(work / "old")
            new.rename(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A new file that takes the place of ``target`` when the block ends without an error.

    Yields:
        A path beside the target, with the target's suffix.
    """
    target = target.absolute()
    if target.is_dir():
        raise OutputError(f"{target} is a folder; name a file.")
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(f".partial{target.suffix}", f".{target.name}.", target.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)  # mkstemp's own mode is private
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _lock_file(target: Path) -> Path:
    """A lock outside the target's folder, so that no file of ours is left there."""
    key = hashlib.sha256(os.fsencode(target.resolve())).hexdigest()[:32]
    return Path(tempfile.gettempdir()) / f"nlihub-{key}.lock"
