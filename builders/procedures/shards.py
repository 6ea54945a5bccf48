"""Work off a corpus of files shard by shard, on an engine, and go on after a kill."""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol, TypeVar

from filelock import FileLock, Timeout

from ...loaders.corpora.papers.files import PaperFile
from ...loaders.interrupts import kept_when_interrupted
from ...loaders.progress import progress_bar
from ..core.identity import code_identity
from ..core.workers import map_in_order

_LOGGER = logging.getLogger(__name__)

#: Files are put together to shards of at least this size, so that small ones cost little.
SHARD_BYTES = 8_000_000


class Shard(Protocol):
    """A part of the work, and the folder for its result."""

    @property
    def folder(self) -> Path:
        """The folder, which is there once the work is done."""
        ...


@dataclass(frozen=True)
class CorpusShard:
    """Some files of a corpus, and the folder for what is made of them."""

    files: Sequence[PaperFile]
    folder: Path


Part = TypeVar("Part", bound=Shard, contravariant=True)


class Job(Protocol[Part]):
    """What a worker does with a shard; it can be sent to another process or machine."""

    def run(self, shard: Part, /) -> None:
        """Make the folder of a shard, whole or not at all.

        Raises:
            OutputError: The folder cannot be written.
        """
        ...


class CorpusJob(Job[CorpusShard], Protocol):
    """What is done with the files of a corpus."""

    def identity(self) -> Sequence[Any]:
        """Return all that a folder depends on, besides files and code, as plain values."""
        ...

    def modules(self) -> Sequence[str]:
        """Return the modules that a folder depends on, with all that these import."""
        ...

    def is_final(self, folder: Path) -> bool:
        """Return whether reading the files again would give the same."""
        ...


class Engine(Protocol):
    """Works off shards: in processes of this machine, or on a cluster."""

    def __call__(self, job: Job[Part], shards: Sequence[Part]) -> Iterable[None]:
        """Run the job on every shard, so that each folder is there; yield once for each."""
        ...


def local_engine(num_proc: int) -> Engine:
    """Return an engine that works in as many processes of this machine."""
    return lambda job, shards: map_in_order(job.run, shards, num_proc)


@contextmanager
def worked_off(
    files: Sequence[PaperFile],
    job: CorpusJob,
    engine: Engine,
    cache_dir: Path,
    shard_bytes: int = SHARD_BYTES,
) -> Iterator[list[CorpusShard]]:
    """Read a corpus into folders, one a shard.

    Shards that a process finished before it died are not read again, unless a file of theirs has
    changed since. When the block ends without an error, the folders are removed.

    Args:
        files: The files of the corpus.
        job: What to do with a shard.
        engine: What reads the shards.
        cache_dir: Where the folders are made.
        shard_bytes: Size of a shard, in bytes.

    Yields:
        The shards, in the order of the files. What else is made of them is kept beside their
        folders, which lie in one.
    """
    recipe = cache_dir / "construct" / _key(job)
    recipe.mkdir(parents=True, exist_ok=True)
    place = recipe / code_identity(*job.modules())[:16]
    shards = [CorpusShard(group, place / _shard_key(group)) for group in _group(files, shard_bytes)]
    with _alone(recipe):
        for other in recipe.iterdir():
            if other.is_dir() and other != place:  # of an earlier version of this package
                rmtree(other, ignore_errors=True)
        place.mkdir(exist_ok=True)
        waiting = [
            shard for shard in shards if not (shard.folder.is_dir() and job.is_final(shard.folder))
        ]
        with kept_when_interrupted("The shards that were read are kept: run it again to go on."):
            work_off(job, waiting, engine, "Reading", len(shards))
            yield shards
        for shard in shards:
            rmtree(shard.folder, ignore_errors=True)
        with suppress(OSError):  # not empty: shards of another corpus
            place.rmdir()


def work_off(
    job: Job[Part], waiting: Sequence[Part], engine: Engine, title: str, n_shards: int
) -> None:
    """Work off the shards that are not done yet, with a progress bar.

    Args:
        job: What to do with a shard.
        waiting: The shards.
        engine: What works them off.
        title: What is done, for the progress bar.
        n_shards: Number of all shards.
    """
    n_done = n_shards - len(waiting)
    with progress_bar(title, n_steps=n_shards, n_done=n_done, unit="shard") as bar:
        for _ in engine(job, waiting):
            bar.update()


@contextmanager
def _alone(recipe: Path) -> Iterator[None]:
    """Wait while another process works by the same recipe, perhaps on the same papers."""
    lock = FileLock(recipe / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _LOGGER.warning("Another build by the same recipe is at work; waiting for its end.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _group(files: Sequence[PaperFile], shard_bytes: int) -> Iterator[list[PaperFile]]:
    group: list[PaperFile] = []
    size = 0
    for file in files:
        group.append(file)
        size += file.size
        if size >= shard_bytes:
            yield group
            group, size = [], 0
    if group:
        yield group


def _key(job: CorpusJob) -> str:
    return sha256(json.dumps(job.identity()).encode()).hexdigest()[:16]


def _shard_key(files: Sequence[PaperFile]) -> str:
    """Return a name for the content of files, as far as it is known without reading them."""
    parts = []
    for file in files:
        try:
            stat = file.path.stat()
            times = stat.st_mtime_ns, stat.st_ctime_ns  # the second cannot be set back
            part = [] if file.end is None else [file.start, file.end]
            parts.append([file.name, str(file.path.absolute()), stat.st_size, *times, *part])
        except OSError:  # gone; reported when it is read
            parts.append([file.name])
    return sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
