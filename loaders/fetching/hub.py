"""Downloads from the Hub with its own client, which resumes, retries and caches."""

from pathlib import Path

from huggingface_hub import hf_hub_download

from ..errors import DownloadError
from .catalogue import HubFile


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
