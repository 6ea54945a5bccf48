"""Loads a version by its number: always the same rows, or an error."""

from functools import partial
from typing import Any

import datasets

from ...builders.core.load import check_arguments, check_streamable, needed_splits
from ...builders.core.options import check_split
from ...loaders.errors import UnknownNameError
from .remote import RemoteVersion


def load_pinned(
    repository: str,
    version: str,
    config: str | None = None,
    *,
    split: Any = None,
    streaming: bool = False,
    **arguments: Any,
) -> Any:
    """Load one config of a published version.

    ``datasets`` alone, when offline, gives the newest version in its cache, whichever was asked
    for. Here the files are those of the version's commit, and the rows are those that the version
    had when it was first loaded. Files are compared with the hashes in its manifest, unless they
    are streamed.

    Args:
        repository: ``ORG/NAME``.
        version: ``X.Y.Z``, or ``X.Y`` for the newest of its PATCHes, which have the same rows.
        config: The config; None takes the first.
        split: The split, a part of it (``"test[:10%]"``) or several; None takes all.
        streaming: Whether rows are read as they are asked for, with nothing kept.
        **arguments: Those of ``datasets.load_dataset`` that ``nlihub.load_dataset`` takes.

    Returns:
        What ``datasets.load_dataset`` returns.

    Raises:
        UsageError: An argument has no meaning here, or the version is no number.
        UnknownNameError: There is no such config or split.
        VersionError: There is no such version.
        HubError: The Hub refuses or cannot be reached, and the files are not in the cache.
        ChecksumError: A file or the rows are not those of the version.
    """
    check_arguments(arguments)
    remote = RemoteVersion(repository, version)
    configs = remote.manifest.configs
    config = config or next(iter(configs), "")
    if config not in configs:
        raise UnknownNameError.of(f"config of {repository}", config, configs)
    splits = needed_splits(split) or tuple(configs[config])
    for name in splits:
        check_split(name, list(configs[config]), f"split of {repository}/{config}")
    if streaming:
        check_streamable(split, tuple(configs[config]))
    is_remote = streaming and remote.is_online
    if is_remote:
        place = f"hf://datasets/{repository}@{remote.commit}"
    else:
        place = str(remote.fetch([(config, name) for name in splits]).folder)
    # By its files: by the repository's name, datasets would take a folder of that name, or, where
    # the Hub fails, the newest version in its cache.
    load = partial(
        datasets.load_dataset,
        "parquet",
        f"{config}-{remote.number}",
        data_files={
            name: [f"{place}/{shard.file}" for shard in configs[config][name].shards]
            for name in splits
        },
        split=split,
        streaming=streaming,
        **arguments,
    )
    return remote.repository.ask("cannot be streamed", load) if is_remote else load()
