"""Loads a version by its number: always the same rows, or an error."""

from typing import Any

import datasets

from ....loaders.errors import UnknownNameError
from ...load import check_arguments, check_streamable, needed_splits
from ...options import check_split
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
    """Loads one config of a published version.

    ``datasets`` alone, when offline, gives the newest version in its cache, whichever was asked
    for. Here the files are those of the version's commit, compared with the hashes in its manifest,
    and the rows are those that the version had when it was first loaded.

    Args:
        repository: ``ORG/NAME``.
        version: ``X.Y.Z``, or ``X.Y`` for the newest of its PATCHes, which have the same rows.
        config: The config; None takes the first.
        split: As in ``datasets.load_dataset``.
        streaming: As in ``datasets.load_dataset``.
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
    config = config or next(iter(configs))
    if config not in configs:
        raise UnknownNameError.of(f"config of {repository}", config, configs)
    splits = needed_splits(split) or tuple(configs[config])
    for name in splits:
        check_split(name, list(configs[config]), f"split of {repository}/{config}")
    if streaming:
        check_streamable(split, configs[config])
        if remote.is_online:  # else from the files in the cache
            return datasets.load_dataset(
                repository, config, revision=remote.commit, split=split, streaming=True
            )
    folder = remote.fetch([(config, name) for name in splits]).folder
    files = {
        name: [str(folder / shard.file) for shard in configs[config][name].shards]
        for name in splits
    }
    return datasets.load_dataset(
        "parquet",
        f"{config}-{remote.number}",
        data_files=files,
        split=split,
        streaming=streaming,
        **arguments,
    )
