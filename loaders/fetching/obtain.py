"""Gets a source file, whole and verified, from wherever it is to be had."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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
from ..hashing import FileHash, hash_file, identify, identify_file
from ..network import check_reachable
from . import lock_file
from .catalogue import Location, Source, Variant, WebFile, find_by_content
from .local import describe_lack, find_local, unpacked
from .web_page import refuse_html


def default_cache_dir() -> Path:
    """Return ``$NLIHUB_CACHE``, or ``nlihub`` in the Hugging Face home."""
    from huggingface_hub.constants import HF_HOME

    return Path(os.environ.get("NLIHUB_CACHE") or Path(HF_HOME) / "nlihub")


_PARALLEL = 4
HINT = (
    "name a local folder that has the source files (--from FOLDER; in Python data_dir= or folder=)."
)
PARTS_HINT = "What does not need it can be had alone: --config C,... --splits S,..."


@dataclass(frozen=True)
class SourceFile:
    """A local file that is what the catalogue says.

    Attributes:
        source: The source.
        variant: The format in which it is here.
        path: The file.
        bytes: Its size.
        sha256: Its hash.
        cache_dir: Where the lock file is.
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
        """Where it is published, or its path in the release where only people can get it."""
        places = self.variant.locations
        return str(places[0]) if places else self.variant.path

    @property
    def identity(self) -> str:
        """A hash that tells its content: the published one, where one is known."""
        return self.variant.sha256 or self.variant.git_blob or self.sha256

    @property
    def entry(self) -> dict[str, Any]:
        """What the manifest of a built version says of it."""
        return {"url": self.address, "bytes": self.bytes, "sha256": self.sha256}

    @property
    def is_known(self) -> bool:
        """Whether its content is a published one, or was recorded when it was read earlier."""
        return self.variant.is_pinned or lock_file.is_recorded(
            self.cache_dir, self.key, self.sha256
        )

    def accept(self) -> None:
        """Records its hash, after it was read and found to fit, where none is published.

        Raises:
            ChecksumError: It has changed since it was verified, or another hash is recorded.
        """
        now = identify_file(self.path, with_git_blob=self.variant.sha256 is None)
        if now.sha256 != self.sha256:
            raise ChecksumError(f"{self.path} was changed while it was read. Try again.")
        if not self.variant.is_pinned:
            lock_file.record(self.cache_dir, self.key, self.sha256)

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
        place: Take it from this folder, or take this file, instead of downloading it.
        cache_dir: Where downloads and the lock file are kept.

    Returns:
        The local file. Its hash is the published one, where one is known, and otherwise that of
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
        raise SourceNotFoundError(f"{describe_lack(source, place)} {PARTS_HINT}")
    variant, path = found
    if path.suffix == ".gz" and not variant.path.endswith(".gz"):
        path = unpacked(path, cache_dir)
    return accept_file(source, variant, path, cache_dir)


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


def accept_file(
    source: Source, variant: Variant, path: Path, cache_dir: Path, origin: str | None = None
) -> SourceFile:
    """Take a local file for a source, if it is the one.

    Args:
        source: The source.
        variant: Its format.
        path: The file.
        cache_dir: Where the lock file is.
        origin: How to call it in a message; None takes its path.

    Raises:
        ChecksumError: It is another one than was pinned, or than was recorded.
        NotDataError: It is a web page.
    """
    refuse_html(path, origin or str(path))
    found = verify(source, variant, path, origin or str(path))
    result = SourceFile(source, variant, path, found.bytes, found.sha256, cache_dir)
    if not variant.is_pinned:
        lock_file.check(cache_dir, result.key, result.sha256, path)
    return result


def verify(source: Source, variant: Variant, path: Path, origin: str) -> FileHash:
    """Compare a file with its pin.

    Args:
        source: The source.
        variant: Its format.
        path: The file.
        origin: How to call it in a message.

    Returns:
        Its hashes.

    Raises:
        ChecksumError: It is another file; says which, where that is known.
    """
    found = identify_file(path, with_git_blob=variant.sha256 is None)
    if variant.is_of(found) or not variant.is_pinned:
        return found
    message = (
        f"{origin} is not the pinned {variant.path} of {source.dataset}: it has sha256 "
        f"{found.sha256} ({found.bytes} bytes), expected {variant.pin}"
    )
    message += f" ({variant.bytes} bytes)." if variant.bytes else "."
    other = find_by_content(identify_file(path, with_git_blob=True))
    if other is not None:
        message += f" It is {other[1].path} of {other[0].dataset}."
    elif _is_with_other_line_ends(variant, path):
        message += " Only its line ends differ: take the file as it was published."
    elif variant.bytes and found.bytes < variant.bytes:
        missing = variant.bytes - found.bytes
        message += f" It lacks {missing} bytes: it is truncated, or was saved by another program."
    else:
        message += " It was changed, perhaps by a program that saved it anew."
    if origin == str(path):  # otherwise it has just been downloaded
        message += f" {source.how_to_get()}"
    raise ChecksumError(message)


