"""Gets a source file, whole and verified: from a local folder, the cache, the web or the Hub."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from errno import EACCES, EPERM, EROFS
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..errors import (
    ChecksumError,
    Defect,
    DownloadError,
    NLIHubError,
    NotDataError,
    ReleaseError,
    SourceNotFoundError,
)
from ..hashing import hash_file, identify_file
from ..network import check_reachable
from ..paths import local_path
from .catalogue import Location, Source, Variant, WebFile
from .local import describe_lack, find_local, unpack
from .verification import check_pin, check_recorded, is_recorded, record_hash, refuse_html

_PARALLEL = 4
_TABLES = (".csv", ".jsonl")
HINT = (
    "name a local folder that has the source files (--from FOLDER; in Python data_dir= or folder=)."
)
_PARTS_HINT = (
    "What does not need it can be built alone: nlihub build NAME --configs C,... --splits S,..."
)


def default_cache_dir() -> Path:
    """Return ``$NLIHUB_CACHE``, or ``nlihub`` in the Hugging Face home."""
    from huggingface_hub.constants import HF_HOME

    return local_path(os.environ.get("NLIHUB_CACHE") or Path(HF_HOME) / "nlihub")


def advise_on_cache(error: OSError) -> str:
    """Return how to move a cache that one may not write to; empty where that is not the error."""
    from huggingface_hub.constants import HF_HOME

    if not isinstance(error.filename, str) or error.errno not in (EACCES, EPERM, EROFS):
        return ""
    moved = {name: os.environ.get(name) for name in ("HF_DATASETS_CACHE", "HF_HUB_CACHE")}
    caches = {"NLIHUB_CACHE": default_cache_dir(), **moved, "HF_HOME": HF_HOME}
    for variable, folder in caches.items():
        if folder and (
            Path(error.filename).is_relative_to(folder)
            or Path(folder).is_relative_to(error.filename)
        ):
            return f". Set {variable} to a folder for the cache that you may write to."
    return ""


@dataclass(frozen=True)
class SourceFile:
    """A local file that is what the catalogue says.

    Attributes:
        source: The source.
        variant: The format in which it is here.
        path: The file.
        bytes: Its size.
        sha256: Its hash.
        cache_dir: The folder of the lock file.
    """

    source: Source
    variant: Variant
    path: Path
    bytes: int
    sha256: str
    cache_dir: Path

    @property
    def key(self) -> str:
        """Its name in the lock file."""
        return f"{self.source.dataset}/{self.variant.path}"

    @property
    def address(self) -> str:
        """Where it is published, or its path in the release if only people can get it."""
        places = self.variant.locations
        return str(places[0]) if places else self.variant.path

    @property
    def identity(self) -> str:
        """A hash of its content: the published one, if one is known."""
        return self.variant.sha256 or self.variant.git_blob or self.sha256

    @property
    def entry(self) -> dict[str, Any]:
        """Its entry in the manifest of a built version."""
        return {"url": self.address, "bytes": self.bytes, "sha256": self.sha256}

    @property
    def is_known(self) -> bool:
        """Whether its content is a published one, or was recorded when it was read earlier."""
        return self.variant.is_pinned or is_recorded(self.cache_dir, self.key, self.sha256)

    def accept(self) -> None:
        """Record its hash, after it was read and found to fit, if none is published.

        Raises:
            ChecksumError: It has changed since it was verified, or another hash is recorded.
        """
        now = identify_file(self.path, with_git_blob=self.variant.sha256 is None)
        if now.sha256 != self.sha256:
            raise ChecksumError(f"{self.path} was changed while it was read. Try again.")
        if not self.variant.is_pinned:
            record_hash(self.cache_dir, self.key, self.sha256)

    def reject(self) -> bool:
        """Remove it, after it was read and found not to fit, if it is a download.

        Returns:
            Whether it was removed.
        """
        is_ours = self.cache_dir / "sources" in self.path.parents
        if is_ours and not self.variant.is_pinned:
            self.path.unlink(missing_ok=True)
            return True
        return False


def obtain(source: Source, *, place: Path | None = None, cache_dir: Path) -> SourceFile:
    """Get a source file, whole and verified.

    Args:
        source: The file to get.
        place: A folder to take it from, or the file itself; None downloads it.
        cache_dir: The folder of downloads and of the lock file.

    Returns:
        The local file. Its hash is the published one, if one is known, and otherwise that of
        the first time it was verified.

    Raises:
        ChecksumError: The file is another one than was pinned, or than was recorded.
        NotDataError: It is a web page.
        SourceNotFoundError: The place lacks it, or a person must get it.
        DownloadError: It cannot be downloaded.
    """
    if place is None:
        return _download(source, cache_dir)
    found = find_local(source, place)
    if found is None:
        raise SourceNotFoundError(f"{describe_lack(source, place)} {_PARTS_HINT}")
    variant, path = found
    if path.suffix == ".gz" and not variant.path.endswith(".gz"):
        path = unpack(path, cache_dir, variant.bytes)
        try:
            return _accept(source, variant, path, cache_dir)
        except NLIHubError:
            path.unlink()  # ours, and nothing that anybody wants
            raise
    return _accept(source, variant, path, cache_dir)


def obtain_all(
    sources: Sequence[Source], *, place: Path | None = None, cache_dir: Path
) -> list[SourceFile]:
    """Get several source files, some at a time; see ``obtain``.

    Raises:
        NLIHubError: A file is missing, not the pinned one, or cannot be downloaded; the first such
            one.
    """
    if place is None:
        for source in sources:  # known before anything is downloaded
            _check_downloadable(source)
    with ThreadPoolExecutor(_PARALLEL) as pool:
        return list(pool.map(lambda s: obtain(s, place=place, cache_dir=cache_dir), sources))


def _accept(
    source: Source, variant: Variant, path: Path, cache_dir: Path, origin: str | None = None
) -> SourceFile:
    """Verify a file; ``origin`` says in messages where it comes from, None that it is local."""
    refuse_html(path, origin or str(path))
    found = check_pin(source, variant, path, origin or str(path))
    result = SourceFile(source, variant, path, found.bytes, found.sha256, cache_dir)
    if not variant.is_pinned:
        check_recorded(cache_dir, result.key, result.sha256, path)
    return result


def _check_downloadable(source: Source) -> None:
    if not any(variant.locations for variant in source.variants):
        raise SourceNotFoundError(
            f"{source.paths[0]} of {source.dataset} cannot be downloaded by a program. "
            f"{source.instructions} Then {HINT} {_PARTS_HINT}"
        )


def _download(source: Source, cache_dir: Path) -> SourceFile:
    _check_downloadable(source)
    troubles: list[NLIHubError] = []
    for variant in source.variants:
        target = _target(source, variant, cache_dir)
        if target.exists():
            try:
                return _accept(source, variant, target, cache_dir)
            except NLIHubError as error:  # damaged since; a new download replaces it
                troubles.append(error)
        for location in variant.locations:
            try:
                return _download_from(source, variant, location, target, cache_dir)
            except (DownloadError, ChecksumError, NotDataError) as error:
                troubles.append(error)
    kinds: tuple[type[NLIHubError], ...] = (DownloadError, ChecksumError, NotDataError)
    kind = next(kind for kind in kinds if any(isinstance(t, kind) for t in troubles))
    listed = "".join(f"\n  {trouble}" for trouble in troubles)
    raise kind(
        f"{source.paths[0]} of {source.dataset} could not be obtained:{listed}\n"
        f"Try again later, or {HINT} {_PARTS_HINT} {source.instructions or ''}".rstrip()
    )


def is_downloaded(source: Source, cache_dir: Path) -> bool:
    """Return whether a source file is in the cache of downloads, where it is verified on use."""
    return any(_target(source, variant, cache_dir).is_file() for variant in source.variants)


def _download_from(
    source: Source, variant: Variant, location: Location, target: Path, cache_dir: Path
) -> SourceFile:
    def accept(path: Path) -> SourceFile:
        return _accept(source, variant, path, cache_dir, f"What {location} serves")

    from .download import download, download_from_hub  # requests takes long to import

    if isinstance(location, WebFile):
        check_reachable(location.url, urlsplit(location.url).hostname or "")
        download(location.url, target, verify=accept)
        return accept(target)
    try:
        return accept(download_from_hub(location))
    except ChecksumError as error:
        try:  # the copy in the cache of the client may be damaged
            path = download_from_hub(location, anew=True)
        except DownloadError:
            raise error from None
        return accept(path)


def _target(source: Source, variant: Variant, cache_dir: Path) -> Path:
    pin = variant.sha256 or variant.git_blob
    folder = cache_dir / "sources"
    if pin is None:
        return folder / f"{source.dataset}-unpinned" / variant.path
    return folder / pin / Path(variant.path).name


def find_by_rows(
    sources: Sequence[Source], place: Path, cache_dir: Path, count_rows: Callable[[Path], int]
) -> list[SourceFile]:
    """Find source files whose names nobody has documented, by their number of rows.

    Args:
        sources: What to find, of one dataset.
        place: A folder, searched with its sub-folders, or a file.
        cache_dir: The folder of the lock file.
        count_rows: Counts the rows of a CSV or JSON lines file; raises ``ReleaseError`` for one of
            another layout.

    Returns:
        A file for each source.

    Raises:
        SourceNotFoundError: There is none for a source; says what each file there is.
        ReleaseError: The file that has the name of a source, or the only one, is malformed; or
            several files fit, and differ.
        NotDataError: It is a web page.
        ChecksumError: A file is another one than was pinned or recorded for its source.
    """
    if not place.exists():
        raise SourceNotFoundError(f"{place} is neither a folder nor a file.")
    dataset = sources[0].dataset
    candidates = _find_tables(place / dataset if (place / dataset).is_dir() else place)
    by_rows: dict[int, list[Path]] = {}
    malformed: dict[str, NLIHubError] = {}
    notes = []
    for name, path in candidates.items():
        try:
            if path.suffix == ".gz":
                path = unpack(path, cache_dir)
            refuse_html(path, str(path))
            n_rows = count_rows(path)
        except (ReleaseError, NotDataError) as error:
            malformed[Path(name).with_suffix("").as_posix()] = error
            fault = error.defects[0].message if isinstance(error, ReleaseError) else "a web page"
            notes.append(f"{name}: {fault}")
        except OSError as error:  # not readable, or not a .gz
            notes.append(f"{name}: {error}")
        else:
            by_rows.setdefault(n_rows, []).append(path)
            notes.append(f"{name}: {n_rows:,} rows")
    missing = [source for source in sources if source.rows not in by_rows]
    for source in missing:  # by its name, or because it is the only file, it was meant
        meant = Path(source.paths[0]).with_suffix("").as_posix()
        if malformed and (len(candidates) == 1 or meant in malformed):
            raise malformed.get(meant, next(iter(malformed.values())))
    if missing:
        wanted = ", ".join(f"{source.name} ({source.rows or 0:,} rows)" for source in missing)
        held = "".join(f"\n  {note}" for note in notes) or " no CSV or JSON lines file."
        advice = " ".join(dict.fromkeys(source.how_to_get() for source in missing))
        raise SourceNotFoundError(
            f"{place} has no file of {dataset} that is {wanted}. It holds:{held}\n"
            f"{advice} {_PARTS_HINT}"
        )
    return [_accept_one(source, by_rows[source.rows or 0], cache_dir) for source in sources]


def _find_tables(place: Path) -> dict[str, Path]:
    """Return the files that may be sources, by their path in the place without ``.gz``."""
    found = {}
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        name = path.relative_to(place).as_posix() if place.is_dir() else path.name
        if Path(name.removesuffix(".gz")).suffix in _TABLES and path.is_file():
            found[name.removesuffix(".gz")] = path
    return found


def _accept_one(source: Source, paths: list[Path], cache_dir: Path) -> SourceFile:
    path = paths[0]
    if len({hash_file(other) for other in paths}) > 1:
        shown = ", ".join(map(str, paths))
        message = f"these files all have the {source.rows:,} rows of {source.name}, but differ"
        raise ReleaseError([Defect(shown, 0, "", message)], "Keep only the official one there.")
    variant = source.variants[0]
    released = Path(variant.path)
    if not variant.is_pinned and released.suffix != path.suffix:
        variant = Variant(released.with_suffix(path.suffix).as_posix())
    return _accept(source, variant, path, cache_dir)
