"""Contents in the compressions and archives that are read."""

import bz2
import gzip
import io
import lzma
import tarfile

import pyarrow as pa

#: By ending; bz2 in small blocks.
COMPRESSORS = {
    "gz": gzip.compress,
    "bz2": lambda content: bz2.compress(content, 1),
    "xz": lambda content: lzma.compress(content, preset=0),
    "zst": lambda content: pa.Codec("zstd").compress(content, asbytes=True),
}


def tar(members, mode="w"):
    """An archive of files by name; None for a link that leads nowhere."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            content = content.encode() if isinstance(content, str) else content
            info.size, info.type = (0, tarfile.SYMTYPE) if content is None else (len(content), b"0")
            archive.addfile(info, io.BytesIO(content or b""))
    return buffer.getvalue()
