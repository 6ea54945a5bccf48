"""Reads a published version back as its users do, and compares it with what was built.

Run as a program, this module loads a version with the plain ``datasets`` library: a request in JSON
on standard input, an answer a line on standard output.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import datasets

from ..builders.core.row_digests import both_digests, row_hashes
from ..builders.versions.version import Manifest
from ..loaders.atomic_write import working_folder
from ..loaders.errors import HubError
from ..loaders.network import is_passing
from ..loaders.paths import default_cache_dir
from .hub.calls import RETRIES, status_of

_READER = "nlihub.publishing.read_back"
_ANSWER = "answer: "  # what a line with an answer begins with
_BATCH_ROWS = 5_000


@dataclass(frozen=True)
class Request:
    """The published version to load.

    Attributes:
        repository: ``ORG/NAME``.
        revision: A commit or a tag.
        splits: The splits of each config.
    """

    repository: str
    revision: str
    splits: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class LoadedSplit:
    """A split as it was loaded from the Hub.

    Attributes:
        config: The config.
        split: The split.
        way: ``loaded`` or ``streamed``.
        rows: Number of rows.
        digest: Digest of the rows, labels by name.
        order_digest: Digest of the rows in their order.
        columns: The Arrow type of each column.
        labels: The names of the labels, by id.
    """

    config: str
    split: str
    way: str
    rows: int
    digest: str
    order_digest: str
    columns: Mapping[str, str]
    labels: list[str]


def read_back(repository: str, manifest: Manifest, revision: str) -> None:
    """Load and stream every config and split of a version from the Hub, and compare them.

    In a process of its own, and a folder of about four times the size of the version: rows, their
    order, columns and label names have to be those that were built.

    Args:
        repository: ``ORG/NAME``.
        manifest: What was built.
        revision: A commit or a tag.

    Raises:
        HubError: They cannot be loaded, or are not what was built.
    """
    splits = {name: list(splits) for name, splits in manifest.configs.items()}
    attempt = 0
    while True:
        attempt += 1
        answers, said = _run_reader(Request(repository, revision, splits))
        wait_s = RETRIES.wait_s(attempt) if answers and answers[-1].get("may_pass") else None
        if wait_s is None:
            break
        time.sleep(wait_s)
    where = f"{repository} at {revision}"
    expected = sum(map(len, splits.values())) * 2  # loaded and streamed
    # Not by its exit code: threads of the clients may crash a process that has told all.
    if len(answers) != expected or "error" in answers[-1]:
        reason = answers[-1].get("error", said) if answers else said
        raise HubError(f"{where} cannot be read back: {reason.rstrip('.')}.")
    problems = [
        problem for answer in answers for problem in _problems(manifest, LoadedSplit(**answer))
    ]
    if problems:
        raise HubError(f"{where} is not what was built: {'; '.join(problems)}.")


def _run_reader(request: Request) -> tuple[list[dict[str, Any]], str]:
    """Run this module as a program: its answers, and the last line of what else it said."""
    with working_folder(default_cache_dir(), "read-back-") as fresh:
        done = subprocess.run(
            [sys.executable, "-P", "-m", _READER],
            input=json.dumps(asdict(request)),
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
    lines = (line for line in done.stdout.splitlines() if line.startswith(_ANSWER))
    answers = [json.loads(line.removeprefix(_ANSWER)) for line in lines]
    said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return answers, said[-1]


def _problems(manifest: Manifest, loaded: LoadedSplit) -> Iterator[str]:
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


def load_published(request: Request) -> Iterator[LoadedSplit]:
    """Load and stream every config and split of a published version, a split at a time."""
    for config, splits in request.splits.items():
        for streaming in (False, True):
            rows = datasets.load_dataset(
                request.repository, config, revision=request.revision, streaming=streaming
            )
            if unexpected := set(rows) - set(splits):
                raise ValueError(f"{config} has the unexpected splits {', '.join(unexpected)}")
            for split in splits:
                yield _describe(config, split, rows[split], "streamed" if streaming else "loaded")


def _describe(config: str, split: str, rows: Any, way: str) -> LoadedSplit:
    labels = list(rows.features["label"].names)
    n_rows = 0

    def hash_rows() -> Iterator[bytes]:
        nonlocal n_rows
        for table in rows.with_format("arrow").iter(batch_size=_BATCH_ROWS):
            n_rows += len(table)
            yield b"".join(row_hashes(table, labels))

    # Sorted in the working folder of this program, which is one of its own.
    in_any_order, in_order = both_digests(hash_rows(), Path())
    return LoadedSplit(
        config=config,
        split=split,
        way=way,
        rows=n_rows,
        digest=in_any_order,
        order_digest=in_order,
        columns={field.name: str(field.type) for field in rows.features.arrow_schema},
        labels=labels,
    )


def main() -> None:
    """Read back what was published, as the request on standard input says."""
    try:
        for loaded in load_published(Request(**json.load(sys.stdin))):
            print(_ANSWER + json.dumps(asdict(loaded)), flush=True)
    except Exception as error:  # of whatever library: the caller is told, in a line
        lines = str(error.__cause__ or error).strip().splitlines() or [repr(error)]
        status = status_of(error)
        may_pass = status is not None and is_passing(status)
        answer = {"error": f"{type(error).__name__}: {lines[0]}", "may_pass": may_pass}
        print(_ANSWER + json.dumps(answer))


if __name__ == "__main__":
    main()
