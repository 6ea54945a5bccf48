"""The lock file in the user's cache: the hashes of files whose content nobody has published.

The first file that is read and found to have the published rows and classes is recorded; from then
on another content is refused.
"""

import json
from pathlib import Path

from ..atomic_write import whole_file
from ..errors import ChecksumError
from ..json_text import parse_json

LOCK_FILE = "sources.lock.json"


def check_recorded(cache_dir: Path, key: str, sha256: str, path: Path) -> bool:
    """Refuse a file whose hash differs from the recorded one; return whether one is recorded.

    Args:
        cache_dir: The folder of the lock file.
        key: ``"DATASET/PATH"`` of the source.
        sha256: Hash of the file at hand.
        path: The file, for the message.

    Raises:
        ChecksumError: Another hash is recorded.
    """
    known = _read_lock(cache_dir / LOCK_FILE).get(key)
    if known not in (None, sha256):
        raise ChecksumError(
            f"{path} has sha256 {sha256}, but {key} was recorded with {known} when it was first "
            f"used: the release has changed, or one of the two files is not the official one. To "
            f"accept this file, remove the entry from {cache_dir / LOCK_FILE} and try again."
        )
    return known is not None


def record_hash(cache_dir: Path, key: str, sha256: str) -> None:
    """Record the hash of a file that was read and found to fit; never change an entry.

    Args:
        cache_dir: The folder of the lock file.
        key: ``"DATASET/PATH"`` of the source.
        sha256: Hash of the file.

    Raises:
        ChecksumError: Another hash is recorded.
        OutputError: The cache cannot be written to.
        PermissionError: Likewise, if there is no lock yet.
    """
    if check_recorded(cache_dir, key, sha256, Path(key)):
        return
    from filelock import FileLock  # takes long to import

    cache_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(cache_dir / f".{LOCK_FILE}.lock"):
        check_recorded(cache_dir, key, sha256, Path(key))  # another process may have been faster
        entries = {**_read_lock(cache_dir / LOCK_FILE), key: sha256}
        with whole_file(cache_dir / LOCK_FILE) as partial:
            text = json.dumps(entries, indent=2, sort_keys=True) + "\n"
            partial.write_text(text, encoding="utf-8")


def _read_lock(path: Path) -> dict[str, str]:
    try:
        entries = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        entries = None
    if not isinstance(entries, dict):
        raise ChecksumError(f"{path} is not a lock file. Restore it, or delete it to start over.")
    return entries
