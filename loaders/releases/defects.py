"""Says where a release file is not of its layout: slowly, line by line."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import Defect
from .layout import Layout

_MAX_SHOWN = 20
_MAX_VALUE_CHARS = 80
_MAX_FIELD_CHARS = 1 << 30  # of csv, whose own limit of 128 KiB a text may pass


def find_defects(path: Path, layout: Layout) -> list[Defect]:
    """The first twenty different defects of a file, each at its first line with its number.

    Args:
        path: A file with one of the endings ``layout.formats``.
        layout: What it has to look like.
    """
    find = _in_jsonl if path.suffix == ".jsonl" else _in_table
    first: dict[str, int] = {}
    times: Counter[str] = Counter()
    for line, message in find(path, layout):
        if message not in first and len(first) == _MAX_SHOWN:
            break
        first.setdefault(message, line)
        times[message] += 1
    return [
        Defect(str(path), line, "", message + _times(times[message]))
        for message, line in first.items()
    ]


def read_rows(lines: Iterable[str], layout: Layout) -> Iterator[list[str]]:
    """Read the lines of a table as rows of values; the first is its header.

    Raises:
        csv.Error: They are not of the layout's format.
    """
    if layout.has_quotes:
        return csv.reader(lines, strict=True, delimiter=layout.delimiter)
    return csv.reader(lines, strict=True, delimiter=layout.delimiter, quoting=csv.QUOTE_NONE)


def _times(n: int) -> str:
    return f" ({n:,} times)" if n > 1 else ""


def _in_table(path: Path, layout: Layout) -> Iterator[tuple[int, str]]:
    undecodable: list[tuple[int, str]] = []
    number, last = 0, ""

    def lines() -> Iterator[str]:
        nonlocal number, last
        with path.open("rb") as file:
            for line in file:
                number += 1
                try:
                    last = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    undecodable.append((number, _encoding_problem(error)))
                    last = line.decode("utf-8", errors="replace")
                yield last

    before = csv.field_size_limit(_MAX_FIELD_CHARS)
    reader = read_rows(lines(), layout)
    start = 1
    try:
        names = next(reader, [])
        start = number + 1
        for row in reader:
            yield from undecodable
            undecodable.clear()
            if len(row) != len(names):
                yield start, f"{len(row)} values, expected {len(names)}: {_shown(row)}"
            else:
                yield from (
                    (start, problem)
                    for problem in _problems(dict(zip(names, row, strict=True)), layout)
                )
            start = number + 1
    except csv.Error as error:
        yield start, f"{error}: the file is truncated or damaged"
    finally:
        csv.field_size_limit(before)
    yield from undecodable
    if not last.endswith(("\n", "\r")):
        yield number, "the last line has no end: the file is truncated"


def _in_jsonl(path: Path, layout: Layout) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(
                    line.decode("utf-8-sig" if number == 1 else "utf-8"),
                    object_pairs_hook=_without_doubles,
                )
            except UnicodeDecodeError as error:
                yield number, _encoding_problem(error)
            except (ValueError, RecursionError) as error:
                yield number, f"no JSON object: {error}: {_shown(line)}"
            else:
                if not isinstance(row, dict):
                    yield number, f"expected a JSON object, got {_shown(row)}"
                    continue
                yield from ((number, problem) for problem in layout.problems(list(row)))
                yield from ((number, problem) for problem in _problems(row, layout))


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise ValueError("a key is there twice")
    return row


def _problems(row: dict[str, Any], layout: Layout) -> Iterator[str]:
    for column in layout.columns:
        if column.name in row and (problem := column.problem(row[column.name])):
            yield f"{column.name}: {problem[: _MAX_VALUE_CHARS * 2]}"


def _encoding_problem(error: UnicodeDecodeError) -> str:
    byte = error.object[error.start]
    return f"byte 0x{byte:02x} at position {error.start + 1} of the line is no UTF-8"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}..."
