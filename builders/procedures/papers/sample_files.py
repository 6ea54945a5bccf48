"""Draw a sample of the files of papers: small files, and pieces of large ones."""

import codecs
from collections.abc import Iterator, Sequence
from contextlib import suppress
from heapq import nsmallest
from pathlib import Path

from ....loaders.bounds import MAX_RECORD_BYTES
from ....loaders.corpora.papers.files import PaperFile
from ....loaders.corpora.papers.json_papers import are_lines_by_name
from ....loaders.corpora.streams import UNREADABLE, decompress, is_archive, open_plain, peek
from ...core.keyed import keyed_number
from ..shards import SHARD_BYTES

_MIN_PIECES = 2


def sample_files(
    files: Sequence[PaperFile], share: float, seed: int, folder: Path
) -> Sequence[PaperFile]:
    """Draw pieces of files by a keyed hash of their names and places; large files are cut.

    Args:
        files: The files of the corpus.
        share: Share of the corpus that is drawn, above 0 to 1; at least two pieces.
        seed: Seed of the draw.
        folder: A folder for copies of the pieces of large files.
    """
    pieces = (
        (keyed_number(seed, "sample", f"{file.name}:{start}"), number, start)
        for number, file in enumerate(files)
        for start in range(0, max(file.size, 1), SHARD_BYTES)
    )
    n_pieces = sum(max(1, -(-file.size // SHARD_BYTES)) for file in files)
    n_drawn = max(_MIN_PIECES, round(share * n_pieces))
    drawn: dict[int, list[int]] = {}
    for _, number, start in nsmallest(n_drawn, pieces):
        drawn.setdefault(number, []).append(start)
    found = [
        piece
        for number, starts in drawn.items()
        for piece in _cut(files[number], sorted(starts), folder / f"{number:07d}")
    ]
    return found or [files[next(iter(drawn))]]


def _cut(file: PaperFile, starts: Sequence[int], folder: Path) -> Iterator[PaperFile]:
    """Copy pieces of a file: lines where they are, of a packed file as many bytes from its start.

    A packed file or an archive that ends too early is read as far as it goes. One that cannot be
    cut is taken whole, if its first piece is drawn.
    """
    if file.size <= SHARD_BYTES * len(starts):
        yield file
        return
    has_lines, is_packed = _kind(file.path)
    if not has_lines and not is_packed:
        if not starts[0]:
            yield file
        return
    folder.mkdir()
    with file.path.open("rb") as source:
        for start in starts if has_lines else (0,):
            path = folder / f"{start}-{file.path.name}"
            with path.open("wb") as target:
                if is_packed:
                    end = SHARD_BYTES * len(starts)
                else:
                    end = start + SHARD_BYTES
                    source.seek(max(0, start - 1))
                    while start and (line := source.readline(MAX_RECORD_BYTES)):
                        if line.endswith(b"\n"):
                            break
                while source.tell() < end:
                    size = min(MAX_RECORD_BYTES, end - source.tell()) if is_packed else None
                    some = source.read(size) if size else source.readline(MAX_RECORD_BYTES)
                    if not some:
                        break
                    target.write(some)
            yield PaperFile(path, file.name, path.stat().st_size)


def weigh(file: PaperFile, folder: Path) -> float:
    """Return the weight by which papers are counted: bytes, a small file as if it had 8 MB.

    So files of a paper each are counted, and pieces in the folder, which are no files, measured.
    """
    weight = file.size / SHARD_BYTES
    return weight if file.path.is_relative_to(folder) else max(1.0, weight)


def _kind(path: Path) -> tuple[bool, bool]:
    """Return whether a file has a paper a line, and whether it is compressed or an archive."""
    with suppress(*UNREADABLE), open_plain(path) as stream:
        head = peek(stream)
        if is_archive(head) or decompress(stream) is not None:
            return False, True
        if are_lines_by_name(path.name):
            return True, False
        line = stream.readline(MAX_RECORD_BYTES)
        return line.lstrip(codecs.BOM_UTF8).startswith(b"{") and line.rstrip().endswith(b"}"), False
    return False, False
