"""Downloads over HTTP: resumed after a break, tried again, and moved in place when whole."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import requests
from filelock import FileLock
from tqdm.auto import tqdm

from ..errors import DownloadError
from .sniff import looks_like_html, not_data

_CHUNK_BYTES = 1 << 18
_ATTEMPTS = 5
_TIMEOUT_S = 30
_MAX_WAIT_S = 60
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


def download(url: str, target: Path, *, verify: Callable[[Path], object]) -> None:
    """Downloads a file; what a break left is gone on with, also by a later call.

    Args:
        url: The address.
        target: Where the file goes, whole; its folder keeps the part until then.
        verify: Raises unless the whole file is the right one; it is then thrown away.

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
            _complete(url, part, tag)
            is_whole = True
            verify(part)
            part.replace(target)
        finally:
            if is_whole or not _is_resumable(part, tag):
                _discard(part, tag)


class _PassingError(Exception):
    """Trouble that may have gone the next time."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


def _is_resumable(part: Path, tag: Path) -> bool:
    return tag.exists() and part.exists() and part.stat().st_size > 0


def _discard(part: Path, tag: Path) -> None:
    part.unlink(missing_ok=True)
    tag.unlink(missing_ok=True)


def _complete(url: str, part: Path, tag: Path) -> None:
    """Requests what is missing until it is there, some times at most."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _continue(url, part, tag)
            return
        except _PassingError as error:
            if attempt == _ATTEMPTS:
                raise DownloadError(f"{url} cannot be downloaded: {error}.") from error
            time.sleep(error.wait_s or min(2 ** (attempt - 1), _MAX_WAIT_S))


def _continue(url: str, part: Path, tag: Path) -> None:
    """Requests what is missing, and adds it to the part."""
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
            if answer.status_code in _PASSING:
                wait = answer.headers.get("Retry-After", "")
                seconds = min(int(wait), _MAX_WAIT_S) if wait.isdecimal() else None
                raise _PassingError(f"{answer.status_code} {answer.reason}", seconds)
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
    """Whether an answer goes on with the part, or has nothing to do with it."""
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
    progress = tqdm(
        total=total, initial=start, unit="B", unit_scale=True, desc=url.rpartition("/")[2], delay=1
    )
    with progress, part.open("ab" if start else "wb") as file:
        for chunk in answer.iter_content(_CHUNK_BYTES):
            if not start and not file.tell() and looks_like_html(chunk[:1024]):
                tag.unlink(missing_ok=True)
                raise not_data(url, chunk[:4096])
            file.write(chunk)
            progress.update(len(chunk))
    if total is not None and part.stat().st_size != total:
        raise _PassingError(f"{part.stat().st_size} of {total} bytes came")


def _is_plain(headers: Mapping[str, str]) -> bool:
    return headers.get("Content-Encoding", "identity") == "identity"


def _total(headers: Mapping[str, str], start: int) -> int | None:
    length = headers.get("Content-Length", "")
    return start + int(length) if length.isdecimal() and _is_plain(headers) else None
