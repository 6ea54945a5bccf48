"""Find the files that hold papers."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ...errors import SourceNotFoundError

# Endings of files that lie beside papers in folders and archives. A PDF is not among these: whoever
# has only PDFs learns that they are not read.
_OTHER_ENDINGS = {
    *(".bib", ".csv", ".log", ".md", ".rst", ".tsv", ".txt"),
    *(".gif", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff"),
    *(".css", ".dtd", ".htm", ".html", ".xsd", ".xsl"),
    *(".cfg", ".md5", ".py", ".sha256", ".yaml", ".yml"),
}
_OTHER_NAMES = ("changelog", "citation", "license", "licence", "notice", "readme")
_FORMATS = "papers: expected TEI, JATS, S2ORC, sentence-split XML, JSON Lines or Parquet"
_HIDDEN = (".", "_")  # "_SUCCESS", as engines leave it beside their shards


@dataclass(frozen=True, slots=True)
class PaperFile:
    """A file that may hold papers.

    Attributes:
        path: Where the file is.
        name: The path in the given folder, in POSIX form, the same on every machine; for a file
            that was given itself, its name.
        size: Bytes; 0 where the file cannot be looked at, which reading it reports.
        start: Offset in bytes from which on a record begins that is read; above 0 where it is a
            part of a file.
        end: Offset before which it begins; None reads to the end of the file.
        n_lines_before: Line ends before the byte that ``start`` follows.
    """

    path: Path
    name: str
    size: int
    start: int = 0
    end: int | None = None
    n_lines_before: int = 0


def is_paper_name(name: str) -> bool:
    """Return whether a file of that name in a folder or archive is taken for papers.

    Not taken are hidden files and those in hidden folders (names that begin with ``.`` or ``_``),
    README, LICENSE, CITATION, NOTICE and CHANGELOG files, and files with the endings of tables,
    notes, pictures, web pages, schemas and programs (``.txt``, ``.csv``, ``.md``, ``.bib``,
    ``.jpg``, ...). Such a file given by itself is taken.

    Args:
        name: A path in POSIX form, relative to the folder or archive.
    """
    path = PurePosixPath(name)
    return (
        not any(part.startswith(_HIDDEN) for part in path.parts)
        and path.suffix.lower() not in _OTHER_ENDINGS
        and path.name.lower().partition(".")[0] not in _OTHER_NAMES
    )


def find_paper_files(paths: Sequence[Path], expected: str = _FORMATS) -> list[PaperFile]:
    """Find the files that may hold papers, or abstracts.

    Args:
        paths: Files, taken whatever their names, and folders, of which every file in any depth is
            taken unless ``is_paper_name`` excludes it. Links are followed, each folder once.
        expected: The formats that are read, for the error.

    Returns:
        The files, by name, each once; those of one name in the order of ``paths``.

    Raises:
        SourceNotFoundError: A path does not exist, or holds no such file.
    """
    found: dict[Path, PaperFile] = {}
    for path in paths:
        if not path.exists():
            raise SourceNotFoundError(f"There is no file or folder {path}: check the path.")
        names = [path.name] if not path.is_dir() else list(_walk(path, "", set()))
        if not names:
            raise SourceNotFoundError(
                f"The folder {path} holds no file that is taken for {expected} files."
            )
        folder = path if path.is_dir() else path.parent
        for name in names:
            file = folder / name
            found.setdefault(file.absolute(), PaperFile(file, printable(name), _size(file)))
    return sorted(found.values(), key=lambda file: file.name)


def _walk(folder: Path, prefix: str, seen: set[tuple[int, int]]) -> Iterator[str]:
    state = folder.stat()
    if (state.st_dev, state.st_ino) in seen:  # a link to a folder above, or a second one to it
        return
    seen.add((state.st_dev, state.st_ino))
    for entry in sorted(folder.iterdir()):
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            if not entry.name.startswith(_HIDDEN):
                yield from _walk(entry, f"{name}/", seen)
        # A link that leads nowhere is kept: reading it reports it.
        elif (entry.is_file() or entry.is_symlink()) and is_paper_name(name):
            yield name


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def printable(name: str) -> str:
    """Return the name of a file with U+FFFD for what is not UTF-8, which no table could hold."""
    return os.fsencode(name).decode("utf-8", errors="replace")
