"""Open files of papers and abstracts, plain or compressed, on the disk or inside a tar archive.

Nothing is written to the disk. What cannot be read is a ``RecordError``, which a reader completes
with the place and reports.
"""

import lzma
import tarfile
from collections.abc import Iterator
from io import BufferedReader, RawIOBase
from itertools import chain
from pathlib import Path
from typing import IO, Protocol, cast

import pyarrow as pa

from ..bounds import MAX_RECORD_BYTES, too_large
from ..errors import RecordError

_TAR_MARK, _TAR_MARK_AT = b"ustar", 257

#: The errors of reading a file that is gone, not ours to read, damaged, or ends in the middle.
UNREADABLE = (
    *(OSError, EOFError, lzma.LZMAError, tarfile.TarError, pa.ArrowException),
    UnicodeDecodeError,  # the name of a column in Parquet
)

#: So often may what reads an archive come to its end; then it is cut, or declares what it has not.
_MAX_READS_AT_END = 16
_BOM = b"\xef\xbb\xbf"
_HEAD_BYTES = 512  # the mark of a tar archive among them
_FILE_BUFFER_BYTES = 1 << 18  # larger than a line, else reading lines takes half as long again
_BUFFER_BYTES = 1 << 16  # of what is unpacked: so much is lost before a cut
_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}


def open_plain(path: Path) -> BufferedReader:
    """Open a file of papers or abstracts to read its bytes as they are.

    Raises:
        OSError: The file cannot be opened.
    """
    return BufferedReader(path.open("rb", buffering=0), _FILE_BUFFER_BYTES)


def decompress(stream: IO[bytes]) -> BufferedReader | None:
    """Return the content of a compressed stream, of all its members; None where it is plain.

    Reading the content raises one of ``UNREADABLE`` where it is damaged.

    Args:
        stream: A stream with ``peek``, at its start.
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
    """Return the first bytes of a stream, which stay in it."""
    return cast(BufferedReader, stream).peek(_HEAD_BYTES)[:_HEAD_BYTES]


def unreadable(error: BaseException) -> RecordError:
    """Return the problem of a file of papers for one of ``UNREADABLE``."""
    reason = error.strerror if isinstance(error, OSError) else None
    return RecordError("unreadable", f"cannot be read to its end: {reason or error}")


class Lines(Protocol):
    """What lines can be read from: a file, or a part of one."""

    def readline(self, size: int, /) -> bytes:
        """Read a line, or as much of it; nothing at the end."""
        ...


def number_lines(
    stream: Lines, *already_read: bytes, first: int = 1
) -> Iterator[tuple[int, bytes | RecordError]]:
    """Number the lines of a file that are not blank.

    Args:
        stream: The file.
        already_read: The lines that were read from it before.
        first: The number of the first line; 1 where it is the file's, which may have a byte order
            mark.

    Yields:
        The number of each line, from 1, with its bytes, without a byte order mark, or with what is
        wrong: it is too large, or the file cannot be read on.
    """
    number = first - 1
    rest = iter(lambda: stream.readline(MAX_RECORD_BYTES + 1), b"")
    try:
        for number, line in enumerate(chain(already_read, rest), first):
            if len(line) > MAX_RECORD_BYTES:
                while line and not line.endswith(b"\n"):
                    line = stream.readline(MAX_RECORD_BYTES)
                yield number, too_large()
            elif not line.isspace():
                yield number, line.removeprefix(_BOM) if number == 1 else line
    except UNREADABLE as error:
        yield number + 1, unreadable(error)


def is_archive(head: bytes) -> bool:
    """Return whether a file with these first bytes is a tar archive."""
    return head.startswith(_TAR_MARK, _TAR_MARK_AT)


def read_members(stream: IO[bytes]) -> Iterator[tuple[str, BufferedReader | None]]:
    """Read the files in a tar archive, in its order, in constant memory.

    Yields:
        The name of each file, and its content, to be read before the next; None for a link, which
        has no content of its own. Folders and devices are passed over.

    Raises:
        tarfile.TarError: The archive is damaged or ends in the middle.
    """
    ending = cast(IO[bytes], _Archive(stream))
    with tarfile.open(fileobj=ending, mode="r|", tarinfo=_Member) as archive:
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # else it remembers every one
            if member.isfile():
                yield member.name, cast(BufferedReader, archive.extractfile(member))
            elif member.issym() or member.islnk():
                yield member.name, None


class _Archive:
    """A stream that refuses to be read beyond its end again and again.

    A header of 512 bytes may declare a member of petabytes, which tarfile passes over in steps of
    10 kB, whether there is anything or not.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._n_reads_at_end = 0

    def read(self, size: int = -1) -> bytes:
        found = self._stream.read(size)
        self._n_reads_at_end += not found
        if self._n_reads_at_end > _MAX_READS_AT_END:
            raise tarfile.ReadError("a member is larger than the rest of the archive")
        return found


class _Member(tarfile.TarInfo):
    """A member; a damaged header is an error, where tarfile takes it for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Member":
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):  # the end, as it should be
                raise
            raise tarfile.ReadError(f"the archive is damaged or cut: {error}") from None
