"""The folder of a run."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from ...loaders.atomic_write import whole_file, whole_folder
from ...loaders.errors import OutputError, SourceNotFoundError, UsageError
from .config import RunConfig

CONFIG = "config.json"
RECORD = "record.json"
LOG = "training_log.jsonl"
METRICS = "metrics.json"
DYNAMICS = "dynamics.parquet"
CHECKPOINT = "checkpoint"
STATE = "resume.pt"
PREDICTIONS = "predictions"
_LOCK = ".lock"

#: Facts that are told by test set, one after the other.
_GROWING = ("truncated", "unread")

#: Details that may change between a kill and the restart: a server moves, and its model stays.
_MAY_CHANGE = ("server",)


class RunFolder:
    """Where a run keeps what it was asked and what came out.

    Every file appears whole or not at all, but the log, which grows line by line.

    Args:
        path: The folder.

    Attributes:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    @contextmanager
    def begin(cls, path: Path, config: RunConfig) -> Iterator["RunFolder"]:
        """A run's folder, new, or that of the same run, to be continued by this process alone.

        A folder in which nothing came of another run, say for a misspelt name, is taken over.

        Args:
            path: The folder.
            config: What the run is asked to do.

        Yields:
            The folder, with the config in it.

        Raises:
            OutputError: It is the folder of another run or of something else, another process
                works in it, or it cannot be written to.
        """
        folder = cls(path)
        if path.exists() and not path.is_dir():
            raise OutputError(f"{path} is a file; a run needs a folder.")
        is_ours = (path / CONFIG).is_file()
        if not is_ours and folder._holds_other_than(_LOCK):
            raise OutputError(f"{path} holds files and is no run; name another folder.")
        try:
            path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path / _LOCK, timeout=0)
            lock.acquire()
        except Timeout:
            raise OutputError(f"Another process is at work in {path}.") from None
        except OSError as error:
            raise OutputError(f"{path} cannot be written to: {error.strerror}.") from error
        try:
            folder._remove_partials()
            if is_ours and folder._holds_other_than(_LOCK, CONFIG, RECORD):
                folder._check_same(config)
            else:
                (path / RECORD).unlink(missing_ok=True)
                folder.write_json(CONFIG, config.as_json())
            yield folder
        finally:
            lock.release()

    def _holds_other_than(self, *names: str) -> bool:
        """Whether there is anything but files of these names and what a kill left of such."""
        found = self.path.iterdir() if self.path.is_dir() else ()
        return any(path.name not in names and not _is_partial(path) for path in found)

    def _remove_partials(self) -> None:
        """Removes half-written files and folders of a process that was killed."""
        for folder in (self.path, self.path / PREDICTIONS):
            for path in folder.iterdir() if folder.is_dir() else ():
                if _is_partial(path):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _check_same(self, config: RunConfig) -> None:
        found, wanted = (self._lasting(value) for value in (self.config, config))
        other = [name for name in found | wanted if found.get(name) != wanted.get(name)]
        if other:
            shown = "; ".join(
                f"{name} was {found.get(name)!r}, asked for {wanted.get(name)!r}" for name in other
            )
            raise OutputError(
                f"{self.path} is the folder of another run: {shown}. Name another folder."
            )

    def _lasting(self, config: RunConfig) -> dict[str, Any]:
        """The values of a config, one by one, that must not change between kill and restart."""
        found: dict[str, Any] = {}
        for name, value in config.as_json().items():
            found |= value if isinstance(value, Mapping) else {name: value}
        if config.subset is not None:  # from this folder, or by its whole path
            found["run"] = str((self.path / config.subset.run).resolve())
        return {
            name: bool(value) if name in _MAY_CHANGE else value for name, value in found.items()
        }

    @property
    def config(self) -> RunConfig:
        """What the run was asked to do.

        Raises:
            SourceNotFoundError: There is no config.
            UsageError: It is malformed.
        """
        return RunConfig.from_json(self.read_json(CONFIG))

    @property
    def is_done(self) -> bool:
        """Whether the run came to its end."""
        record = self.path / RECORD
        return record.is_file() and self.read_json(RECORD).get("status") == "done"

    def note(self, facts: Mapping[str, Any]) -> None:
        """Adds to the record; what is there is replaced, or added to if it is told by test set."""
        record = self.read_json(RECORD) if (self.path / RECORD).is_file() else {}
        for name, value in facts.items():
            record[name] = {**record.get(name, {}), **value} if name in _GROWING else value
        self.write_json(RECORD, record)

    def save_checkpoint(self, save: Callable[[Path], None]) -> None:
        """Keeps a model in the place of an earlier one, whole or not at all.

        Args:
            save: Writes it into an empty folder.
        """
        with whole_folder(self.checkpoint, lambda _: True) as folder:
            save(folder)

    def tidy(self, *, keeps_checkpoint: bool) -> None:
        """Removes what a run that is done needs no more.

        Args:
            keeps_checkpoint: Whether the trained model stays.
        """
        (self.path / STATE).unlink(missing_ok=True)
        if not keeps_checkpoint:
            shutil.rmtree(self.checkpoint, ignore_errors=True)

    @property
    def checkpoint(self) -> Path:
        """The folder of the best model."""
        return self.path / CHECKPOINT

    def read_json(self, name: str) -> dict[str, Any]:
        """A JSON file of the run.

        Args:
            name: Its name.

        Raises:
            SourceNotFoundError: There is no such file.
            UsageError: It is no JSON object.
        """
        path = self.path / name
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SourceNotFoundError(f"{path} is missing; {self.path} is no such run.") from None
        except ValueError as error:
            raise UsageError(f"{path} is no JSON: {error}.") from error
        if not isinstance(found, dict):
            raise UsageError(f"{path} holds no JSON object.")
        return found

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Writes a JSON file of the run, whole or not at all."""
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
        with whole_file(self.path / name) as path:
            path.write_text(text + "\n", encoding="utf-8")

    def write_table(self, name: str, table: pa.Table) -> Path:
        """Writes a Parquet file of the run, whole or not at all."""
        target = self.path / name
        target.parent.mkdir(exist_ok=True)
        with whole_file(target) as path:
            pq.write_table(table, path)
        return target

    def log(self, entry: Mapping[str, Any]) -> None:
        """Appends a line to the log."""
        with (self.path / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())

    @property
    def log_size(self) -> int:
        """Bytes of the log."""
        path = self.path / LOG
        return path.stat().st_size if path.exists() else 0

    def shorten_log(self, n_bytes: int) -> None:
        """Cuts the log to what it was when a state was kept; what followed will come again."""
        path = self.path / LOG
        if path.exists():
            os.truncate(path, n_bytes)


def _is_partial(path: Path) -> bool:
    """Whether a process left it that was killed while it wrote."""
    return path.name.startswith(".new-") or (path.name.startswith(".") and ".partial" in path.name)
