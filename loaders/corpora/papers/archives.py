"""Reads tar archives from front to end, with nothing written to the disk."""

import tarfile
from collections.abc import Iterator
from io import BufferedReader
from typing import IO, cast

_MARK = b"ustar"
_MARK_AT = 257


def is_archive(head: bytes) -> bool:
    """Whether a file with these first bytes is a tar archive."""
    return head.startswith(_MARK, _MARK_AT)


def read_members(stream: IO[bytes]) -> Iterator[tuple[str, BufferedReader | None]]:
    """The files in an archive, in its order; in constant memory, however many there are.

    Args:
        stream: The archive.

    Yields:
        The name of each file, and its content, to be read before the next; None for a link, which
        has no content of its own. Folders and devices are passed over.

    Raises:
        tarfile.TarError: The archive is damaged or ends in the middle.
    """
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive:
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # else it remembers every one
            if member.isfile():
                yield member.name, cast(BufferedReader, archive.extractfile(member))
            elif member.issym() or member.islnk():
                yield member.name, None


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
