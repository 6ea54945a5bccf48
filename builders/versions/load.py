"""Load a dataset by building it, and loading the built version by the ``datasets`` library."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets

from ...loaders.atomic_write import names_full_disk
from ...loaders.errors import OutputError, UsageError
from ...loaders.fetching.obtain import advise_on_cache
from ..core.base import NLIBuilder
from ..core.options import BuildOptions, check_split
from .open import ensure_built

_ARGUMENTS = ("cache_dir", "keep_in_memory", "num_proc", "download_mode", "verification_mode")


def load_config(
    builder: type[NLIBuilder],
    options: BuildOptions,
    *,
    split: Any = None,
    streaming: bool = False,
    **arguments: Any,
) -> Any:
    """Load one config of a dataset as ``datasets.load_dataset`` does; only needed splits are built.

    Args:
        builder: The builder of the dataset.
        options: Where the sources are; its one config is loaded.
        split: A split (``"test"``), a part of one (``"test[:10%]"``), a sum of these, or a list;
            None takes all.
        streaming: Whether to read rows as they are asked for.
        **arguments: ``cache_dir``, ``keep_in_memory``, ``num_proc``, ``download_mode`` and
            ``verification_mode``, with their meaning in ``datasets``.

    Raises:
        UsageError: An argument has no meaning here, or the split cannot be read.
        UnknownNameError: There is no such split.
        OutputError: The cache is somebody else's, or the disk is full.
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    check_arguments(arguments)
    [config] = options.configs
    splits = needed_splits(split)
    known = builder.SPEC.configs[config].splits
    for name in splits:
        check_split(name, known, f"split of {builder.SPEC.name}/{config}")
    if streaming:
        check_streamable(split, known)
    version = ensure_built(builder, replace(options, splits=splits))
    place = Path(arguments.get("cache_dir") or datasets.config.HF_DATASETS_CACHE)
    try:
        with names_full_disk(place):
            return datasets.load_dataset(
                str(version.folder), config, split=split, streaming=streaming, **arguments
            )
    except PermissionError as error:  # even locks are files in the cache
        if not (advice := advise_on_cache(error)):
            raise
        raise OutputError(f"{error}{advice}") from None


def check_arguments(arguments: Iterable[str]) -> None:
    """Refuse arguments of ``datasets.load_dataset``, by name, that mean nothing for our datasets.

    Raises:
        UsageError: One of them has none.
    """
    for name in arguments:
        if name not in _ARGUMENTS:
            raise UsageError(
                f"{name} has no meaning here: one version is built, from known sources. Expected: "
                f"path, name, data_dir, split, streaming, origin, version, {', '.join(_ARGUMENTS)}."
            )


def check_streamable(split: Any, known: Iterable[str]) -> None:
    """Refuse to stream a part of a split, which ``datasets`` cannot do.

    Args:
        split: What to stream; None takes all splits.
        known: The splits that there are.

    Raises:
        UsageError: It is neither one of the known splits nor None.
    """
    if split is not None and split not in known:
        raise UsageError(
            f"{split!r} cannot be streamed; name one split, {' or '.join(known)}, and take a part "
            "of it with .take(n) and .skip(n)."
        )


def needed_splits(split: Any) -> tuple[str, ...]:
    """Return the splits that an argument names; none where it means all.

    Args:
        split: A split, a part of one, a sum of these, or a list; None takes all.

    Raises:
        UsageError: It names neither a split nor a part of one.
    """
    if split is None:
        return ()
    parts = split if isinstance(split, list | tuple) else [split]
    specs = (p.to_spec() if isinstance(p, datasets.ReadInstruction) else str(p) for p in parts)
    names: list[str] = []
    for spec in specs:
        try:
            datasets.ReadInstruction.from_spec(spec)
        except (ValueError, AssertionError) as error:
            raise UsageError(f"{spec!r} is neither a split nor a part of one: {error}") from error
        names += [re.match(r"\s*(\w*)", part)[1] for part in spec.split("+")]  # type: ignore[index]
    return () if "all" in names else tuple(dict.fromkeys(names))
