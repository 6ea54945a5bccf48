"""Load datasets as the ``datasets`` library does."""

from typing import Any

from .builders.core.load import load_config
from .builders.core.options import check_config
from .builders.core.registry import NAMESPACE, get_builder
from .builders.versions.open import PathLike, build_options
from .loaders.errors import (
    UsageError,
)
from .publishing.remote import load_pinned


def load_dataset(
    path: str,
    name: str | None = None,
    *,
    data_dir: PathLike | None = None,
    split: Any = None,
    streaming: bool = False,
    origin: str | None = None,
    version: str | None = None,
    **arguments: Any,
) -> Any:
    """Load a dataset of this package, from anywhere, as ``datasets.load_dataset`` would.

    The sources are verified, read, checked and kept in the cache of ``datasets``; where splits are
    named, only what they need.

    With ``version``, a published version is loaded from the Hub instead: always the same rows, or
    an error.

    Args:
        path: Name of the dataset, with or without ``nlihub/`` before it; with ``version`` any
            repository that ``nlihub publish`` wrote, ``ORG/NAME``.
        name: Name of the config; None takes the default one.
        data_dir: Local folder with the source files, or one file; None downloads them where they
            are needed.
        split: The split, a part of it (``"test[:10%]"``) or several; None takes all.
        streaming: Whether rows are read as they are asked for, with nothing kept.
        origin: ``release`` (the authors' files) or ``construct`` (the paper's procedure); None
            takes the dataset's first.
        version: A published version: ``X.Y.Z``, or ``X.Y`` for the newest of its PATCHes, which
            have the same rows.
        **arguments: ``cache_dir``, ``keep_in_memory``, ``num_proc``, ``download_mode`` and
            ``verification_mode``, with their meaning in ``datasets``.

    Returns:
        What ``datasets.load_dataset`` returns: a ``Dataset``, or a ``DatasetDict`` where no split
        is named; their iterable counterparts when streaming.

    Raises:
        UnknownNameError: There is no such dataset, config or split.
        UsageError: An argument has no meaning here.
        VersionError: There is no such version.
        HubError: A version is neither to be had from the Hub nor in the cache.
        NLIHubError: The sources are missing, not the pinned ones, or malformed.

    Example:
        >>> import nlihub
        >>> rows = nlihub.load_dataset("open_spacenli", "projective", split="test")
        >>> rows.features["label"].names
        ['entailment', 'neutral', 'contradiction']
    """
    if version is not None:
        if data_dir is not None or origin is not None:
            raise UsageError("A published version has no data_dir and no origin.")
        repository = path if "/" in path else f"{NAMESPACE}/{get_builder(path).SPEC.name}"
        return load_pinned(repository, version, name, split=split, streaming=streaming, **arguments)
    builder = get_builder(path)
    config = check_config(builder.SPEC, name or builder.SPEC.default_config)
    return load_config(
        builder,
        build_options(data_dir, configs=(config,), origin=origin),
        split=split,
        streaming=streaming,
        **arguments,
    )
