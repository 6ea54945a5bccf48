"""Finds source files in a local folder, or takes the one file that was named."""

import gzip
import os
import shutil
import tempfile
import zlib
from pathlib import Path

from ..errors import SourceNotFoundError
from .catalogue import Source, Variant


def find_local(source: Source, place: Path) -> tuple[Variant, Path] | None:
    """A variant of a source in a local place.

    In a folder it is looked for by its path in the release, by its bare name, and both of these
    in a sub-folder with the name of the dataset; compressed (``.gz``) too.

    Args:
        source: The source.
        place: A folder, or a file.

    Returns:
        The variant and the file, or None.

    Raises:
        SourceNotFoundError: There is nothing at the place.
    """
    if place.is_file():
        for variant in source.variants:
            if place.name in _names(variant):
                return variant, place
        return None
    if not place.is_dir():
        raise SourceNotFoundError(
            f"{place} is no folder and no file; expected one with {source.paths[0]}."
        )
    for folder in (place / source.dataset, place):  # its own first: names recur in datasets
        for variant in source.variants:
            for path in (variant.path, f"{variant.path}.gz", *_names(variant)):
                if (folder / path).is_file():
                    return variant, folder / path
    return None


def not_found(source: Source, place: Path) -> SourceNotFoundError:
    """The error for a source that a local place lacks."""
    names = " or ".join(source.paths)
    found = sorted(path.name for path in place.iterdir())[:8] if place.is_dir() else []
    holds = f" It holds: {', '.join(found)}." if found else ""
    return SourceNotFoundError(
        f"{place} has no {names}, the source {source.name!r} of {source.dataset}.{holds} "
        f"{source.how_to_get()}"
    )


def decompress(path: Path, target: Path) -> Path:
    """Unpacks a ``.gz`` file, whole or not at all.

    Args:
        path: The compressed file.
        target: Where the file goes; one that is there is replaced.

    Raises:
        SourceNotFoundError: It is no such file, or damaged.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(".partial", f".{target.name}.", target.parent)
    try:
        with os.fdopen(handle, "wb") as file, gzip.open(path) as packed:
            shutil.copyfileobj(packed, file)
        Path(name).replace(target)  # only now is all of it written
    except (OSError, EOFError, zlib.error) as error:
        raise SourceNotFoundError(f"{path} cannot be unpacked: {error}.") from error
    finally:
        Path(name).unlink(missing_ok=True)
    return target


def _names(variant: Variant) -> tuple[str, str]:
    name = Path(variant.path).name
    return name, f"{name}.gz"
