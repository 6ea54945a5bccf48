"""Says where a release file is not of its layout: slowly, line by line."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import Defect
from .layout import Layout

_MAX_SHOWN = 20
_MAX_VALUE_CHARS = 80


def find_defects(path: Path, layout: Layout) -> list[Defect]:
    """The first twenty defects of a file, by line.

    Args:
        path: A ``.csv`` or ``.jsonl`` file.
        layout: What it has to look like.
    """
    find = _in_csv if path.suffix == ".csv" else _in_jsonl
    found = (Defect(str(path), line, "", message) for line, message in find(path, layout))
    return list(islice(found, _MAX_SHOWN))


def _in_csv(path: Path, layout: Layout) -> Iterator[tuple[int, str]]:
    undecodable: list[tuple[int, str]] = []

    def lines() -> Iterator[str]:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    undecodable.append((number, _encoding_problem(error)))
                    yield line.decode("utf-8", errors="replace")

    reader = csv.reader(lines(), strict=True)
    names: list[str] = []
    line = 1
    try:
        names = next(reader)
        line = reader.line_num + 1
        for row in reader:
            yield from undecodable
            undecodable.clear()
            if len(row) != len(names):
                yield line, f"{len(row)} values, expected {len(names)}: {_shown(row)}"
            else:
                yield from (
                    (line, problem)
                    for problem in _problems(dict(zip(names, row, strict=True)), layout)
                )
            line = reader.line_num + 1
    except csv.Error as error:
        yield line, f"{error}: the file is truncated or damaged"
    yield from undecodable
    yield from _unfinished(path, line)


def _unfinished(path: Path, line: int) -> Iterator[tuple[int, str]]:
    with path.open("rb") as file:
        file.seek(-min(1, path.stat().st_size), 2)
        if file.read() not in (b"\n", b"\r"):
            yield line - 1, "the last line has no end: the file is truncated"


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
            except ValueError as error:
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
