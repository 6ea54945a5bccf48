"""Read a corpus of papers shard by shard, on an engine, and go on after a kill."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version as installed_version
from pathlib import Path
from shutil import rmtree
from typing import Protocol, TypeVar

from filelock import FileLock, Timeout

from ....loaders.corpora.papers.files import PaperFile
from ....loaders.interrupts import kept_when_interrupted
from ....loaders.progress import progress_bar
from ...core.identity import code_identity
from ...core.sql import SQLEngine
from ...core.workers import map_in_order
from .extract import PAIRS, CorpusShard, Job, ShardReport
from .place_papers import ShardGroup

Item = TypeVar("Item")
Result = TypeVar("Result")

_LOGGER = logging.getLogger(__name__)

#: Files are put together to shards of at least this size, so that small ones cost little.
SHARD_BYTES = 8_000_000
#: Shards are put together to groups with number columns of at least this size, 300,000 pairs.
_GROUP_BYTES = 16_000_000


class Engine(Protocol):
    """Works on a corpus: in processes of this machine, or on a cluster."""

    @property
    def folder(self) -> Path | None:
        """Where working files are kept; None takes the cache."""
        ...

    @property
    def sql(self) -> SQLEngine | None:
        """What chooses papers and pairs; None is DuckDB on this machine."""
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
    """A corpus of papers that has been read.

    Attributes:
        folders: The folders of the shards, each with its pairs, papers and counts.
        results: The folder for what is made of these.
    """

    folders: Sequence[Path]
    results: Path

    def group(self, results: Path) -> list[ShardGroup]:
        """Put shards together that a worker takes at once, each group with a folder for results."""
        groups: list[ShardGroup] = []
        start = size = 0
        for number, folder in enumerate(self.folders, 1):
            size += (folder / PAIRS).stat().st_size
            if size >= _GROUP_BYTES or number == len(self.folders):
                some = self.folders[start:number]
                name = f"{start:07d}-{_names_key(some)}"
                groups.append(ShardGroup(start, some, results / name))
                start, size = number, 0
        return groups

    def key(self, *parts: object) -> str:
        """Return a name for the content of the corpus and other things, plain values."""
        names = [folder.name for folder in self.folders]
        return sha256(json.dumps([names, *parts]).encode()).hexdigest()[:16]


@contextmanager
def worked_off(
    files: Sequence[PaperFile], job: Job, engine: Engine, cache_dir: Path
) -> Iterator[Corpus]:
    """Read a corpus of papers into folders, one a shard, with its pairs, papers and counts.

    Shards that a process finished before it died are not read again, unless a file of theirs has
    changed since. When the block ends without an error, the folders are removed.

    Args:
        files: The files of the corpus.
        job: What to do with a shard.
        engine: What reads the shards.
        cache_dir: Where the folders are made, if the engine has no folder of its own.
    """
    recipe = (engine.folder or cache_dir) / "construct" / _key(job)
    recipe.mkdir(parents=True, exist_ok=True)
    place = recipe / _code(job)[:16]
    shards = [CorpusShard(group, place / _shard_key(group)) for group in _group(files)]
    results = place / "results"
    with _alone(recipe):
        for other in recipe.iterdir():
            if other.is_dir() and other != place:  # of an earlier version of this package
                rmtree(other, ignore_errors=True)
        place.mkdir(exist_ok=True)
        waiting = [shard for shard in shards if not _is_done(shard.folder)]
        if waiting:  # perhaps to be read again, by the same name
            rmtree(results, ignore_errors=True)
        done = len(shards) - len(waiting)
        with kept_when_interrupted("The shards that were read are kept: run it again to go on."):
            with progress_bar("Reading", n_steps=len(shards), n_done=done, unit="shard") as bar:
                for _ in engine.map(job.run, waiting):
                    bar.update()
            corpus = Corpus([shard.folder for shard in shards], results)
            yield corpus
        for folder in (*corpus.folders, results):
            rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # not empty: shards of another corpus
            place.rmdir()


def do_missing(
    engine: Engine, job: Callable[[ShardGroup], object], groups: Sequence[ShardGroup], what: str
) -> None:
    """Do a job on groups of shards, but those whose target is there.

    Args:
        engine: What does it.
        job: Makes the target, whole or not at all.
        groups: The groups.
        what: The text before the progress bar.
    """
    waiting = [group for group in groups if not group.target.is_dir()]
    done = len(groups) - len(waiting)
    with progress_bar(what, n_steps=len(groups), n_done=done, unit="group") as bar:
        for _ in engine.map(job, waiting):
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


def _is_done(folder: Path) -> bool:
    return folder.is_dir() and ShardReport.read(folder).is_final


def _group(files: Sequence[PaperFile]) -> Iterator[list[PaperFile]]:
    group: list[PaperFile] = []
    size = 0
    for file in files:
        group.append(file)
        size += file.size
        if size >= SHARD_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _code(job: Job) -> str:
    """Return a hash of the code that the pairs of a paper depend on."""
    return code_identity(Job.__module__, job.split_sentences.__module__)


def _key(job: Job) -> str:
    """Return a name for all that the pairs of a paper depend on, besides paper and code."""
    splitter = job.split_sentences
    parts = [
        job.rules.as_json(),
        f"{splitter.__module__}.{splitter.__qualname__}",
        [f"{name} {installed_version(name)}" for name in ("nupunkt", "orjson", "pyarrow")],
        sorted(job.metadata.years.items()),
        sorted(job.metadata.domains.items()),
        job.metadata.domain,
    ]
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _names_key(folders: Sequence[Path]) -> str:
    return sha256("\n".join(folder.name for folder in folders).encode()).hexdigest()[:16]


def _shard_key(files: Sequence[PaperFile]) -> str:
    """Return a name for the content of files, as far as it is known without reading them."""
    parts = []
    for file in files:
        try:
            stat = file.path.stat()
            times = stat.st_mtime_ns, stat.st_ctime_ns  # the second cannot be set back
            parts.append([file.name, str(file.path.absolute()), stat.st_size, *times])
        except OSError:  # gone; reported when it is read
            parts.append([file.name])
    return sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
