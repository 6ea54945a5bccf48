"""Finds source files whose names nobody has documented, by their number of rows."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ..errors import Defect, NLIHubError, NotDataError, ReleaseError, SourceNotFoundError
from ..hashing import hash_file
from .catalogue import Source, Variant
from .local import unpacked
from .obtain import PARTS_HINT, SourceFile, accept_file
from .web_page import refuse_html

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
