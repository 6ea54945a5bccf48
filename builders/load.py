"""Loads a dataset through its builder, as ``datasets.load_dataset`` does with its own."""

import re
from dataclasses import replace
from typing import Any

import datasets

from ..loaders.errors import NLIHubError, UnknownNameError, UsageError
from .base import NLIBuilder
from .options import BuildOptions

_PREPARING = ("num_proc", "download_mode", "verification_mode")
_ARGUMENTS = ("cache_dir", "keep_in_memory", *_PREPARING)


def load(
    builder: type[NLIBuilder],
    options: BuildOptions,
    *,
    split: Any = None,
    streaming: bool = False,
    **arguments: Any,
) -> Any:
    """Loads one config of a dataset.

    Rows are kept in the cache of ``datasets``, in a place that depends on this package's code, on
    the sources and on the splits that are needed.

    Args:
        builder: The builder of the dataset.
        options: Where the sources are; its one config is loaded.
        split: As in ``datasets.load_dataset``.
        streaming: As in ``datasets.load_dataset``.
        **arguments: Some of ``_ARGUMENTS``, as in ``datasets.load_dataset``.

    Returns:
        What ``datasets.load_dataset`` returns.

    Raises:
        UsageError: An argument has no meaning here.
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    for name in arguments:
        if name not in _ARGUMENTS:
            raise UsageError(
                f"{name} has no meaning here: one version is built, from known sources. "
                f"Known: path, name, data_dir, split, streaming, {', '.join(_ARGUMENTS)}."
            )
    [config] = options.configs
    needed = _needed_splits(split)
    for name in needed:
        if name not in builder.SPEC.configs[config].splits:
            known = builder.SPEC.configs[config].splits
            raise UnknownNameError.of(f"split of {builder.SPEC.name}/{config}", name, known)
    options = replace(options, splits=needed)
    made = builder(
        config_name=config,
        cache_dir=arguments.get("cache_dir"),
        hash=builder.fingerprint(options)[:16],
        options=options,
    )
    try:
        if streaming:
            return made.as_streaming_dataset(split=split)
        made.download_and_prepare(**{n: arguments[n] for n in _PREPARING if n in arguments})
    except datasets.exceptions.DatasetGenerationError as error:
        if isinstance(error.__cause__, NLIHubError | OSError):
            raise error.__cause__ from None  # the reason itself, not that there is one
        raise
    return made.as_dataset(
        split=split,
        in_memory=bool(arguments.get("keep_in_memory")),
    )


def _needed_splits(split: Any) -> tuple[str, ...]:
    """The splits that an argument names; none where it may mean all."""
    texts = split if isinstance(split, list | tuple) else [split]
    if not all(isinstance(text, str) for text in texts):  # None, or a ReadInstruction
        return ()
    parts = [part.strip() for text in texts for part in text.split("+")]
    names = [match[0] if (match := re.match(r"\w+", part)) else part for part in parts]
    return () if "all" in names else tuple(dict.fromkeys(names))
