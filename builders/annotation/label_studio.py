"""Label Studio: a labelling configuration for it, and the answers that it exports.

Source: Label Studio's documentation, pages "Label Studio Task Format", "Export" and the tags
Choices and Text; exports of Label Studio 1.23.2 in JSON, JSON-MIN, CSV and TSV.
"""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...loaders.errors import Defect
from ...loaders.json_text import parse_json
from .sheets import ANSWER, COMPLETED, TEXTS, Entries, Entry, read_sheet

#: Not "id", which is the task's own number in JSON-MIN.
KEY = "pair"
_PERSON = "annotator"
#: Choices beside the answer, where there may be several: read as ``ANSWER; ONE; ANOTHER``.
_FURTHER = "further"
#: By control, the field of its values.
_CONTROLS = {ANSWER: "choices", _FURTHER: "choices", **dict.fromkeys(COMPLETED, "text")}
#: Longest header that is looked at; that of an export has some 300 characters.
_MAX_HEADER_CHARS = 1 << 16
#: Columns of a table of Label Studio that no sheet has; where two stand, a deleted one is a defect.
_MARKS = {KEY, _PERSON, "annotation_id", "lead_time", "created_at", "updated_at"}

#: Who answered, and by control the values that they gave.
_Given = tuple[str, dict[str, list[str]]]


class _MalformedError(Exception):
    """A task does not have the form of its format."""


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


def is_label_studio_table(path: Path) -> bool:
    """Return whether a file has the columns of an export of Label Studio in CSV or TSV."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(_MAX_HEADER_CHARS)
    except (OSError, UnicodeDecodeError):
        return False
    columns = (set(next(csv.reader([first], delimiter=d), [])) for d in ",;\t")
    return any(len(_MARKS & names) > 1 for names in columns)


def read_label_studio_json(path: Path) -> Entries:
    """Read an export of Label Studio in JSON or JSON-MIN: its entries, and the defects of the rest.

    ``completed_by`` (JSON) or ``annotator`` (JSON-MIN) names the person: a number, or an object
    with a number or an address. A task that a person skipped has no answer from them; a task
    that nobody answered is left out.
    """
    try:
        records = parse_json(path.read_bytes())
    except OSError as error:
        return [], [Defect(str(path), 0, "", f"cannot be read: {error.strerror}")]
    except ValueError as error:
        return [], [Defect(str(path), 0, "", f"not JSON: {error}")]
    if not isinstance(records, list):
        return [], [Defect(str(path), 0, "", "expected a list of tasks, as JSON or JSON-MIN has")]
    return _read(path, ((0, f"task {n}", record) for n, record in enumerate(records, 1)))


def read_label_studio_table(path: Path) -> Entries:
    """Read an export of Label Studio in CSV or TSV: its entries, and the defects of the rest.

    It has a row for each task and person, with the data of the task and a column for every
    control that was used. Several choices are an object of JSON, ``{"choices": ["a", "b"]}``.
    Skipped tasks are not in it; a row without a person is a task that nobody answered.
    """
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
            entries += [Entry(line, where, *found) for found in _read_record(record)]
        except _MalformedError as error:
            defects.append(Defect(str(path), line, where, str(error)))
    return entries, defects


def _read_record(record: Any) -> list[tuple[str, str, tuple[str, ...], dict[str, str]]]:
    """Return person, key, texts and cells of a task's entries."""
    is_task = isinstance(record, dict) and "data" in record
    data = record["data"] if is_task else record
    if not isinstance(data, dict):
        raise _MalformedError(f"{'data: ' * is_task}expected an object, got {_shown(data)}")
    given = list(_in_task(record) if is_task else _in_record(record))
    for name in (KEY, *TEXTS):
        if not isinstance(data.get(name), str):
            raise _MalformedError(f"{name}: expected a text, got {_shown(data.get(name))}")
    texts = tuple(data[name] for name in TEXTS)
    return [(person, data[KEY], texts, _cells(values)) for person, values in given]


def _in_task(task: dict[str, Any]) -> Iterator[_Given]:
    if not isinstance(task.get("annotations"), list):
        raise _MalformedError("no annotations: is this the file of tasks, not an export?")
    for annotation in task["annotations"]:
        result = annotation.get("result") if isinstance(annotation, dict) else None
        if not isinstance(result, list):
            raise _MalformedError(f"no annotation with a result: {_shown(annotation)}")
        values: dict[str, list[str]] = {name: [] for name in _CONTROLS}
        # One that was skipped may hold what had been chosen before.
        for part in result if annotation.get("was_cancelled") is not True else ():
            if isinstance(part, dict) and part.get("from_name") in values:
                values[part["from_name"]] += _list_values(part["from_name"], part.get("value", {}))
        yield _person(annotation, "completed_by"), values


def _in_record(record: dict[str, Any]) -> Iterator[_Given]:
    """Read a record of JSON-MIN or of a table; one that nobody answered names no person."""
    values = {name: _list_values(name, record.get(name)) for name in _CONTROLS}
    if any(values.values()) or record.get(_PERSON, "") not in (None, ""):
        yield _person(record, _PERSON), values


def _list_values(name: str, value: Any) -> list[str]:
    """Return the values of a control: from a text, a list of texts, or an object with either."""
    found = value.get(_CONTROLS[name]) if isinstance(value, dict) else value or []
    found = [found] if isinstance(found, str) else found
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise _MalformedError(f"{name}: no list of {_CONTROLS[name]}: {_shown(value)}")
    return [one for one in found if one]


def _cells(values: dict[str, list[str]]) -> dict[str, str]:
    for name, found in values.items():
        if len(found) > 1 and name != _FURTHER:
            raise _MalformedError(f"{name}: expected one value, got {_shown(found)}")
    cells = {name: "".join(values[name]) for name in (ANSWER, *COMPLETED)}
    return cells | {ANSWER: "; ".join([cells[ANSWER], *values[_FURTHER]])}


def _person(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if isinstance(value, dict):
        value = value.get("id") or value.get("email")
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise _MalformedError(f"no {name}: the annotator is not known")
    return str(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
