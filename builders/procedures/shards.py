"""Read a corpus of files shard by shard, on an engine, and go on after a kill."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol, TypeVar

from filelock import FileLock, Timeout

from ...loaders.corpora.papers.files import PaperFile
from ...loaders.interrupts import kept_when_interrupted
from ...loaders.progress import watch
from ..core.identity import code_identity
from ..core.sql import SQLEngine
from ..core.workers import map_in_order

Item = TypeVar("Item")
Result = TypeVar("Result")

_LOGGER = logging.getLogger(__name__)

#: Files are put together to shards of at least this size, so that small ones cost little.
SHARD_BYTES = 8_000_000


@dataclass(frozen=True)
class CorpusShard:
    """Some files of a corpus, and the folder for what is made of them."""

    files: Sequence[PaperFile]
    folder: Path

    @property
    def n_bytes(self) -> int:
        """The size of the files."""
        return sum(file.size for file in self.files)


class ReadingJob(Protocol):
    """What a worker does with the files of a shard; it can be sent to a process or machine."""

    def run(self, shard: CorpusShard) -> None:
        """Make the folder of a shard, whole or not at all.

        Raises:
            OutputError: The folder cannot be written.
        """
        ...

    def identity(self) -> Sequence[Any]:
        """Return all that a folder depends on, besides files and code, as plain values."""
        ...

    def modules(self) -> Sequence[str]:
        """Return the modules that a folder depends on, with all that these import."""
        ...

    def is_final(self, folder: Path) -> bool:
        """Return whether reading the files again would give the same."""
        ...


class WithTarget(Protocol):
    """Work whose result is a folder."""

    @property
    def target(self) -> Path:
        """The folder, which is there once the work is done."""
        ...


Work = TypeVar("Work", bound=WithTarget)


class Engine(Protocol):
    """Works on a corpus: in processes of this machine, or on a cluster."""

    @property
    def folder(self) -> Path | None:
        """Where working files are kept; None takes the cache."""
        ...

    @property
    def sql(self) -> SQLEngine | None:
        """What chooses what is taken; None is DuckDB on this machine."""
        ...

    def map(self, job: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Do a job on items.

        Args:
            job: What to do with an item; it can be sent to another process or machine.
            items: The items.

        Yields:
            The results, in the order of the items.
        """
        ...


@dataclass(frozen=True)
class LocalEngine:
    """Works in processes of this machine.

    Attributes:
        num_proc: Their number.
    """

    num_proc: int
    folder: Path | None = None
    sql: SQLEngine | None = None

    def map(self, job: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Do a job on items, in order; see ``Engine``."""
        return map_in_order(job, items, self.num_proc)


@dataclass(frozen=True)
class Corpus:
    """A corpus that has been read.

    Attributes:
        shards: The shards, in the order of the files.
        results: The folder for what is made of these.
    """

    shards: Sequence[CorpusShard]
    results: Path

    @property
    def folders(self) -> Sequence[Path]:
        """The folders of the shards."""
        return [shard.folder for shard in self.shards]

    def key(self, *parts: object) -> str:
        """Return a name for the content of the corpus and other things, plain values."""
        names = [folder.name for folder in self.folders]
        return sha256(json.dumps([names, *parts]).encode()).hexdigest()[:16]


@contextmanager
def worked_off(
    files: Sequence[PaperFile],
    job: ReadingJob,
    engine: Engine,
    cache_dir: Path,
    shard_bytes: int | None = None,
) -> Iterator[Corpus]:
    """Read a corpus into folders, one a shard.

    Shards that a process finished before it died are not read again, unless a file of theirs has
    changed since. When the block ends without an error, the folders are removed.

    Args:
        files: The files of the corpus.
        job: What to do with a shard.
        engine: What reads the shards.
        cache_dir: Where the folders are made, if the engine has no folder of its own.
        shard_bytes: Size of a shard, in bytes; None takes ``SHARD_BYTES``.
    """
    recipe = (engine.folder or cache_dir) / "construct" / _key(job)
    recipe.mkdir(parents=True, exist_ok=True)
    place = recipe / code_identity(*job.modules())[:16]
    groups = _group(files, shard_bytes or SHARD_BYTES)
    shards = [CorpusShard(group, place / _shard_key(group)) for group in groups]
    results = place / "results"
    with _alone(recipe):
        for other in recipe.iterdir():
            if other.is_dir() and other != place:  # of an earlier version of this package
                rmtree(other, ignore_errors=True)
        place.mkdir(exist_ok=True)
        waiting = [
            shard for shard in shards if not (shard.folder.is_dir() and job.is_final(shard.folder))
        ]
        if waiting:  # perhaps to be read again, by the same name
            rmtree(results, ignore_errors=True)
        n_bytes = sum(shard.n_bytes for shard in shards)
        n_done = n_bytes - sum(shard.n_bytes for shard in waiting)
        with kept_when_interrupted("The shards that were read are kept: run it again to go on."):
            with watch("reading", n_bytes, "B", n_done=n_done) as shown:
                for shard, _ in zip(waiting, engine.map(job.run, waiting), strict=True):
                    shown.update(shard.n_bytes)
            corpus = Corpus(shards, results)
            yield corpus
        for folder in (*corpus.folders, results):
            rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # not empty: shards of another corpus
            place.rmdir()


def do_missing(
    engine: Engine, job: Callable[[Work], object], groups: Sequence[Work], what: str
) -> None:
    """Do a job on shards or groups of them, but those whose target is there.

    Args:
        engine: What does it.
        job: Makes the target, whole or not at all.
        groups: The shards or groups.
        what: The work, as progress names it.
    """
    waiting = [group for group in groups if not group.target.is_dir()]
    n_done = len(groups) - len(waiting)
    with watch(what, len(groups), "groups of shards", n_done=n_done) as shown:
        for _ in engine.map(job, waiting):
            shown.update(1)


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


def _key(job: ReadingJob) -> str:
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
