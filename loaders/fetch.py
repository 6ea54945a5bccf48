"""Gets source files: from a local folder or from their pinned address, never unverified."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from huggingface_hub import constants

from .errors import ChecksumError, DownloadError, NLIHubError, SourceNotFoundError, UnknownNameError

_CHUNK_BYTES = 1 << 20
_RETRIES = 3
_TIMEOUT_S = 30
_HINT = "name a local folder that has the source files (--from FOLDER, or data_dir= in Python)"


@dataclass(frozen=True)
class Source:
    """A file of an official release.

    Attributes:
        dataset: The dataset that it belongs to.
        name: What it is to that dataset, e.g. ``"patterns"``.
        path: Its path in the release.
        url: Its address, at a pinned revision.
        bytes: Its size.
        sha256: Its hash, 64 hexadecimal digits.
    """

    dataset: str
    name: str
    path: str
    url: str
    bytes: int
    sha256: str

    def __post_init__(self) -> None:
        if len(self.sha256) != 64 or self.bytes <= 0 or not self.url.startswith("http"):
            raise NLIHubError(
                f"Source {self.name!r} of {self.dataset} needs url, bytes and sha256."
            )


@cache
def list_sources(dataset: str) -> Mapping[str, Source]:
    """The sources of a dataset by name, from ``sources.json``.

    Raises:
        UnknownNameError: No sources are recorded for the dataset.
    """
    recorded = json.loads((files(__package__) / "sources.json").read_text(encoding="utf-8"))
    if dataset not in recorded:
        raise UnknownNameError.of("dataset with sources", dataset, recorded)
    entries = recorded[dataset]["files"]
    return {name: Source(dataset, name, **entry) for name, entry in entries.items()}


def hash_file(path: Path) -> str:
    """The sha256 of a file, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def fetch(source: Source, *, folder: Path | None = None, cache_dir: Path) -> Path:
    """Gets a source file, whole and verified.

    Args:
        source: The file to get.
        folder: Take it from here, by its path in the release or by its bare name, instead of
            downloading it.
        cache_dir: Where downloads are kept.

    Returns:
        The local file; its sha256 is the pinned one.

    Raises:
        ChecksumError: The file is another one than was pinned.
        SourceNotFoundError: The folder lacks it.
        DownloadError: It cannot be downloaded.
    """
    if folder is not None:
        found = _find(source, folder)
        _verify(source, found)
        return found
    target = cache_dir / "sources" / source.sha256 / Path(source.path).name
    if target.exists() and hash_file(target) == source.sha256:
        return target
    return _download(source, target)


def _find(source: Source, folder: Path) -> Path:
    if not folder.is_dir():
        raise SourceNotFoundError(f"{folder} is no folder; expected one with {source.path}.")
    for candidate in (folder / source.path, folder / Path(source.path).name):
        if candidate.is_file():
            return candidate
    raise SourceNotFoundError(
        f"{folder} has neither {source.path} nor {Path(source.path).name}. "
        f"Download it from {source.url}."
    )


def _verify(source: Source, path: Path) -> None:
    size = path.stat().st_size
    digest = hash_file(path)
    if digest != source.sha256:
        raise ChecksumError(
            f"{path} is not the pinned {source.path} of {source.dataset}: it has sha256 {digest} "
            f"({size} bytes), expected {source.sha256} ({source.bytes} bytes). "
            f"Get it anew from {source.url}."
        )


def _download(source: Source, target: Path) -> Path:
    import pooch
    import requests

    if constants.HF_HUB_OFFLINE:
        raise DownloadError(
            f"{source.path} of {source.dataset} is not in {target.parent} and HF_HUB_OFFLINE is "
            f"set. Unset it, or {_HINT}."
        )
    manager = pooch.create(
        path=target.parent,
        base_url="",
        registry={target.name: f"sha256:{source.sha256}"},
        urls={target.name: source.url},
        retry_if_failed=_RETRIES,
    )
    downloader = pooch.HTTPDownloader(timeout=_TIMEOUT_S, progressbar=True)
    try:
        manager.fetch(target.name, downloader=downloader)
    except ValueError as error:  # pooch's word for a wrong hash
        raise ChecksumError(
            f"{source.url} does not serve the pinned file (sha256 {source.sha256}): {error}"
        ) from error
    except (requests.RequestException, OSError) as error:
        raise DownloadError(
            f"{source.url} cannot be downloaded: {error}. Try again later, or {_HINT}."
        ) from error
    return target
