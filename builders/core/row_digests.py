"""Digests of rows, of a set or in order, that do not depend on how the rows are stored."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: The hash of a row as an element of an array.
ROW_HASH = np.dtype("S32")
#: Rows whose texts are joined at a time; they fit into a processor's cache.
_JOINED_ROWS = 5_000
#: Hashes that are sorted in memory; more are sorted in parts, in files.
_MAX_SORTED_BYTES = 32_000_000
_N_PARTS = 64  # files that are open at a time

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def row_hashes(table: pa.Table, labels: Sequence[str]) -> list[bytes]:
    """Hash each row in its canonical form by sha256, 32 bytes each.

    The canonical form is a JSON array of the row's values in column order, without blanks, in
    UTF-8; the label as its name, a list or a struct as the array of its values.

    Args:
        table: n rows.
        labels: The names of the labels in its column ``label``, by id.

    Raises:
        TypeError: A list or struct is null, which has no canonical form.
    """
    names = pa.array(map(_encode, labels), pa.string())
    hashes: list[bytes] = []
    for batch in table.to_batches(max_chunksize=_JOINED_ROWS):
        columns = [
            [_label_texts(column, names)] if name == "label" else _pieces(column)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        hashes += _hash_texts(_join(_list_pieces(columns), len(batch)))
    return hashes


def digest(hashes: Iterable[bytes], beside: Path | None = None) -> str:
    """Return the digest of a set of rows: the sha256 of their sorted hashes in hexadecimal digits.

    Args:
        hashes: The hashes of the rows; one value may join several of them.
        beside: Where they are sorted, in nameless files, if they do not fit into memory; None
            takes the system's folder for temporary files.
    """
    found = hashlib.sha256()
    for part in _sorted_parts(hashes, beside):
        found.update(part)
    return found.hexdigest()


def order_digest(hashes: Iterable[bytes]) -> str:
    """Return the digest of rows in their order: the sha256 of their hashes, joined as given."""
    found = hashlib.sha256()
    for some in hashes:
        found.update(some)
    return found.hexdigest()


def both_digests(hashes: Iterable[bytes], beside: Path | None = None) -> tuple[str, str]:
    """Return the digest of rows in any order, and that in their order, reading hashes once.

    Args:
        hashes: The hashes of the rows in order; one value may join several of them.
        beside: As for ``digest``.
    """
    in_order = hashlib.sha256()

    def passed_on() -> Iterator[bytes]:
        for some in hashes:
            in_order.update(some)
            yield some

    return digest(passed_on(), beside), in_order.hexdigest()


def _sorted_parts(hashes: Iterable[bytes], beside: Path | None) -> Iterator[memoryview]:
    """Yield hashes in order, some at a time, whether or not all of them fit into memory."""
    with ExitStack() as stack:
        files: list[IO[bytes]] = []
        waiting = bytearray()
        for some in hashes:
            waiting += some
            if len(waiting) >= _MAX_SORTED_BYTES:
                files = files or [
                    stack.enter_context(TemporaryFile(dir=beside)) for _ in range(_N_PARTS)
                ]
                _spread(waiting, files)
                waiting = bytearray()
        if not files:
            yield _sort(np.frombuffer(waiting, ROW_HASH))
            return
        _spread(waiting, files)
        for file in files:
            file.seek(0)
            yield _sort(np.fromfile(file, ROW_HASH))


def _spread(hashes: bytearray, files: Sequence[IO[bytes]]) -> None:
    """Append hashes to files by their first bits, so that those of a file precede the next's."""
    rows = np.frombuffer(hashes, np.dtype((np.void, ROW_HASH.itemsize)))  # faster than ROW_HASH
    parts = np.frombuffer(hashes, np.uint8)[:: ROW_HASH.itemsize] // (256 // len(files))
    order = np.argsort(parts, kind="stable")
    ends = np.searchsorted(parts[order], np.arange(len(files)), side="right")
    for file, some in zip(files, np.split(np.take(rows, order), ends[:-1]), strict=True):
        file.write(some.data)


