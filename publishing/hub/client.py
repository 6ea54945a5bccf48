"""Requests of the Hub's client that end: by itself it waits for an answer for ever."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import requests
from huggingface_hub import get_session

from ...loaders.errors import UsageError

#: Seconds of silence after which a request ends; ``$NLIHUB_TIMEOUT`` sets another number.
TIMEOUT_S = 120.0


@contextmanager
def with_timeouts() -> Iterator[None]:
    """While the block runs, a request ends once the Hub has been silent for ``TIMEOUT_S``."""
    timeout_s = _timeout_s()
    session: Any = get_session()
    if isinstance(session, requests.Session):  # before huggingface_hub 1.0, one for each thread
        from huggingface_hub import configure_http_backend

        configure_http_backend(lambda: _ImpatientSession(timeout_s))
        try:
            yield
        finally:
            configure_http_backend()
        return
    before = session.timeout
    session.timeout = timeout_s
    try:
        yield
    finally:
        session.timeout = before


def _timeout_s() -> float:
    text = os.environ.get("NLIHUB_TIMEOUT") or str(TIMEOUT_S)
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"NLIHUB_TIMEOUT is {text!r}; expected seconds.") from None


class _ImpatientSession(requests.Session):
    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._timeout_s = timeout_s

    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        if options.get("timeout") is None:
            options["timeout"] = self._timeout_s
        return super().request(*arguments, **options)
