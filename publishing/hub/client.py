"""What nlihub uses of ``huggingface_hub`` beyond its documented interface.

Seen with ``huggingface_hub`` 0.34 to 2.4; ``tests/publishing/test_hub_client.py`` fails where a
version changes any of it. Its ``constants`` (``ENDPOINT``, ``HF_HOME``, ``HF_HUB_CACHE``,
``HF_HUB_OFFLINE``), which are the only public way to read what the environment sets, are used where
they are needed; the same tests look after them.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
from huggingface_hub import HfApi, constants, get_session
from huggingface_hub.errors import HFValidationError
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.hf_api import RepoFile as RepoFile
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from ...loaders.errors import UsageError

#: Seconds of silence after which a request ends; ``$NLIHUB_TIMEOUT`` sets another number.
TIMEOUT_S = 120.0


@contextmanager
def with_timeouts() -> Iterator[None]:
    """End requests once the Hub has been silent for ``TIMEOUT_S``, while the block runs.

    By itself the client waits for an answer forever. From 1.0 on it has one ``httpx`` client, whose
    ``timeout`` can be set; before, a session of ``requests`` for each thread.
    """
    timeout_s = _timeout_s()
    session: Any = get_session()
    if isinstance(session, requests.Session):
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


def check_repository_name(name: str) -> None:
    """Refuse what cannot be the name of a repository, as the client would when it is asked.

    Raises:
        UsageError: The name is not ``ORG/NAME``.
    """
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise UsageError(f"{name!r} is not the name of a repository: {error}") from error
    if name.count("/") != 1:
        raise UsageError(f"{name!r} is not the name of a repository; expected ORG/NAME.")


def list_files(api: HfApi, name: str, kind: str, revision: str) -> list[RepoFile]:
    """Return the files of a repository at a revision, folders left out."""
    entries = api.list_repo_tree(name, repo_type=kind, revision=revision, recursive=True)
    return [entry for entry in entries if isinstance(entry, RepoFile)]


def cached_references(name: str) -> Collection[str]:
    """Return the tags and branches of a repository of which the Hub client's cache has files.

    It keeps them as ``datasets--ORG--NAME/refs/TAG``; ``scan_cache_dir`` reads all repositories.
    """
    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="dataset")
    return {path.name for path in (folder / "refs").glob("*")}
