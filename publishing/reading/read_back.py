"""Reads a published version back as its users do, and compares it with what was built."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from ...builders.versions.manifest import Manifest
from ...loaders.errors import HubError
from .loaded import ANSWER, Loaded, Request

_READER = "nlihub.publishing.reading.loaded"


def read_back(repository: str, manifest: Manifest, caches: Path, revision: str) -> None:
    """Loads and streams every config and split of a version from the Hub, and compares them.

    In a process of its own: rows, their order, columns and names of labels have to be those that
    were built.

    Args:
        repository: ``ORG/NAME``.
        manifest: What was built.
        caches: Folder for what is downloaded; it needs about four times the size of the version.
        revision: A commit or a tag.

    Raises:
        HubError: They cannot be loaded, or are not what was built.
    """
    splits = {name: list(splits) for name, splits in manifest.configs.items()}
    with TemporaryDirectory(dir=caches) as fresh:
        done = subprocess.run(
            [sys.executable, "-P", "-m", _READER],
            input=json.dumps(asdict(Request(repository, revision, splits))),
            capture_output=True,
            text=True,
            cwd=fresh,  # where no folder ORG/NAME can be taken for the repository
            env={
                **os.environ,
                "HF_HUB_CACHE": f"{fresh}/hub",
                "HF_DATASETS_CACHE": f"{fresh}/datasets",
                "HF_MODULES_CACHE": f"{fresh}/modules",
                "HF_XET_CACHE": f"{fresh}/xet",
                "HF_UPDATE_DOWNLOAD_COUNTS": "0",
                "USE_TORCH": "0",  # importing it takes as long as all the rest
            },
        )
    lines = (line for line in done.stdout.splitlines() if line.startswith(ANSWER))
    answers = [json.loads(line.removeprefix(ANSWER)) for line in lines]
    where = f"{repository} at {revision}"
    expected = sum(map(len, splits.values())) * 2  # loaded and streamed
    # Not by its exit code: threads of the clients may crash a process that has told all.
    if len(answers) != expected or "error" in answers[-1]:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        reason = answers[-1].get("error", said[-1]) if answers else said[-1]
        raise HubError(
            f"{where} cannot be read back: {reason.rstrip('.')}. Run the command again: it goes on "
            "where it was."
        )
    problems = [problem for answer in answers for problem in _problems(manifest, Loaded(**answer))]
    if problems:
        raise HubError(f"{where} is not what was built: {'; '.join(problems)}.")


def _problems(manifest: Manifest, loaded: Loaded) -> Iterator[str]:
    built = manifest.configs[loaded.config][loaded.split]
    where = f"{loaded.config}/{loaded.split}, {loaded.way}"
    if loaded.labels != list(manifest.labels):
        yield f"{where}: labels {', '.join(loaded.labels)}"
    if loaded.columns != dict(manifest.columns):
        yield f"{where}: columns {loaded.columns}"
    if loaded.rows != built.rows:
        yield f"{where}: {loaded.rows:,} rows, expected {built.rows:,}"
    elif loaded.digest != built.digest:
        yield f"{where}: other rows (digest {loaded.digest}, expected {built.digest})"
    elif loaded.order_digest != built.order_digest:
        yield f"{where}: the rows stand in another order"
