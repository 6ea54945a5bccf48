"""Downloads from the Hub with its own client, which resumes, retries and caches."""

from pathlib import Path
from urllib.parse import urlsplit

from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache

from ..errors import DownloadError
from .catalogue import HubFile
from .reach import check_reachable


def download_from_hub(file: HubFile, *, anew: bool = False) -> Path:
    """Gets a file of a Hub repository, from the cache of the client where it is there.

    Args:
        file: The file.
        anew: Whether to download it though it is in the cache.

    Returns:
        The file in the cache of the client.

    Raises:
        DownloadError: It cannot be downloaded.
    """
    try:
        check_reachable(str(file), urlsplit(constants.ENDPOINT).hostname or "")
    except DownloadError:
        if (kept := _kept(file)) is not None and not anew:
            return kept
        raise
    try:
        return Path(
            hf_hub_download(
                file.repo,
                file.path,
                repo_type="dataset",
                revision=file.revision,
                force_download=anew,
            )
        )
    except Exception as error:  # the client's errors have no common root over its versions
        lines = str(error).strip().splitlines() or [repr(error)]
        raise DownloadError(f"{file} cannot be downloaded: {lines[0].rstrip('.')}.") from error


def _kept(file: HubFile) -> Path | None:
    """The file in the cache of the client, if it is there."""
    found = try_to_load_from_cache(
        file.repo, file.path, revision=file.revision, repo_type="dataset"
    )
    return Path(found) if isinstance(found, str) else None
