"""Opens files of papers: plain or compressed, from the disk or out of an archive."""

import lzma
import tarfile
from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from itertools import chain
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from .skips import MAX_PAPER_BYTES, PaperError, too_large

#: What reading a file can raise: it is gone, not ours to read, damaged, or ends in the middle.
UNREADABLE = (OSError, EOFError, lzma.LZMAError, tarfile.TarError, pa.ArrowException)

_BOM = b"\xef\xbb\xbf"
_HEAD_BYTES = 512  # of which the mark of a tar archive is at 257
_FILE_BUFFER_BYTES = 1 << 18  # larger than a line, else reading lines takes half as long again
_BUFFER_BYTES = 1 << 16  # of what is unpacked: so much is lost before a cut
_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}


def open_plain(path: Path) -> BufferedReader:
    """Opens a file for reading bytes as they are.

    Raises:
        OSError: It cannot be opened.
    """
    return BufferedReader(path.open("rb", buffering=0), _FILE_BUFFER_BYTES)


def decompress(stream: IO[bytes]) -> BufferedReader | None:
    """The content of a compressed stream, told by its first bytes.

    Args:
        stream: A stream with ``peek``, at its start.

    Returns:
        A stream of the content, that of all members one after another; None where ``stream`` is
        not compressed. Reading it raises one of ``UNREADABLE`` where it is damaged.
    """
    head = peek(stream)
    for mark, name in _COMPRESSIONS.items():
        if head.startswith(mark):
            if name == "xz":  # which Arrow lacks; its gzip is three times as fast as Python's
                return BufferedReader(cast(RawIOBase, lzma.LZMAFile(stream)), _BUFFER_BYTES)
            content = pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), name)
            return BufferedReader(content, _BUFFER_BYTES)
    return None


def peek(stream: IO[bytes]) -> bytes:
    """The first bytes of a stream, which stay in it."""
    return cast(BufferedReader, stream).peek(_HEAD_BYTES)[:_HEAD_BYTES]


def unreadable(error: BaseException) -> PaperError:
    """What one of ``UNREADABLE`` says of a paper."""
    told = error.strerror if isinstance(error, OSError) else None
    return PaperError("unreadable", f"cannot be read to its end: {told or error}")


def number_lines(
    stream: IO[bytes], *already_read: bytes
) -> Iterator[tuple[int, bytes | PaperError]]:
    """The lines of a file that show a character, one at a time.

    Args:
        stream: The file.
        already_read: The lines that were read from it before, if any.

    Yields:
        The number of each line, from 1, with its bytes (a byte order mark is no part of the first),
        or with what is wrong: it is too large, or the file cannot be read on.
    """
    number = 0
    rest = iter(lambda: stream.readline(MAX_PAPER_BYTES + 1), b"")
    try:
        for number, line in enumerate(chain(already_read, rest), 1):
            if len(line) > MAX_PAPER_BYTES:
                while line and not line.endswith(b"\n"):
                    line = stream.readline(MAX_PAPER_BYTES)
                yield number, too_large()
            elif not line.isspace():
                yield number, line.removeprefix(_BOM) if number == 1 else line
    except UNREADABLE as error:
        yield number + 1, unreadable(error)
