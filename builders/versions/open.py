"""Opens a built version by its folder, or that of a dataset by its name."""

import os
from collections.abc import Sequence
from pathlib import Path

from ...loaders.errors import (
    SourceNotFoundError,
    UsageError,
)
from ...loaders.fetching.obtain import default_cache_dir
from ..core.options import BuildOptions
from ..core.registry import NAMESPACE, builders, get_builder
from .cache import ensure_built
from .manifest import FILE_NAME as MANIFEST
from .version import BuiltVersion

PathLike = str | Path


def open_version(
    name: str,
    *,
    folder: PathLike | None = None,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
) -> BuiltVersion:
    """Open a built version by its folder, or that of a dataset by name, built now if need be.

    Args:
        name: Name of a dataset, or folder of a built version.
        folder: Local folder with the source files, or one file, where the dataset has to be built
            first; None downloads them where they are needed.
        configs: The configs to build; empty means all.
        splits: The splits to build; empty means all.

    Returns:
        The version, opened for reading.

    Raises:
        UnknownNameError: There is neither such a dataset nor such a folder.
    """
    if (path := find_folder(name)) is not None:
        refuse_sources(name, folder)
        if configs or splits:
            raise UsageError(f"{name} is built already: it has the configs and splits that it has.")
        return BuiltVersion(path)
    return ensure_built(get_builder(name), make_options(folder, configs=configs, splits=splits))


def find_folder(name: str) -> Path | None:
    """Return the folder that a name means, or None where it means a dataset.

    Raises:
        SourceNotFoundError: It is neither.
    """
    path = Path(name).expanduser()
    is_version = (path / MANIFEST).is_file() and name not in builders()
    if not is_version and name.removeprefix(f"{NAMESPACE}/") in builders():
        return None
    if not (path.exists() or "/" in name or os.sep in name):
        return None
    if not path.is_dir():
        raise SourceNotFoundError(f"{name} is no folder and no dataset.")
    return path


def refuse_sources(name: str, folder: PathLike | None) -> None:
    """Refuse a folder of sources where what is named needs none.

    Raises:
        UsageError: A folder is given.
    """
    if folder is not None:
        raise UsageError(f"{name} takes no source folder.")


def make_options(
    folder: PathLike | None,
    num_proc: int = 1,
    *,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
    origin: str | None = None,
) -> BuildOptions:
    """Return the options of a build, as users give them.

    Args:
        folder: Local folder with the source files, or one file; None downloads them where they are
            needed.
        num_proc: Processes to use, 1 or more.
        configs: The configs; empty means all.
        splits: The splits; empty means all.
        origin: ``release`` or ``construct``; None takes the dataset's first.

    Raises:
        UsageError: A string is given for a list of names, or there are less than 1 processes.
    """
    for names in (configs, splits):
        if isinstance(names, str):
            raise UsageError(f"{names!r} is a string; expected a list of names.")
    path = Path(folder).expanduser().absolute() if folder is not None else None
    return BuildOptions(
        path, default_cache_dir(), check_num_proc(num_proc), tuple(configs), tuple(splits), origin
    )


def check_num_proc(num_proc: int) -> int:
    """Return a number of processes, if it is one.

    Raises:
        UsageError: It is less than 1.
    """
    if num_proc < 1:
        raise UsageError(f"num_proc is {num_proc}; expected 1 or more.")
    return num_proc
