"""Reads CSV, TSV and JSON lines in batches, strictly, in memory that does not grow with the file.

A file whose content nobody has published is first read by ``find_defects``, slowly and strictly,
line by line. Then, and at once where the content is known, Arrow reads it: fast, but more lenient
than the formats are, and without a word on where a fault is. What is odd in the texts is counted,
and kept as it is.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from ..errors import Defect, ReleaseError
from . import Oddities
from .layout import Column, Layout, find_defects, read_rows

JSON_LINES = ".jsonl"
_BLOCK_BYTES = 2 << 20
_BLOCKS_A_BATCH = 4

#: What a text may hold that a reader would not expect, with an example of where it is from.
_KINDS = {
    "line breaks": r"[\r\n]",
    "control characters": r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]",  # U+0002, a hyphen of a PDF
    "replacement characters": "\ufffd",  # an encoding was lost before the release
    "no-break blanks": "\u00a0",
    "blanks at an end": r"^ | $",
}


def read_batches(
    path: Path, layout: Layout, oddities: Oddities | None = None, *, is_known: bool = False
) -> Iterator[pa.RecordBatch]:
    """Read a release file.

    Args:
        path: A table (UTF-8, with a header, quotes doubled) or a ``.jsonl`` file; its ending is one
            of ``layout.formats``.
        layout: What it has to look like.
        oddities: Counts to add to; None counts nothing.
        is_known: Whether the file is, by its hash, a published one: then it is read once.

    Yields:
        Batches of rows in order; the columns of the layout that the file has, all strings, numbers
        without ``.0``.

    Raises:
        ReleaseError: The file is not of that layout; lists what is wrong, with line and value.
    """
    names = column_names(path, layout)
    problems = layout.problems(names)
    if problems:
        raise ReleaseError([Defect(str(path), 1, "", "; ".join(problems))])
    if not is_known and (found := find_defects(path, layout)):
        raise ReleaseError(found)
    columns = [column for column in layout.columns if column.name in names]
    if oddities is not None:
        known = {column.name for column in columns}
        for name in names:
            if name not in known:
                oddities[f"column {name!r} passed over" if name else "unnamed index column"] = 1
    batches = (
        _read_jsonl(path, columns)
        if path.suffix == JSON_LINES
        else _read_table(path, columns, layout)
    )
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                return
            batch = _checked(batch, columns, oddities)
        except (pa.ArrowException, UnicodeDecodeError, _FaultError) as error:
            found = find_defects(path, layout) or [Defect(str(path), 0, "", str(error))]
            raise ReleaseError(found) from error
        yield batch


def column_names(path: Path, layout: Layout | None = None) -> list[str]:
    """The names of a file's columns; for JSON lines the keys of its first line.

    Args:
        path: The file.
        layout: How its values are separated; None takes commas.

    Raises:
        ReleaseError: It is empty, of another format, or its first line is malformed.
    """
    layout = layout or Layout(())
    if path.suffix not in layout.formats:
        expected = " or ".join(layout.formats)
        raise ReleaseError([Defect(str(path), 0, "", f"expected a file {expected}")])
    with path.open("rb") as file:
        head = file.readline().decode("utf-8-sig", errors="replace")
    if not head.strip():
        raise ReleaseError([Defect(str(path), 1, "", "the file begins with an empty line")])
    try:
        is_json = path.suffix == JSON_LINES
        row = json.loads(head) if is_json else next(read_rows([head], layout))
    except (ValueError, RecursionError, csv.Error) as error:
        kind = "JSON" if is_json else "CSV" if layout.delimiter == "," else "TSV"
        raise ReleaseError([Defect(str(path), 1, "", f"no {kind}: {error}")]) from error
    if not is_json:
        return list(row)
    if not isinstance(row, dict):
        raise ReleaseError([Defect(str(path), 1, "", "expected a JSON object a line")])
    return list(row)


def count_rows(path: Path, layout: Layout) -> int:
    """The number of rows of a file that is of a layout, so far as Arrow can tell.

    Raises:
        ReleaseError: It is not.
    """
    return sum(len(batch) for batch in read_batches(path, layout, is_known=True))


class _FaultError(Exception):
    """Something is wrong in the file."""


def _read_table(path: Path, columns: Iterable[Column], layout: Layout) -> Iterator[pa.RecordBatch]:
    reader = pyarrow.csv.open_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(block_size=_BLOCK_BYTES // _BLOCKS_A_BATCH),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=layout.delimiter,
            quote_char='"' if layout.has_quotes else False,
            newlines_in_values=layout.has_quotes,
            ignore_empty_lines=False,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={column.name: pa.string() for column in columns},
            include_columns=[column.name for column in columns],
            strings_can_be_null=False,
        ),
    )
    # Arrow reads some forty blocks ahead, so blocks are small, and joined here.
    while blocks := list(islice(reader, _BLOCKS_A_BATCH)):
        yield from pa.Table.from_batches(blocks).combine_chunks().to_batches()


def _read_jsonl(path: Path, columns: Iterable[Column]) -> Iterator[pa.RecordBatch]:
    # Numbers may be texts or numbers; texts must be texts, also where they look like dates.
    schema = pa.schema([(column.name, pa.string()) for column in columns if not column.is_number])
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            block += file.readline()
            table = pyarrow.json.read_json(
                io.BytesIO(block),
                read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
                parse_options=pyarrow.json.ParseOptions(
                    explicit_schema=schema, unexpected_field_behavior="infer"
                ),
            )
            names = [column.name for column in columns]
            n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
            if table.num_rows != n_lines:
                raise _FaultError(f"{n_lines} lines hold {table.num_rows} rows")
            if missing := set(names) - set(table.column_names):
                raise _FaultError(f"rows without {', '.join(sorted(missing))}")
            table.validate(full=True)  # Arrow takes any bytes for UTF-8 in JSON
            yield from table.select(names).combine_chunks().to_batches()


def _checked(
    batch: pa.RecordBatch, columns: list[Column], oddities: Oddities | None
) -> pa.RecordBatch:
    """The batch with its numbers as texts, if every value is as it has to be."""
    arrays = {name: batch.column(name) for name in batch.schema.names}
    for column in columns:
        array = arrays[column.name]
        if column.is_number:
            arrays[column.name] = array = _whole_numbers(array, column.name, oddities)
        if not pa.types.is_string(array.type) or array.null_count:
            raise _FaultError(f"{column.name} has values that are no texts")
        if column.has_few_values:
            if any(column.problem(value) for value in pc.unique(array).to_pylist()):
                raise _FaultError(f"{column.name} has an unknown value")
        elif column.is_required and pc.any(pc.equal(pc.binary_length(array), 0)).as_py():
            raise _FaultError(f"{column.name} has an empty value")
    checked = pa.RecordBatch.from_pydict(arrays)
    if batch.num_rows and oddities is not None:
        texts = [c.name for c in columns if not c.has_few_values and not c.is_number]
        _count_oddities(checked, texts, oddities)
    return checked


def _whole_numbers(array: pa.Array, name: str, oddities: Oddities | None) -> pa.Array:
    texts = array if pa.types.is_string(array.type) else array.cast(pa.string())
    as_floats = pc.match_substring_regex(texts, r"^[0-9]+\.0$")
    if pc.any(as_floats).as_py():
        if oddities is not None:
            oddities[f"whole numbers written as floats in {name}"] += pc.sum(as_floats).as_py()
        texts = pc.replace_substring_regex(texts, r"\.0$", "")
    if texts.null_count or not pc.all(pc.match_substring_regex(texts, "^[0-9]+$")).as_py():
        raise _FaultError(f"{name} has values that are no whole numbers")
    return texts


def _count_oddities(batch: pa.RecordBatch, columns: Sequence[str], oddities: Oddities) -> None:
    """Add the number of texts that have each kind of oddity.

    Args:
        batch: n rows.
        columns: Its columns of text.
        oddities: The counts, ``"KIND in COLUMN"``, to add to.
    """
    for column in columns:
        texts = batch.column(column)
        for kind, pattern in _KINDS.items():
            found = pc.sum(pc.match_substring_regex(texts, pattern)).as_py()
            if found:
                oddities[f"{kind} in {column}"] += found
