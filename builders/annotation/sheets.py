"""What people fill in: sheets in CSV, and tasks of Label Studio.

A spreadsheet opens and saves a sheet without changing its texts: UTF-8 with a byte order mark,
without which Excel assumes the encoding of the machine; separated by commas; rows end in CRLF. It
runs a cell as a formula if its first character besides blanks is one of ``= + - @``. Such a cell
gets a leading apostrophe, and so does one that begins with an apostrophe of its own; reading
removes one leading apostrophe. So every text comes back exactly.

Source: Label Studio's documentation, pages "Label Studio Task Format", "Export" and the tags
Choices and Text; exports of Label Studio 1.23.2 in JSON, JSON-MIN, CSV and TSV.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...loaders.errors import Defect
from ...loaders.json_text import parse_json

TEXTS = ("premise", "hypothesis")
ANSWER = "answer"
#: Sentences that people complete because the extraction of a paper had broken them.
COMPLETED = ("completed_premise", "completed_hypothesis")
#: Spreadsheets of East Asia take the full-width signs for formulas too.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001
_MARK = "'"
#: Spreadsheets save with the separator of their country.
_SEPARATORS = ",;\t"

#: Not "id", which is the task's own number in JSON-MIN.
KEY = "pair"
_PERSON = "annotator"
#: Choices beside the answer, where there may be several: read as ``ANSWER; ONE; ANOTHER``.
_FURTHER = "further"
#: By control, the field of its values.
_CONTROLS = {ANSWER: "choices", _FURTHER: "choices", **dict.fromkeys(COMPLETED, "text")}
#: Longest header that is looked at; that of an export has some 300 characters.
_MAX_HEADER_CHARS = 1 << 16


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
                row = dict(zip(names, (cell.removeprefix(mark) for cell in cells), strict=False))
                rows.append((line, {name: row.get(name, "") for name in (*columns, *optional)}))
    except csv.Error as error:
        defects.append(Defect(str(path), line, "", f"not CSV from here on: {error}"))
    return rows, defects


def _protect(text: str) -> str:
    return _MARK + text if text.lstrip().startswith((_MARK, *_FORMULA_STARTS)) else text


# ------------------------------------------------------------------------------------- Label Studio


def labelling_config(
    headings: Mapping[str, str], answers: Mapping[str, str], *, several: bool, may_complete: bool
) -> str:
    """Return Label Studio's labelling configuration in XML.

    Args:
        headings: By column that people see, its heading.
        answers: By answer, its meaning; may be empty.
        several: Whether further answers may be chosen beside the one.
        may_complete: Whether there is a field for each sentence to complete it in.
    """
    view = ElementTree.Element("View")

    def add(heading: str, tag: str, **attributes: str) -> ElementTree.Element:
        ElementTree.SubElement(view, "Header", value=heading)
        return ElementTree.SubElement(view, tag, attributes)

    for name, heading in headings.items():
        add(heading, "Text", name=name, value=f"${name}")
    controls = {ANSWER: ("Answer", "single"), _FURTHER: ("Further answers, if any", "multiple")}
    for name, (heading, choice) in list(controls.items())[: 1 + several]:
        is_required = str(name == ANSWER).lower()
        choices = add(
            heading, "Choices", name=name, toName=TEXTS[1], choice=choice, required=is_required
        )
        for answer, meaning in answers.items():
            ElementTree.SubElement(choices, "Choice", value=answer, hint=meaning)
    for name, text in zip(COMPLETED, TEXTS, strict=True) if may_complete else ():
        heading = f"{headings[text]}, completed if it is broken"
        field = add(heading, "TextArea", name=name, toName=text, rows="2", editable="true")
        field.set("maxSubmissions", "1")
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def read_label_studio(path: Path) -> Entries | None:
    """Read an export of Label Studio: its entries, and the defects of the rest.

    ``completed_by`` (JSON) or ``annotator`` (JSON-MIN, tables) names the person: a number, or an
    object with a number or an address. A task that a person skipped has no answer from them; a
    task that nobody answered is left out. In a table several choices are an object of JSON,
    ``{"choices": ["a", "b"]}``.

    Returns:
        None where the file is neither JSON nor a table with the columns of an export.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _read_json(path)
    return _read_table(path) if suffix in (".csv", ".tsv") and _is_table(path) else None


