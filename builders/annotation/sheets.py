"""CSV that spreadsheets open and save without changing what it says.

Written in UTF-8 with a byte order mark, without which Excel takes it for the encoding of the
machine; commas; CRLF at the end of rows.

A cell whose first character besides blanks is one of ``= + - @`` would be run as a formula. It gets
an apostrophe before it, and so does one that begins with an apostrophe of its own; reading removes
one leading apostrophe. So every text comes back exactly.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...loaders.errors import Defect

SHEET_COLUMNS = ("id", "premise", "hypothesis", "answer")
#: Those of the full-width kind are formulas in spreadsheets of East Asia.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001
_MARK = "'"
#: A spreadsheet saves with the separator of its country.
_SEPARATORS = ",;\t"
_MAX_FIELD_CHARS = 1 << 30  # of csv, whose own limit of 128 KiB a text may pass


@dataclass(frozen=True, slots=True)
class Entry:
    """One pair in a file of answers, as it stands there.

    Attributes:
        line: Its line in the file, from 1; 0 where it has none.
        where: The place in a file without lines, e.g. ``"task 3"``; empty elsewhere.
        annotator: Who answered.
        key: The key of the pair in its batch.
        premise: The first sentence.
        hypothesis: The second sentence.
        answer: The answer; blank where there is none.
    """

    line: int
    where: str
    annotator: str
    key: str
    premise: str
    hypothesis: str
    answer: str


#: What a reader of answers gives: the entries, and what is wrong with the rest of the file.
Entries = tuple[list[Entry], list[Defect]]


def write_sheet(path: Path, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Writes a CSV file.

    Args:
        path: The file.
        names: Its columns.
        rows: Their texts, row by row.
    """
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(names)
        writer.writerows([_protected(cell) for cell in row] for row in rows)


def read_sheet(
    path: Path, columns: Sequence[str]
) -> tuple[list[tuple[int, dict[str, str]]], list[Defect]]:
    """Reads a CSV file as ``write_sheet`` writes it, or as a spreadsheet saves it after that.

    Args:
        path: The file; UTF-8, its cells separated by commas, semicolons or tabs. Blank rows, and
            columns other than those wanted, are passed over. A row that ends early has blank cells
            there: Excel leaves out separators at the end of a row.
        columns: The columns that are wanted.

    Returns:
        The rows with their lines, and the defects of the file; no rows where it is no such CSV.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return [], [Defect(str(path), 0, "", f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError:
        return [], [Defect(str(path), 0, "", "no CSV in UTF-8; save it as 'CSV UTF-8'")]
    first = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, dict[str, str]]] = []
    defects: list[Defect] = []
    line = 1
    before = csv.field_size_limit(_MAX_FIELD_CHARS)
    try:
        names = next(reader, [])
        if problem := _header_problem(names, columns):
            return [], [Defect(str(path), 1, "", problem)]
        while True:
            line = reader.line_num + 1
            cells = next(reader, None)
            if cells is None:
                return rows, defects
            if any(cells[len(names) :]):
                problem = f"{len(cells)} cells, expected {len(names)}"
                defects.append(Defect(str(path), line, "", problem))
            elif any(cells):
                cells += [""] * (len(names) - len(cells))
                texts = dict(zip(names, map(_unprotected, cells), strict=False))
                rows.append((line, {name: texts[name] for name in columns}))
    except csv.Error as error:
        return rows, [*defects, Defect(str(path), line, "", f"no CSV from here on: {error}")]
    finally:
        csv.field_size_limit(before)


def read_sheet_answers(path: Path) -> Entries:
    """Reads the sheet of an annotator, who is named by the file.

    Args:
        path: The file.

    Returns:
        Its entries, and what is wrong with the rest.
    """
    rows, defects = read_sheet(path, SHEET_COLUMNS)
    entries = [
        Entry(line, "", path.stem, row["id"], row["premise"], row["hypothesis"], row["answer"])
        for line, row in rows
    ]
    return entries, defects


def _protected(text: str) -> str:
    return _MARK + text if text.lstrip().startswith((_MARK, *_FORMULA_STARTS)) else text


def _unprotected(text: str) -> str:
    return text.removeprefix(_MARK)


def _header_problem(names: Sequence[str], columns: Sequence[str]) -> str:
    if missing := [name for name in columns if name not in names]:
        return f"no column {', '.join(missing)}; expected {', '.join(columns)}"
    if double := [name for name in columns if names.count(name) > 1]:
        return f"column {', '.join(double)} is there twice"
    return ""
