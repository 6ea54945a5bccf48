"""Read a corpus of papers shard by shard, on an engine, and go on after a kill."""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.metadata import version as installed_version
from pathlib import Path
from shutil import rmtree
from typing import Protocol

from filelock import FileLock, Timeout

from ....loaders.corpora.papers.files import PaperFile
from ....loaders.interrupts import kept_when_interrupted
from ....loaders.progress import progress_bar
from ...core.identity import code_identity
from ...core.workers import map_in_order
from .extract import CorpusShard, Job, ShardReport

_LOGGER = logging.getLogger(__name__)

#: Files are put together to shards of at least this size, so that small ones cost little.
SHARD_BYTES = 8_000_000


class Engine(Protocol):
    """Reads the shards of a corpus: in processes of this machine, or on a cluster."""

    def __call__(self, job: Job, shards: Sequence[CorpusShard]) -> Iterable[None]:
        """Run the job on every shard, so that each folder is there; yield once for each."""
        ...


def local_engine(num_proc: int) -> Engine:
    """Return an engine that reads papers in as many processes of this machine."""
    return lambda job, shards: map_in_order(job.run, shards, num_proc)


@contextmanager
def worked_off(
    files: Sequence[PaperFile], job: Job, engine: Engine, cache_dir: Path
) -> Iterator[list[Path]]:
    """Read a corpus of papers into folders, one a shard, with its pairs, papers and counts.

    Shards that a process finished before it died are not read again, unless a file of theirs has
    changed since. When the block ends without an error, the folders are removed.

    Args:
        files: The files of the corpus.
        job: What to do with a shard.
        engine: What reads the shards.
        cache_dir: Where the folders are made.

    Yields:
        The folders; their order means nothing.
    """
    recipe = cache_dir / "construct" / _key(job)
    recipe.mkdir(parents=True, exist_ok=True)
    place = recipe / _code(job)[:16]
    shards = [CorpusShard(group, place / _shard_key(group)) for group in _group(files)]
    with _alone(recipe):
        for other in recipe.iterdir():
            if other.is_dir() and other != place:  # of an earlier version of this package
                rmtree(other, ignore_errors=True)
        place.mkdir(exist_ok=True)
        waiting = [shard for shard in shards if not _is_done(shard.folder)]
        done = len(shards) - len(waiting)
        with kept_when_interrupted("The shards that were read are kept: run it again to go on."):
            with progress_bar("Reading", n_steps=len(shards), n_done=done, unit="shard") as bar:
                for _ in engine(job, waiting):
                    bar.update()
            folders = [shard.folder for shard in shards]
            yield folders
        for folder in folders:
            rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # not empty: shards of another corpus
            place.rmdir()


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