def _is_table(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return "lead_time" in file.readline(_MAX_HEADER_CHARS)
    except (OSError, UnicodeDecodeError):
        return False


def _read_json(path: Path) -> Entries:
    try:
        records = parse_json(path.read_bytes())
    except OSError as error:
        return [], [Defect(str(path), 0, "", f"cannot be read: {error.strerror}")]
    except ValueError as error:
        return [], [Defect(str(path), 0, "", f"not JSON: {error}")]
    if not isinstance(records, list):
        return [], [Defect(str(path), 0, "", "expected a list of tasks, as JSON or JSON-MIN has")]
    return _read(path, ((0, f"task {n}", record) for n, record in enumerate(records, 1)))


def _read_table(path: Path) -> Entries:
    rows, defects = read_sheet(path, (KEY, *TEXTS, _PERSON), tuple(_CONTROLS), mark="")
    records = (
        (line, "", row | {name: _parse_cell(row[name]) for name in (*_CONTROLS, _PERSON)})
        for line, row in rows
    )
    entries, malformed = _read(path, records)
    return entries, defects + malformed


def _parse_cell(cell: str) -> Any:
    """Return the object or the list of texts that a cell holds as JSON; else the text itself."""
    try:
        value = parse_json(cell)
    except ValueError:
        return cell  # a sentence may begin with a bracket
    is_texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return value if is_texts or isinstance(value, dict) else cell


def _read(path: Path, records: Iterator[tuple[int, str, Any]]) -> Entries:
    entries: list[Entry] = []
    defects: list[Defect] = []
    for line, where, record in records:
        try:
            data = record.get("data", record)
            key, *texts = (_text(data[name]) for name in (KEY, *TEXTS))
            answers = list(_in_task(record) if "data" in record else _in_record(record))
            entries += [Entry(line, where, person, key, tuple(texts), c) for person, c in answers]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            problem = f"not as Label Studio exports an answer: {type(error).__name__} {error}"
            defects.append(Defect(str(path), line, where, problem))
    return entries, defects


def _in_task(task: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    if "annotations" not in task:
        raise ValueError("no annotations: is this the file of tasks, not an export?")
    for annotation in task["annotations"]:
        values: dict[str, Any] = {name: [] for name in _CONTROLS}
        # One that was skipped may hold what had been chosen before.
        for part in annotation["result"] if annotation.get("was_cancelled") is not True else ():
            if part["from_name"] in values:
                values[part["from_name"]] += part["value"][_CONTROLS[part["from_name"]]]
        yield _person(annotation["completed_by"]), _cells(values)


def _in_record(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Read a record of JSON-MIN or of a table; one that nobody answered names no person."""
    if any(record.get(name) for name in (*_CONTROLS, _PERSON)):
        yield _person(record[_PERSON]), _cells(record)


def _cells(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of a sheet: a control has a text, a list of texts, or an object."""
    texts: dict[str, list[str]] = {}
    for name, field in _CONTROLS.items():
        value = values.get(name) or []
        found = value[field] if isinstance(value, dict) else value
        texts[name] = [_text(one) for one in ([found] if isinstance(found, str) else found) if one]
        if len(texts[name]) > 1 and name != _FURTHER:
            raise ValueError(f"{name}: expected one value, got {texts[name]!r}")
    cells = {name: "".join(texts[name]) for name in (ANSWER, *COMPLETED)}
    return cells | {ANSWER: "; ".join([cells[ANSWER], *texts[_FURTHER]])}


def _person(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("id") or value.get("email")
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise ValueError("the annotator is not known")
    return str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r:.80}")
    return value
