"""Downloads a file over HTTP or from the Hub.

Over HTTP it is resumed after a break, tried again, and moved in place when whole. Files of the Hub
come by the Hub's own client, which resumes, retries and caches.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import requests
from filelock import FileLock
from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache

from ..errors import DownloadError
from ..interrupts import kept_when_interrupted
from ..network import Retries, check_reachable, is_passing, wait_asked_for
from ..progress import progress_bar
from .catalogue import HubFile
from .verification import looks_like_html, web_page_error

_CHUNK_BYTES = 1 << 18
_RETRIES = Retries(max_attempts=5)
_TIMEOUT_S = 30


def download(url: str, target: Path, *, verify: Callable[[Path], object]) -> None:
    """Download a file over HTTP; resume what an interrupted call left.

    Args:
        url: The address.
        target: Where the file goes, whole; its folder keeps the part until then.
        verify: Raises unless the whole file is the right one; such a file is deleted.

    Raises:
        DownloadError: It cannot be downloaded.
        NotDataError: A web page came instead.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.partial")
    tag = target.with_name(f".{target.name}.etag")
    with FileLock(target.with_name(f".{target.name}.lock")):
        if target.exists():  # by another process, while this one waited
            with suppress(Exception):
                verify(target)
                return
        is_whole = False
        try:
            with kept_when_interrupted("What was downloaded is kept: run it again to go on."):
                _complete(url, part, tag)
            is_whole = True
            verify(part)
            part.replace(target)
        finally:
            if is_whole or not _is_resumable(part, tag):
                _discard(part, tag)


class _PassingError(Exception):
    """A failure that may not recur; ``asked_s`` is the wait that the server asks for."""

    def __init__(self, message: str, asked_s: float | None = None) -> None:
        super().__init__(message)
        self.asked_s = asked_s


def _is_resumable(part: Path, tag: Path) -> bool:
    return tag.exists() and part.exists() and part.stat().st_size > 0


def _discard(*files: Path) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _complete(url: str, part: Path, tag: Path) -> None:
    """Request what is missing until it is there, or the attempts are used up."""
    for attempt in count(1):
        try:
            _continue(url, part, tag)
            return
        except _PassingError as error:
            wait_s = _RETRIES.wait_s(attempt, error.asked_s)
            if wait_s is None:
                raise DownloadError(f"{url} cannot be downloaded: {error}.") from error
            time.sleep(wait_s)


def _continue(url: str, part: Path, tag: Path) -> None:
    """Request what is missing, and add it to the part."""
    start = part.stat().st_size if _is_resumable(part, tag) else 0
    headers = {"Accept-Encoding": "identity"}
    if start:
        # Without If-Range, the tail of a file that was replaced meanwhile would be added.
        headers |= {"Range": f"bytes={start}-", "If-Range": tag.read_text(encoding="ascii")}
    try:
        with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S) as answer:
            if start and not _fits(answer, start, tag):
                _discard(part, tag)
                raise _PassingError("the part kept from earlier does not fit")
            if is_passing(answer.status_code):
                asked_s = wait_asked_for(answer.headers.get("Retry-After"))
                raise _PassingError(f"{answer.status_code} {answer.reason}", asked_s)
            if answer.status_code not in (200, 206):
                raise DownloadError(
                    f"{url} cannot be downloaded: {answer.status_code} {answer.reason}."
                )
            if answer.status_code != 206:
                start = 0
            _write(answer, url, part, tag, start)
    except requests.RequestException as error:
        raise _PassingError(str(error)) from error
    except OSError as error:
        if error.errno is not None and error.filename is None:  # no space left, from writing
            error.filename = str(part)
        raise


def _fits(answer: requests.Response, start: int, tag: Path) -> bool:
    """Return whether an answer continues the part."""
    if answer.status_code == 206:  # some servers ignore If-Range
        etag = answer.headers.get("ETag")
        came = answer.headers.get("Content-Range", "")
        return etag in (None, tag.read_text(encoding="ascii")) and came.startswith(
            f"bytes {start}-"
        )
    return answer.status_code != 416  # the part is longer than the file now is


def _write(answer: requests.Response, url: str, part: Path, tag: Path, start: int) -> None:
    if not start:
        _discard(part, tag)
        etag = answer.headers.get("ETag", "")
        # Only a strong tag names one content.
        if etag.startswith('"') and etag.isascii() and _is_plain(answer.headers):
            tag.write_text(etag, encoding="ascii")
    total = _total(answer.headers, start)
    progress = progress_bar(url.rpartition("/")[2], n_steps=total, n_done=start, unit="B")
    with progress, part.open("ab" if start else "wb") as file:
        for chunk in answer.iter_content(_CHUNK_BYTES):
            if not start and not file.tell() and looks_like_html(chunk[:1024]):
                tag.unlink(missing_ok=True)
                raise web_page_error(url, chunk[:4096])
            file.write(chunk)
            progress.update(len(chunk))
    if total is not None and part.stat().st_size != total:
        raise _PassingError(f"{part.stat().st_size} of {total} bytes came")


def _is_plain(headers: Mapping[str, str]) -> bool:
    return headers.get("Content-Encoding", "identity") == "identity"


def _total(headers: Mapping[str, str], start: int) -> int | None:
    length = headers.get("Content-Length", "")
    return start + int(length) if length.isdecimal() and _is_plain(headers) else None


def download_from_hub(file: HubFile, *, anew: bool = False) -> Path:
    """Return a file of a Hub repository in the cache of the Hub's client, downloaded if needed.

    Args:
        file: The file.
        anew: Whether to download it though it is in the cache.

    Raises:
        DownloadError: It cannot be downloaded.
    """
    try:
        check_reachable(str(file), urlsplit(constants.ENDPOINT).hostname or "")
    except DownloadError:
        kept = try_to_load_from_cache(
            file.repo, file.path, revision=file.revision, repo_type="dataset"
        )
        if isinstance(kept, str) and not anew:
            return Path(kept)
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
