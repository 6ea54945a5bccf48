"""Open a built version by its folder, or that of a dataset by name, built once on a machine."""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from ...loaders.errors import SourceNotFoundError, UsageError, VerificationError
from ...loaders.fetching.obtain import default_cache_dir
from ...loaders.paths import local_path
from ..core.base import NLIBuilder
from ..core.identity import code_hash
from ..core.options import BuildOptions
from ..core.registry import NAMESPACE, find_builder, get_builder
from .manifest import FILE_NAME as MANIFEST
from .version import BuiltVersion
from .write import build_version

PathLike = str | Path


def ensure_built(builder: type[NLIBuilder], options: BuildOptions) -> BuiltVersion:
    """Return the built version of a dataset in the cache, built now if it is not there whole.

    All its files have their hashes. A whole version is never replaced, so that processes that read
    it are not disturbed.

    Args:
        builder: The builder of the dataset.
        options: Where the sources and the cache are; a folder of sources is verified even where
            the version is cached.

    Raises:
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    spec = builder.SPEC
    folder = options.cache_dir / "built" / f"{spec.version}-{_key(builder, options)[:16]}"
    target = folder / spec.name
    if _is_whole(target):
        builder.read_unknown_sources(options)
        return BuiltVersion(target)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f".{spec.name}.lock"):  # another process may do it meanwhile
        if not _is_whole(target):
            build_version(builder, folder, options, may_replace=lambda _: True)
    return BuiltVersion(target)


def _key(builder: type[NLIBuilder], options: BuildOptions) -> str:
    """Return a hash of what a version is made of: sources, choice and code.

    Nothing is downloaded for it where the content of the sources is known.
    """
    sources = builder.wanted_sources(options)
    downloads = [
        next((v for v in source.variants if v.locations), source.variants[0]) for source in sources
    ]
    if options.folder is None and all(variant.is_pinned for variant in downloads):
        identities = [variant.sha256 or variant.git_blob for variant in downloads]
    else:
        identities = [file.identity for file in builder.find_sources(options)]
    wanted = {config: list(splits) for config, splits in options.wanted(builder.SPEC).items()}
    code = code_hash("builders", "loaders", "dataset_cards")
    parts = [code, list(map(repr, sources)), identities, wanted]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _is_whole(folder: Path) -> bool:
    try:
        return not any(BuiltVersion(folder).damaged_files())
    except VerificationError:
        return False


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

    Raises:
        UnknownNameError: There is neither such a dataset nor such a folder.
        UsageError: Sources, configs or splits are given for a folder, or there are none of them.
    """
    if (path := find_folder(name)) is not None:
        refuse_sources(name, folder)
        if configs or splits:
            raise UsageError(f"{name} is built already; leave out the configs and splits to build.")
        return BuiltVersion(path)
    return ensure_built(get_builder(name), build_options(folder, configs=configs, splits=splits))


def find_folder(name: str) -> Path | None:
    """Return the folder that the name of a version means, or None where it means a dataset.

    Raises:
        SourceNotFoundError: It is neither.
    """
    path = local_path(name)
    is_version = (path / MANIFEST).is_file() and find_builder(name) is None
    if not is_version and find_builder(name.removeprefix(f"{NAMESPACE}/")) is not None:
        return None
    if not (path.exists() or "/" in name or os.sep in name):
        return None
    if not path.is_dir():
        raise SourceNotFoundError(f"{name} is neither a folder nor a dataset.")
    return path


def refuse_sources(name: str, folder: PathLike | None) -> None:
    """Refuse a folder of sources where the named version needs none.

    Raises:
        UsageError: A folder is given.
    """
    if folder is not None:
        raise UsageError(f"{name} takes no source folder.")


def build_options(
    folder: PathLike | None,
    num_proc: int = 1,
    *,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
    origin: str | None = None,
) -> BuildOptions:
    """Return the options with which a version is built, from what users give.

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
    path = local_path(folder).absolute() if folder is not None else None
    return BuildOptions(
        path, default_cache_dir(), check_num_proc(num_proc), tuple(configs), tuple(splits), origin
    )


def check_num_proc(num_proc: int) -> int:
    """Return the number of processes to build a version with, if it is 1 or more.

    Raises:
        UsageError: It is less than 1.
    """
    if num_proc < 1:
        raise UsageError(f"num_proc is {num_proc}; expected 1 or more.")
    return num_proc