def _is_with_other_line_ends(variant: Variant, path: Path) -> bool:
    content = path.read_bytes()
    return any(
        variant.is_of(identify(changed))
        for changed in (content.replace(b"\r\n", b"\n"), content.replace(b"\n", b"\r\n"))
    )


def _check_downloadable(source: Source) -> None:
    if not any(variant.locations for variant in source.variants):
        raise SourceNotFoundError(
            f"{source.paths[0]} of {source.dataset} cannot be downloaded by a program. "
            f"{source.instructions} Then {HINT} {PARTS_HINT}"
        )


def _download(source: Source, cache_dir: Path) -> SourceFile:
    _check_downloadable(source)
    troubles: list[NLIHubError] = []
    for variant in source.variants:
        target = _target(source, variant, cache_dir)
        if target.exists():
            try:
                return accept_file(source, variant, target, cache_dir)
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
        f"{source.paths[0]} of {source.dataset} cannot be had:{listed}\n"
        f"Try again later, or {HINT} {PARTS_HINT} {source.instructions or ''}".rstrip()
    )


def _download_from(
    source: Source, variant: Variant, location: Location, target: Path, cache_dir: Path
) -> SourceFile:
    def accept(path: Path) -> SourceFile:
        return accept_file(source, variant, path, cache_dir, f"What {location} serves")

    if isinstance(location, WebFile):
        check_reachable(location.url, urlsplit(location.url).hostname or "")
        from .download import download

        download(location.url, target, verify=accept)
        return accept(target)
    from .download import download_from_hub

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


_FORMATS = (".csv", ".jsonl")


def find_by_rows(
    sources: Sequence[Source], place: Path, cache_dir: Path, count_rows: Callable[[Path], int]
) -> list[SourceFile]:
    """Find source files in a local place, by their number of rows.

    Args:
        sources: What to find, of one dataset.
        place: A folder, searched with its sub-folders, or a file.
        cache_dir: Where the lock file is.
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
        raise SourceNotFoundError(f"{place} is no folder and no file.")
    dataset = sources[0].dataset
    inside = place / dataset if (place / dataset).is_dir() else place
    candidates = _candidates(inside)
    by_rows: dict[int, list[Path]] = {}
    malformed: dict[str, NLIHubError] = {}
    notes = []
    for name, path in candidates.items():
        try:
            if path.suffix == ".gz":
                path = unpacked(path, cache_dir)
            refuse_html(path, str(path))
            n_rows = count_rows(path)
        except (ReleaseError, NotDataError) as error:
            malformed[Path(name).with_suffix("").as_posix()] = error
            fault = error.defects[0].message if isinstance(error, ReleaseError) else "a web page"
            notes.append(f"{name}: {fault}")
        except OSError as error:  # not to be read, or no .gz
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
        held = "".join(f"\n  {note}" for note in notes) or " nothing that could be one."
        advice = " ".join(dict.fromkeys(source.how_to_get() for source in missing))
        raise SourceNotFoundError(
            f"{place} has no file of {dataset} that is {wanted}. It holds:{held}\n"
            f"{advice} {PARTS_HINT}"
        )
    return [_accept(source, by_rows[source.rows or 0], cache_dir) for source in sources]


def _candidates(inside: Path) -> dict[str, Path]:
    """The files that may be sources, by their path in the place without ``.gz``."""
    paths = sorted(inside.rglob("*")) if inside.is_dir() else [inside]
    found = {}
    for path in paths:
        name = path.relative_to(inside).as_posix() if inside.is_dir() else path.name
        if path.suffix in _FORMATS and path.is_file():
            found[name] = path
        elif path.suffix == ".gz" and Path(path.stem).suffix in _FORMATS and path.is_file():
            found[name.removesuffix(".gz")] = path
    return found


def _accept(source: Source, paths: list[Path], cache_dir: Path) -> SourceFile:
    path = paths[0]
    if len({hash_file(other) for other in paths}) > 1:
        shown = ", ".join(map(str, paths))
        message = f"these files all have the {source.rows:,} rows of {source.name}, but differ"
        raise ReleaseError([Defect(shown, 0, "", message)], "Leave the official one alone there.")
    variant = source.variants[0]
    released = Path(variant.path)
    if not variant.is_pinned and released.suffix != path.suffix:
        variant = Variant(released.with_suffix(path.suffix).as_posix())
    return accept_file(source, variant, path, cache_dir)
