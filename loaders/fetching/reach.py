"""Whether the network may be asked, and can be: told at once, not after retries."""

import os
import socket
from urllib.request import getproxies

from ..errors import DownloadError


def check_reachable(url: str, host: str) -> None:
    """Refuses an address that must not or cannot be asked.

    Args:
        url: The address.
        host: The host that would be asked for it.

    Raises:
        DownloadError: ``HF_HUB_OFFLINE`` or ``HF_DATASETS_OFFLINE`` is set, or the name of the host
            is not known, as is so where there is no network.
    """
    from huggingface_hub import constants

    wanted = os.environ.get("HF_DATASETS_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    if constants.HF_HUB_OFFLINE or wanted:
        raise DownloadError(f"{url} is not asked: HF_HUB_OFFLINE or HF_DATASETS_OFFLINE is set.")
    if getproxies():
        return  # then the proxy resolves names
    try:
        socket.getaddrinfo(host, None)
    except OSError as error:
        raise DownloadError(
            f"{url} cannot be downloaded: {host} is not found; is there a network?"
        ) from error
