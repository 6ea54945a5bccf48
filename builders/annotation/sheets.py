"""CSV that spreadsheets open and save without changing its texts.

Written in UTF-8 with a byte order mark, without which Excel assumes the encoding of the machine;
separated by commas; rows end in CRLF.

A spreadsheet runs a cell as a formula if its first character besides blanks is one of ``= + - @``.
Such a cell gets a leading apostrophe, and so does one that begins with an apostrophe of its own;
reading removes one leading apostrophe. So every text comes back exactly.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...loaders.errors import Defect

TEXTS = ("premise", "hypothesis")
ANSWER = "answer"
#: Sentences that people complete because the extraction of a paper had broken them.
COMPLETED = ("completed_premise", "completed_hypothesis")
#: Spreadsheets of East Asia take the full-width signs for formulas too.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001
_MARK = "'"
#: Spreadsheets save with the separator of their country.
_SEPARATORS = ",;\t"
_MAX_FIELD_CHARS = 1 << 30  # in place of csv's 128 KiB, which a text may exceed


@dataclass(frozen=True, slots=True)
class Entry:
    """One person's row in a file of answers.

    Attributes:
        line: Its line in the file, from 1; 0 where the file has no lines.
        where: The place in a file without lines, e.g. ``"task 3"``; empty elsewhere.
        person: Who answered.
        key: The key of the item.
        texts: Premise and hypothesis.
        cells: By column, ``answer`` or one of ``COMPLETED``, what they wrote.
    """

    line: int
    where: str
    person: str
    key: str
    texts: tuple[str, ...]
    cells: dict[str, str]


#: What a reader of answers returns: the entries, and the defects of the rest of the file.
Entries = tuple[list[Entry], list[Defect]]


def write_sheet(path: Path, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a sheet: a CSV file with column names and the texts of each row."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(names)
        writer.writerows([_protect(cell) for cell in row] for row in rows)


def read_sheet(
    path: Path, columns: Sequence[str], optional: Sequence[str] = (), mark: str = _MARK
) -> tuple[list[tuple[int, dict[str, str]]], list[Defect]]:
    """Read a sheet as ``write_sheet`` writes it, or as a spreadsheet saves it after that.

    Args:
        path: The file; UTF-8, its cells separated by commas, semicolons or tabs and quoted as in
            CSV, as spreadsheets do. Blank rows and other columns are ignored. The missing cells of
            a short row are blank: Excel leaves out separators at the end of a row.
        columns: The columns to read.
        optional: Further columns to read; blank where the file does not have them.
        mark: The sign that protects a cell; it is removed from its start.

    Returns:
        The rows with their lines, and the defects of the file; no rows where it is not such a CSV.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return [], [Defect(str(path), 0, "", f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError:
        return [], [Defect(str(path), 0, "", "not a CSV in UTF-8; save it as 'CSV UTF-8'")]
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, dict[str, str]]] = []
    defects: list[Defect] = []
    line = 1
    before = csv.field_size_limit(_MAX_FIELD_CHARS)
    try:
        names = next(reader, [])
        if missing := [name for name in columns if name not in names]:
            problem = f"no column {', '.join(missing)}; expected {', '.join(columns)}"
            return [], [Defect(str(path), 1, "", problem)]
        if double := [name for name in (*columns, *optional) if names.count(name) > 1]:
            return [], [Defect(str(path), 1, "", f"column {', '.join(double)} occurs twice")]
        while (line := reader.line_num + 1) and (cells := next(reader, None)) is not None:
            if any(cells[len(names) :]):
                problem = f"{len(cells)} cells, expected {len(names)}"
                defects.append(Defect(str(path), line, "", problem))
            elif any(cells):
                found = dict(zip(names, (cell.removeprefix(mark) for cell in cells), strict=False))
                rows.append((line, {name: found.get(name, "") for name in (*columns, *optional)}))
    except csv.Error as error:
        defects.append(Defect(str(path), line, "", f"not CSV from here on: {error}"))
    finally:
        csv.field_size_limit(before)
    return rows, defects


def _protect(text: str) -> str:
    return _MARK + text if text.lstrip().startswith((_MARK, *_FORMULA_STARTS)) else text
