"""Finds source files in a local folder, or takes the one file that was named."""

import gzip
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..atomic_write import whole_file
from ..bounds import MAX_UNPACKED_BYTES
from ..errors import NotDataError, SourceNotFoundError
from ..hashing import hash_file, identify_file
from .catalogue import Source, Variant

_CHUNK_BYTES = 1 << 20


def find_local(source: Source, place: Path) -> tuple[Variant, Path] | None:
    """Find a source file in a local place; return its variant and the file, or None.

    In a folder it is looked for by its path in the release, by its bare name, and both of these
    in a sub-folder with the name of the dataset; compressed (``.gz``) too.

    Args:
        source: The source.
        place: A folder, or a file.

    Raises:
        SourceNotFoundError: There is nothing at the place.
    """
    if place.is_file():
        for variant in source.variants:
            if place.name in _names(variant):
                return variant, place
        return _find_by_content(source, [place])
    if not place.is_dir():
        raise SourceNotFoundError(
            f"{place} is neither a folder nor a file; expected one with {source.paths[0]}."
        )
    for folder in (place / source.dataset, place):  # its own first: names recur in datasets
        for variant in source.variants:
            for path in (variant.path, f"{variant.path}.gz", *_names(variant)):
                if (folder / path).is_file():
                    return variant, folder / path
    return _find_by_content(source, [*place.glob("*"), *place.glob("*/*")])


def _find_by_content(source: Source, paths: Sequence[Path]) -> tuple[Variant, Path] | None:
    """Find a file of the pinned content under another name, as browsers give a second copy."""
    for variant in source.variants:
        if not variant.is_pinned:
            continue
        suffix = Path(variant.path).suffix
        for path in sorted(path for path in paths if path.suffix == suffix and path.is_file()):
            with suppress(OSError):  # a file of others that cannot be read
                if variant.bytes not in (None, path.stat().st_size):
                    continue
                if variant.is_of(identify_file(path, with_git_blob=variant.sha256 is None)):
                    return variant, path
    return None


def describe_lack(source: Source, place: Path) -> str:
    """Return the message for a local place that lacks a source file."""
    names = " or ".join(source.paths)
    what = f"{names}, the source {source.name!r} of {source.dataset}"
    if place.is_file():
        return f"{place} is not {what}. {source.how_to_get()}"
    found = sorted(path.name for path in place.iterdir())[:8]
    holds = f" It holds: {', '.join(found)}." if found else ""
    return f"{place} has no {what}.{holds} {source.how_to_get()}"


def unpack(path: Path, cache_dir: Path, n_bytes: int | None = None) -> Path:
    """Unpack a ``.gz`` file into the cache, under the hash of its content.

    Args:
        path: The compressed file.
        cache_dir: The cache.
        n_bytes: The size of its content, where it is known.

    Raises:
        SourceNotFoundError: It is not such a file, or is damaged.
        NotDataError: It holds more than that, or than ``MAX_UNPACKED_BYTES``.
    """
    target = cache_dir / "unpacked" / hash_file(path) / path.stem
    if target.exists():
        return target
    left = most = MAX_UNPACKED_BYTES if n_bytes is None else n_bytes
    with whole_file(target) as partial:
        try:
            with partial.open("wb") as file, gzip.open(path) as packed:
                while chunk := packed.read(_CHUNK_BYTES):
                    left -= len(chunk)
                    if left < 0:
                        raise NotDataError(f"{path} unpacks to more than {most:,} bytes.")
                    file.write(chunk)
        except (OSError, EOFError, zlib.error) as error:
            raise SourceNotFoundError(f"{path} cannot be unpacked: {error}.") from error
    return target


def _names(variant: Variant) -> tuple[str, str]:
    name = Path(variant.path).name
    return name, f"{name}.gz"
