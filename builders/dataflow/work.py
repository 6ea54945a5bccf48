"""Work on a corpus stage by stage, and go on after an interruption.

A stage fills a folder for each shard of the corpus, or for some rows of it. A folder is there whole
or not at all, and its path names all that its content depends on, so that a run that was
interrupted finds what is done. That is the whole of resuming.
"""

import json
import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from shutil import rmtree
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from ...loaders.atomic_write import whole_folder
from ...loaders.corpora.files import PaperFile
from ...loaders.hashing import code_hash
from ...loaders.progress import kept_when_interrupted, watch
from ..core.base import ROW_CODE
from ..core.options import BuildOptions
from ..core.sql import Database, Statement, open_database
from ..core.workers import map_in_order

Item = TypeVar("Item")
Result = TypeVar("Result")
#: Fills an empty folder with what is made of an item; other processes and machines can run it.
Job = Callable[[Item, Path], None]

_LOGGER = logging.getLogger(__name__)
#: What is read depends on their versions.
_LIBRARIES = ("nupunkt", "orjson", "pyarrow")


@dataclass(frozen=True)
class Shard:
    """Some files of a corpus, and the folder for what is read of them."""

    files: Sequence[PaperFile]
    folder: Path

    @property
    def key(self) -> int:
        """The number of 64 bits, signed, that names the shard in SQL."""
        return int.from_bytes(sha256(self.folder.name.encode()).digest()[:8], "big", signed=True)


class Engine:
    """Works on a corpus in processes of this machine, where no subclass does on a cluster.

    Attributes:
        folder: Where working files are kept; None takes the cache.
        num_proc: Number of processes.
    """

    folder: Path | None = None

    def __init__(self, num_proc: int) -> None:
        self.num_proc = num_proc

    def map(
        self, job: Callable[[Item], Result], items: Sequence[Item]
    ) -> Generator[Result, None, None]:
        """Yield what a job returns for each item, in order; close it to stop the work.

        Args:
            job: What to do with an item; it can be sent to another process or machine.
            items: The items.
        """
        return map_in_order(job, items, self.num_proc)

    def write(self, query: str, folder: Path, database: Database) -> None:
        """Write the rows of a query into an empty folder, as some Parquet files.

        Args:
            query: The query.
            folder: The folder.
            database: Has the tables; runs the query where the engine has no SQL of its own.
        """
        database.write(query, folder)


