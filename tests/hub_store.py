"""What the Hub of the tests keeps: contents, repositories with their commits, and collections."""

import hashlib
import re
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

CHUNK_BYTES = 1 << 18
_IN_MEMORY_BYTES = 1 << 20
_LFS_BYTES = 10_000_000


class Blobs(Mapping):
    """Contents by sha256; those above 1 MB are files of a temporary folder."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(
            prefix="nlihub-tests-hub-", ignore_cleanup_errors=True
        )
        self._small, self._sizes = {}, {}

    def add(self, chunks, n_bytes, expected=None):
        """Keeps a content that comes in parts; a large one is never in memory as a whole.

        Returns:
            Its sha256, or None where that is not the expected one: then nothing is kept.
        """
        hasher, path = hashlib.sha256(), Path(self._folder.name, secrets.token_hex(8))
        parts, is_small = [], n_bytes <= _IN_MEMORY_BYTES
        try:
            if is_small:
                for chunk in chunks:
                    hasher.update(chunk)
                    parts.append(chunk)
            else:
                with path.open("wb") as file:
                    for chunk in chunks:
                        hasher.update(chunk)
                        file.write(chunk)
            digest = hasher.hexdigest()
            if digest != (expected or digest):
                return None
            if is_small:
                self._small[digest] = b"".join(parts)
            else:
                path.replace(self._path(digest))
            self._sizes[digest] = n_bytes
            return digest
        finally:
            path.unlink(missing_ok=True)

    def read(self, digest, start=0, stop=None):
        """The bytes from start to stop, in parts."""
        if digest in self._small:
            yield self._small[digest][start:stop]
            return
        n_left = (self._sizes[digest] if stop is None else stop) - start
        with self._path(digest).open("rb") as file:
            file.seek(start)
            while n_left > 0 and (chunk := file.read(min(CHUNK_BYTES, n_left))):
                n_left -= len(chunk)
                yield chunk

    def size(self, digest):
        """The number of bytes, without reading them."""
        return self._sizes[digest]

    def git_id(self, digest):
        """What git calls a file of this content."""
        hasher = hashlib.sha1(b"blob %d\0" % self.size(digest), usedforsecurity=False)
        for chunk in self.read(digest):
            hasher.update(chunk)
        return hasher.hexdigest()

    def is_lfs(self, path, digest):
        """Whether the Hub has a file of this path and content as a large one."""
        return is_lfs(path, self.size(digest))

    def close(self):
        """Removes the files."""
        self._folder.cleanup()

    def _path(self, digest):
        return Path(self._folder.name, digest)

    def __contains__(self, digest):
        return digest in self._sizes

    def __getitem__(self, digest):
        if digest not in self._sizes:
            raise KeyError(digest)
        return b"".join(self.read(digest))

    def __iter__(self):
        return iter(list(self._sizes))

    def __len__(self):
        return len(self._sizes)


def is_lfs(path, n_bytes):
    """Whether a file is uploaded as a large one; the clients never do that with empty ones."""
    is_binary = path.endswith((".parquet", ".safetensors", ".bin", ".pt"))
    return n_bytes > 0 and (is_binary or n_bytes > _LFS_BYTES)


@dataclass
class Commit:
    """A state of a repository: the sha256 of every file's content, by its path."""

    oid: str
    files: dict[str, str]
    message: str = ""
    description: str = ""
    date: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass
class Repo:
    """A repository: its commits on main, the newest last, and its tags with their messages."""

    name: str
    commits: list[Commit] = field(default_factory=list)
    tags: dict[str, Commit] = field(default_factory=dict)
    tag_messages: dict[str, str] = field(default_factory=dict)
    private: bool = False
    sdk: str | None = None

    def __post_init__(self):
        if not self.commits:
            self.add({}, "initial commit")

    def at(self, revision):
        """The commit of a branch, a tag or a hash; None where there is none."""
        if revision in ("main", "refs/heads/main"):
            return self.commits[-1]
        by_oid = {commit.oid: commit for commit in self.commits}
        return self.tags.get(revision.removeprefix("refs/tags/")) or by_oid.get(revision)

    def add(self, files, message="", description=""):
        """Commits; dates of commits always increase."""
        date = datetime.now(UTC)
        if self.commits:
            date = max(date, self.commits[-1].date + timedelta(milliseconds=1))
        oid = short_hash(f"{self.name} {len(self.commits)} {sorted(files.items())}")
        self.commits.append(Commit(oid, files, message, description, date))
        return self.commits[-1]


@dataclass
class Item:
    """What is in a collection: ``dataset`` and ``org/name``, say, and a note."""

    kind: str
    name: str
    note: str = ""
    object_id: str = field(default_factory=lambda: secrets.token_hex(12))


@dataclass
class Collection:
    """A collection of repositories; its slug ends with its id, and begins with its title."""

    namespace: str
    title: str
    description: str = ""
    private: bool = False
    items: list[Item] = field(default_factory=list)
    object_id: str = field(default_factory=lambda: secrets.token_hex(12))

    @property
    def slug(self):
        """Such as ``org/recent-models-64f9a55bb3115b4f513ec026``."""
        title = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")
        return f"{self.namespace}/{title}-{self.object_id}"


def short_hash(text):
    """Forty hex digits, as git has them."""
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()