def _sort(rows: Any) -> memoryview:
    rows.sort()
    return memoryview(rows)


def _hash_texts(texts: pa.Array) -> list[bytes]:
    """Hash each of some texts."""
    _, _, data = texts.buffers()
    content = memoryview(data)
    sha256 = hashlib.sha256
    return [
        sha256(content[start:end]).digest() for start, end in pairwise(_offsets(texts).tolist())
    ]


def _offsets(texts: pa.Array) -> Any:
    """Return where each text begins, and the last one ends: n + 1 numbers of bytes."""
    found = np.frombuffer(texts.buffers()[1], np.int32)
    return found[texts.offset : texts.offset + len(texts) + 1]


def _label_texts(ids: pa.Array, names: pa.Array) -> pa.Array:
    """Return the JSON of labels; what is no label's id stays a number, or null."""
    is_known = pc.and_(pc.greater_equal(ids, 0), pc.less(ids, len(names)))
    known = names.take(pc.if_else(is_known, ids, None))
    return pc.coalesce(known, ids.cast(pa.string()), "null") if known.null_count else known


def _pieces(values: pa.Array) -> list[str | pa.Array]:
    """Return the JSON of n values in pieces to join: n texts, or one that is the same for all."""
    kind = values.type
    if pa.types.is_nested(kind):
        if values.null_count or not (pa.types.is_list(kind) or pa.types.is_struct(kind)):
            raise TypeError(f"a null list or struct has no canonical form: column of {kind}")
        if pa.types.is_struct(kind):
            return _list_pieces(list(map(_pieces, values.flatten())))
        items = values.flatten()
        ends = np.cumsum(values.value_lengths().to_numpy(zero_copy_only=False), dtype=np.int32)
        texts = _join(_pieces(items), len(items))
        lists = pa.ListArray.from_arrays(np.r_[np.int32(0), ends], texts)
        return ["[", pc.binary_join(lists, ","), "]"]
    if values.null_count == len(values):
        return ["null"]
    if pa.types.is_string(kind):
        pieces = ['"', _escape(values), '"']
        if not values.null_count:
            return pieces
        texts = _join(pieces, len(values))
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        texts = values.cast(pa.string())
    else:
        distinct = values.dictionary_encode()
        texts = pa.array(map(_encode, distinct.dictionary.to_pylist()), pa.string())
        texts = texts.take(distinct.indices)
    return [pc.fill_null(texts, "null")]


def _list_pieces(columns: Sequence[Sequence[str | pa.Array]]) -> list[str | pa.Array]:
    """Return the pieces of JSON arrays, given those of their values."""
    following = (piece for column in columns for piece in (",", *column))
    return ["[", *islice(following, 1, None), "]"]


def _join(pieces: Sequence[str | pa.Array], n: int) -> pa.Array:
    """Join pieces to n texts; those that are null in a piece are null."""
    joined: list[str | pa.Array] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    if len(joined) == 1:
        [text] = joined
        return pa.repeat(text, n) if isinstance(text, str) else text
    return pc.binary_join_element_wise(*joined, "")


def _escape(texts: pa.Array) -> pa.Array:
    """Escape texts for JSON; most need no change."""
    _, _, data = texts.buffers()
    offsets = _offsets(texts)
    if data is None or not len(texts):
        return texts
    content = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    odd = np.flatnonzero((content < 0x20) | (content == ord('"')) | (content == ord("\\")))
    if not len(odd):
        return texts
    is_odd = np.zeros(len(texts), bool)
    is_odd[np.searchsorted(offsets, odd + offsets[0], side="right") - 1] = True
    mask = pc.and_(pa.array(is_odd), texts.is_valid())
    # to_pylist() would take three times as long.
    escaped = [_encode(text)[1:-1] for text in texts.filter(mask).to_numpy(zero_copy_only=False)]
    return pc.replace_with_mask(texts, mask, pa.array(escaped, pa.string()))