@dataclass(frozen=True)
class Work:
    """A corpus that has been read, and what is made of it.

    Attributes:
        engine: What works on it.
        shards: The shards, in the order of the files.
        folder: The folder for what is made of them; it is of these shards alone.
        database: Has the tables.
        share: The share of the files that is read, in bytes; 1 where it is no sample.
    """

    engine: Engine
    shards: Sequence[Shard]
    folder: Path
    database: Database
    share: float = 1.0

    def add_tables(self, names: Iterable[str], folders: Sequence[Path]) -> None:
        """Register tables that were written shard by shard, each shard into its own folder."""
        for name in names:
            self.database.add(name, [folder / f"{name}.parquet" for folder in folders])

    def parameters(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return parameters for the manifest, with the share of the files where it is a sample."""
        return {**given, "sample": round(self.share, 6)} if self.share < 1 else given

    def map(self, stage: str, job: Job[Item], items: Sequence[Item], key: str = "") -> list[Path]:
        """Fill a folder for each item; those that are there already are not filled again.

        Args:
            stage: Name of the stage, which also names the folders.
            job: What fills a folder.
            items: The items; the same in each run with the same key.
            key: Names what the items depend on, besides the recipe and the files.

        Returns:
            The folders, in order.
        """
        folders = [self.folder / stage / key / f"{number:06d}" for number in range(len(items))]
        _fill(self.engine, stage, job, items, folders)
        return folders

    def select(self, statements: Sequence[Statement]) -> None:
        """Run statements one after another, but for those whose results are there already.

        Args:
            statements: The statements; each may name the tables, and its result becomes one.

        Raises:
            OutputError: Memory or the disk is full.
        """
        targets: list[Path] = []
        key = self.folder.name
        for statement in statements:
            key = _hash([key, statement.name, statement.query])
            targets.append(self.folder / f"{statement.name}-{key}")
        n_done = sum(target.is_dir() for target in targets)
        with watch("choosing", len(statements), "statements", n_done=n_done) as shown:
            for statement, target in zip(statements, targets, strict=True):
                if not target.is_dir():
                    with whole_folder(target, lambda _: True) as folder:
                        self.engine.write(statement.query, folder, self.database)
                    shown.update(1)
                self.database.add(statement.name, sorted(target.glob("*.parquet")))


@contextmanager
def read_corpus(
    files: Sequence[PaperFile],
    read: Job[Shard],
    tables: Iterable[str],
    identity: Mapping[str, Any],
    engine: Engine | None,
    options: BuildOptions,
    shard_bytes: int,
) -> Iterator[Work]:
    """Read a corpus into folders, one a shard; they go when the block ends without an error.

    Args:
        files: The files of the corpus.
        read: Reads a shard into tables.
        tables: Their names.
        identity: Everything that the tables depend on, besides files and code, as plain values.
        engine: What works on the corpus; None takes processes of this machine.
        options: Their number; where the folders are made, if the engine has no folder of its own;
            and the share of the shards to read, at least one, drawn by a hash of the names of
            their files.
        shard_bytes: Least size of a shard, in bytes: files are put together, so that small ones
            cost little.
    """
    engine = engine or Engine(options.num_proc)
    libraries = [f"{name} {version(name)}" for name in _LIBRARIES]
    key = _hash([code_hash(*ROW_CODE), libraries, read.__class__.__name__, identity])
    place = (engine.folder or options.cache_dir) / "construct" / key
    groups, share = list(_group(files, shard_bytes)), 1.0
    if options.sample < 1:
        groups = _sample(groups, options.sample)
        n_bytes = (sum(file.size for file in some) for some in (chain(*groups), files))
        share = next(n_bytes) / max(1, next(n_bytes))
    shards = [Shard(group, place / _name(group)) for group in groups]
    results = place / f"results-{_hash([shard.folder.name for shard in shards])}"
    with _alone(place):
        results.mkdir(parents=True, exist_ok=True)
        with kept_when_interrupted("The shards that were read are kept: run it again to go on."):
            folders = [shard.folder for shard in shards]
            _fill(engine, "reading", read, shards, folders)
            with open_database(results) as database:
                work = Work(engine, shards, results, database, share)
                work.add_tables(tables, folders)
                yield work
        # The results of an interrupted run on other files go too.
        for folder in (*folders, *place.glob("results-*")):
            rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # shards of another corpus are there
            place.rmdir()


def _fill(
    engine: Engine, stage: str, job: Job[Item], items: Sequence[Item], folders: Sequence[Path]
) -> None:
    """Fill the folders that do not exist yet, one for each item."""
    waiting = [one for one in zip(items, folders, strict=True) if not one[1].is_dir()]
    with (
        watch(stage, len(items), "shards", n_done=len(items) - len(waiting)) as shown,
        closing(engine.map(partial(_fill_one, job), waiting)) as done,
    ):
        for _ in done:
            shown.update(1)


def _fill_one(job: Job[Item], one: tuple[Item, Path]) -> None:
    item, target = one
    with whole_folder(target, lambda _: True) as folder:
        job(item, folder)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Wait while another process works on the same, perhaps on the same files."""
    place.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(f"{place}.lock")
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


def _sample(groups: Sequence[list[PaperFile]], share: float) -> list[list[PaperFile]]:
    """Draw a share of the groups of files, at least one."""
    n_drawn = max(1, round(share * len(groups)))
    keys = [_hash([[file.name, file.start] for file in group]) for group in groups]
    drawn = sorted(range(len(groups)), key=keys.__getitem__)[:n_drawn]
    return [groups[number] for number in sorted(drawn)]


def _name(files: Sequence[PaperFile]) -> str:
    """Return a name for the content of files, as far as it is known without reading them."""
    parts: list[Any] = []
    for file in files:
        try:
            stat = file.path.stat()
            times = stat.st_mtime_ns, stat.st_ctime_ns  # the second cannot be set back
            path = str(file.path.absolute())
            parts.append([file.name, path, stat.st_size, *times, file.start, file.end])
        except OSError:  # gone; reported when it is read
            parts.append(file.name)
    return _hash(parts)


def _hash(value: Any) -> str:
    return sha256(json.dumps(value).encode()).hexdigest()[:16]
