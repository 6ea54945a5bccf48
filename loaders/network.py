"""One retry policy for downloads (``fetching.download``), the Hub and model servers.

A request is sent again after the statuses 408, 425, 429 and 5xx and after a broken connection,
never after another refusal. The wait is what ``Retry-After`` asks for, else it doubles with each
attempt, up to a minute. Callers set the number of attempts, and know which of their library's
errors are broken connections.
"""

import os
import random
import re
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.request import getproxies

from .errors import DownloadError

_MAX_WAIT_S = 60.0
_PASSING = frozenset({408, 425, 429})


def is_switched_on(variable: str) -> bool:
    """Return whether a variable of the environment is set to what Hugging Face takes for true."""
    return os.environ.get(variable, "").upper() in ("1", "ON", "YES", "TRUE")


def check_reachable(url: str, host: str) -> None:
    """Refuse a download when offline, at once instead of after retries.

    Args:
        url: The address.
        host: The host of that address.

    Raises:
        DownloadError: ``HF_HUB_OFFLINE`` or ``HF_DATASETS_OFFLINE`` is set, or the name of the host
            cannot be resolved, as without a network.
    """
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or is_switched_on("HF_DATASETS_OFFLINE"):
        raise DownloadError(
            f"{url} is not requested: HF_HUB_OFFLINE or HF_DATASETS_OFFLINE is set."
        )
    if getproxies():
        return  # then the proxy resolves names
    try:
        socket.getaddrinfo(host, None)
    except OSError as error:
        raise DownloadError(
            f"{url} cannot be downloaded: {host} is not found; is this machine online?"
        ) from error


def is_passing(status: int) -> bool:
    """Return whether a request that got this HTTP status may succeed when sent again."""
    return status in _PASSING or status >= 500


def wait_asked_for(retry_after: str | None) -> float | None:
    """Return the seconds to wait, 0 to 60, that a ``Retry-After`` header asks for.

    Args:
        retry_after: The header, seconds or a date; None if missing. A malformed one gives None.

    Example:
        >>> wait_asked_for("7"), wait_asked_for("3600"), wait_asked_for("soon")
        (7.0, 60.0, None)
    """
    from email.utils import parsedate_to_datetime

    header = (retry_after or "").strip()
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", header):
        return min(float(header), _MAX_WAIT_S)
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    left = (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(max(left, 0.0), _MAX_WAIT_S)


@dataclass(frozen=True)
class Retries:
    """How often a request is sent, and how long to wait between attempts.

    Attributes:
        max_attempts: The number of attempts, from 1.
        first_wait_s: The wait after the first; it doubles with each other, up to a minute.
        is_uneven: Whether to shorten waits at random, by up to a half, so that several connections
            do not come back at once.
    """

    max_attempts: int
    first_wait_s: float = 1.0
    is_uneven: bool = False

    def wait_s(self, attempt: int, asked_s: float | None = None) -> float | None:
        """Return the seconds to wait after a failed attempt, 0 to 60; None after the last one.

        Args:
            attempt: Its number, from 1.
            asked_s: The wait that the answer asks for; None if it asks for none.

        Example:
            >>> [Retries(4).wait_s(attempt) for attempt in (1, 2, 3, 4)]
            [1.0, 2.0, 4.0, None]
            >>> Retries(4).wait_s(1, asked_s=7.0)
            7.0
        """
        if attempt >= self.max_attempts:
            return None
        if asked_s is not None:
            return asked_s
        backoff = min(self.first_wait_s * 2.0 ** (attempt - 1), _MAX_WAIT_S)
        return backoff * random.uniform(0.5, 1.0) if self.is_uneven else backoff
