"""Published versions, opened for reading: which there are, and the files of one."""

import hashlib
import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from datasets import Version
from huggingface_hub import hf_hub_download, try_to_load_from_cache

from ...builders.versions.manifest import FILE_NAME as MANIFEST
from ...builders.versions.manifest import Manifest
from ...builders.versions.version import BuiltVersion
from ...loaders.errors import (
    ChecksumError,
    HubError,
    OutputError,
    UsageError,
    VerificationError,
    VersionError,
)
from ...loaders.fetching.obtain import default_cache_dir
from ...loaders.fetching.verification import check_recorded, record_hash
from ...loaders.hashing import hash_file
from ..compare.numbers import matching, published_numbers, tag_of
from ..hub.calls import status_of
from ..hub.client import cached_references
from ..hub.repository import HubRepository


@dataclass(frozen=True)
class PublishedVersion:
    """A version as a repository has it.

    Attributes:
        number: Its number.
        commit: Its commit.
        date: When it was committed, if that is known.
        rows: Number of rows by config and split; None where it has no manifest.
    """

    number: str
    commit: str
    date: datetime | None
    rows: dict[str, dict[str, int]] | None


def list_versions(repository: HubRepository) -> list[PublishedVersion]:
    """The published versions of a repository, the newest first.

    Raises:
        HubError: There is no such repository, the Hub refuses, or cannot be reached.
    """
    if repository.head() is None:
        raise HubError(f"{repository.url} is not there, or the token may not see it.")
    dates = repository.dates()
    versions = []
    for number, commit in published_numbers(repository.tags()).items():
        content = repository.read(MANIFEST, commit) if repository.kind == "dataset" else None
        rows = None
        with suppress(VerificationError):  # then it is not ours to tell
            rows = _rows(Manifest.parse(content or b"", f"{repository.name}@{number}"))
        versions.append(PublishedVersion(str(number), commit, dates.get(commit), rows))
    return versions[::-1]


def _rows(manifest: Manifest) -> dict[str, dict[str, int]]:
    return {
        config: {split: entry.rows for split, entry in splits.items()}
        for config, splits in manifest.configs.items()
    }


class RemoteVersion:
    """One published version; its files come into the cache of the Hub's client, each verified.

    Args:
        repository: ``ORG/NAME``.
        version: ``X.Y.Z``, or ``X.Y`` for the newest of its PATCHes, which have the same rows.

    Attributes:
        repository: The repository.
        is_online: Whether the Hub was asked; otherwise all comes from the cache.
        number: The number of the version.
        commit: Its commit.
        folder: Its folder in the cache.
        manifest: Its manifest.

    Raises:
        UsageError: The name is no repository, or the version no number.
        VersionError: There is no such version.
        HubError: The Hub refuses, cannot be reached, and the version is not in the cache.
        ChecksumError: Its rows are not those that the version had when it was first loaded.
    """

    def __init__(self, repository: str, version: str) -> None:
        self.repository = HubRepository(repository)
        self.is_online = True
        self.number = self._resolve(version)
        path = self._get(MANIFEST, tag_of(self.number))
        self.folder = path.parent
        self.commit = self.folder.name
        self._check_manifest(path)
        self.manifest = Manifest.parse(path.read_bytes(), f"{repository}@{self.number}")
        if self.manifest.version != str(self.number):
            raise ChecksumError(
                f"{repository} has version {self.manifest.version} under the tag "
                f"{tag_of(self.number)}: the tag was moved."
            )
        self._check_rows()

    def fetch(self, keys: Collection[tuple[str, str]] | None = None) -> BuiltVersion:
        """Bring files of the version into the cache.

        Args:
            keys: The configs and splits whose rows are wanted; None takes all files.

        Returns:
            The version, opened for reading; it has the files that were asked for.

        Raises:
            HubError: The Hub refuses, or cannot be reached.
            ChecksumError: A file is not the one that the manifest lists.
        """
        for name, sha256 in self._wanted(keys):
            path = self._get(name, self.commit)
            if hash_file(path) != sha256:
                path = self._get(name, self.commit, anew=True)
            if (found := hash_file(path)) != sha256:
                raise ChecksumError(
                    f"{self.repository.name}@{self.number}: {name} has sha256 {found}, expected "
                    f"{sha256}. Run the command again."
                )
        return BuiltVersion(self.folder)

    def _wanted(self, keys: Collection[tuple[str, str]] | None) -> Iterable[tuple[str, str]]:
        if keys is None:
            return self.manifest.hashes().items()
        return (
            (shard.file, shard.sha256)
            for config, split in keys
            for shard in self.manifest.configs[config][split].shards
        )

    def _resolve(self, version: str) -> Version:
        try:
            if self.repository.head() is None:
                raise VersionError(f"{self.repository.url} is not there; it has no version.")
            published: Iterable[Version] = published_numbers(self.repository.tags())
        except HubError as error:
            was_answered = status_of(error.__cause__) is not None
            if was_answered or not (published := self._cached()):
                raise
            self.is_online = False
        return matching(version, published)

    def _cached(self) -> list[Version]:
        """The versions in the cache of the Hub's client."""
        return list(published_numbers(dict.fromkeys(cached_references(self.repository.name), "")))

    def _get(self, name: str, revision: str, *, anew: bool = False) -> Path:
        try:
            return Path(
                self.repository.ask(
                    f"does not give {name}",
                    lambda: hf_hub_download(
                        self.repository.name,
                        name,
                        repo_type="dataset",
                        revision=revision,
                        force_download=anew,
                    ),
                )
            )
        except HubError:
            kept = try_to_load_from_cache(
                self.repository.name, name, revision=revision, repo_type="dataset"
            )
            if anew or not isinstance(kept, str):
                raise
            return Path(kept)

    def _check_manifest(self, path: Path) -> None:
        """Compare the manifest with what the Hub lists, where the Hub can be asked."""
        if not self.is_online:
            return
        content = self.repository.read(MANIFEST, self.commit)
        if content != path.read_bytes():
            self._get(MANIFEST, self.commit, anew=True)
        if content != path.read_bytes():
            raise ChecksumError(f"{path} is not what {self.repository.name} has. Remove it.")

    def _check_rows(self) -> None:
        """Compare the rows with those that the version had when it was first loaded here."""
        cache_dir = default_cache_dir()
        digests = {
            config: {split: [entry.digest, entry.order_digest] for split, entry in splits.items()}
            for config, splits in self.manifest.configs.items()
        }
        shape = [list(self.manifest.labels), list(self.manifest.columns.items())]
        text = json.dumps([digests, *shape], sort_keys=True)
        known = hashlib.sha256(text.encode()).hexdigest()
        major, minor = self.number.major, self.number.minor
        key = f"{self.repository.url}@{major}.{minor}"
        check_recorded(cache_dir, key, known, self.folder / MANIFEST)
        with suppress(PermissionError, OutputError):  # a cache that only others may fill
            record_hash(cache_dir, key, known)


def parse_reference(text: str) -> tuple[str, str]:
    """Repository and version in ``ORG/NAME@X.Y.Z``.

    Raises:
        UsageError: It is of another form.
    """
    name, at, number = text.partition("@")
    if not at or name.count("/") != 1:
        raise UsageError(f"{text!r} is no version; expected ORG/NAME@X.Y.Z, or a folder.")
    return name, number
