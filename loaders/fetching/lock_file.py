"""The user's lock file: the hashes of files whose content nobody has published.

The first file that is read and found to have the published rows and classes is recorded; from then
on another content is refused.
"""

import json
from pathlib import Path

from ..atomic_write import whole_file
from ..errors import ChecksumError

FILE_NAME = "sources.lock.json"


def check(cache_dir: Path, key: str, sha256: str, path: Path) -> None:
    """Refuse a file that differs from the one recorded earlier.

    Args:
        cache_dir: Where the lock file is.
        key: ``"DATASET/PATH"`` of the source.
        sha256: Hash of the file at hand.
        path: The file, for the message.

    Raises:
        ChecksumError: Another hash is recorded.
    """
    known = _read(cache_dir / FILE_NAME).get(key)
    if known is not None and known != sha256:
        raise ChecksumError(
            f"{path} has sha256 {sha256}, but {key} was recorded with {known} when it was first "
            f"taken: the release has changed, or one of the two files is not the official one. If "
            f"this one is to be taken, remove the entry from {cache_dir / FILE_NAME} and try again."
        )


def is_recorded(cache_dir: Path, key: str, sha256: str) -> bool:
    """Whether this hash is recorded."""
    return _read(cache_dir / FILE_NAME).get(key) == sha256


def record(cache_dir: Path, key: str, sha256: str) -> None:
    """Records the hash of a file that was read and found to fit; an entry is never changed.

    Raises:
        ChecksumError: Another hash is recorded.
        OutputError: The cache cannot be written to.
        PermissionError: Likewise, where there is no lock yet.
    """
    path = cache_dir / FILE_NAME
    if is_recorded(cache_dir, key, sha256):
        return
    from filelock import FileLock  # takes long to import

    cache_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(cache_dir / f".{FILE_NAME}.lock"):
        check(cache_dir, key, sha256, Path(key))  # another process may have been faster
        entries = {**_read(path), key: sha256}
        text = json.dumps(dict(sorted(entries.items())), indent=2) + "\n"
        with whole_file(path) as partial:
            partial.write_text(text, encoding="utf-8")


def _read(path: Path) -> dict[str, str]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        entries = None
    if not isinstance(entries, dict):
        raise ChecksumError(f"{path} is no lock file. Restore it, or remove it to start anew.")
    return entries
