"""Label Studio: tasks and labelling configuration for it, and the answers that it exports.

Source: Label Studio's documentation, pages "Label Studio Task Format", "Export" and the tags
Choices and Text; exports of Label Studio 1.23.2 in JSON, JSON-MIN, CSV and TSV.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...loaders.errors import Defect
from ...loaders.json_text import parse_json
from .completions import COLUMNS
from .sheets import Entries, Entry, read_sheet

#: Not "id", which is the task's own number in JSON-MIN.
KEY = "pair"
ANSWER = "answer"
#: Choices beside the answer, where there may be several: read as ``ANSWER; ONE; ANOTHER``.
FURTHER = "further"
_TEXTS = ("premise", "hypothesis")
_ANNOTATOR = "annotator"
#: Longest header that is looked at; that of an export has some 300 characters.
_MAX_HEADER_CHARS = 1 << 16
#: Columns of a table of Label Studio that no sheet has; where two stand, a deleted one is a defect.
_MARKS = {KEY, _ANNOTATOR, "annotation_id", "lead_time", "created_at", "updated_at"}


def label_studio_tasks(pairs: Iterable[tuple[str, str, str]]) -> list[dict[str, dict[str, str]]]:
    """Return the tasks of Label Studio, in its basic JSON format.

    Args:
        pairs: Key, premise and hypothesis of each pair.
    """
    return [
        {"data": {KEY: key, "premise": premise, "hypothesis": hypothesis}}
        for key, premise, hypothesis in pairs
    ]


def labelling_config(
    answers: Sequence[str], names: tuple[str, str], *, may_complete: bool = False
) -> str:
    """Return Label Studio's labelling configuration in XML: the two sentences, and one choice.

    Args:
        answers: The answers to choose among.
        names: The headings of the two sentences.
        may_complete: Whether there is a field for each sentence to complete it in.
    """
    view = ElementTree.Element("View")
    for name, shown in zip(("premise", "hypothesis"), names, strict=True):
        ElementTree.SubElement(view, "Header", value=shown)
        ElementTree.SubElement(view, "Text", name=name, value=f"${name}")
    choices = ElementTree.SubElement(
        view,
        "Choices",
        name=ANSWER,
        toName="hypothesis",
        choice="single",
        required="true",
        showInline="true",
    )
    for answer in answers:
        ElementTree.SubElement(choices, "Choice", value=answer)
    for name, sentence, shown in zip(COLUMNS, ("premise", "hypothesis"), names, strict=True):
        if may_complete:
            ElementTree.SubElement(view, "Header", value=f"{shown}, completed if it is broken")
            ElementTree.SubElement(
                view,
                "TextArea",
                name=name,
                toName=sentence,
                maxSubmissions="1",
                editable="true",
                rows="2",
            )
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def read_label_studio_json(path: Path) -> Entries:
    """Read an export of Label Studio in JSON or JSON-MIN: its entries, and the defects of the rest.

    ``completed_by`` (JSON) or ``annotator`` (JSON-MIN) names the annotator: a number, or an object
    with a number or an address. A task that an annotator skipped has no answer from them; a task
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
    entries: list[Entry] = []
    defects: list[Defect] = []
    for number, record in enumerate(records, 1):
        where = f"task {number}"
        try:
            entries += _entries(record, 0, where)
        except _MalformedError as error:
            defects.append(Defect(str(path), 0, where, str(error)))
    return entries, defects


def is_label_studio_table(path: Path) -> bool:
    """Return whether a file has the columns of an export of Label Studio in CSV or TSV."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(_MAX_HEADER_CHARS)
    except (OSError, UnicodeDecodeError):
        return False
    columns = (set(next(csv.reader([first], delimiter=d), [])) for d in ",;\t")
    return any(len(_MARKS & names) > 1 for names in columns)


def read_label_studio_table(path: Path) -> Entries:
    """Read an export of Label Studio in CSV or TSV: its entries, and the defects of the rest.

    It has a row for each task and annotator, with the data of the task and a column for every
    control that was used. Several choices are an object of JSON, ``{"choices": ["a", "b"]}``.
    Skipped tasks are not in it; a row without an annotator is a task that nobody answered.
    """
    required = (KEY, *_TEXTS, _ANNOTATOR)
    rows, defects = read_sheet(path, required, (ANSWER, FURTHER, *COLUMNS), is_protected=False)
    entries: list[Entry] = []
    for line, row in rows:
        record = {name: _parse_cell(cell) for name, cell in row.items() if cell}
        record |= {name: row[name] for name in (KEY, *_TEXTS)}
        try:
            entries += _entries(record, line, "")
        except _MalformedError as error:
            defects.append(Defect(str(path), line, "", str(error)))
    return entries, defects


def _parse_cell(cell: str) -> Any:
    """Return the object or the list of texts that a cell holds as JSON; else the text itself."""
    if not cell.startswith(("{", "[")):
        return cell
    try:
        value = parse_json(cell)
    except ValueError:
        return cell  # a sentence may begin with a bracket
    is_value = isinstance(value, dict) or all(isinstance(one, str) for one in value)
    return value if is_value else cell


class _MalformedError(Exception):
    """A task does not have the form of its format."""


def _entries(record: Any, line: int, where: str) -> list[Entry]:
    if not isinstance(record, dict):
        raise _MalformedError(f"expected an object, got {_shown(record)}")
    if "data" in record:
        data, answers = record["data"], list(_in_json(record))
    else:
        data, answers = record, list(_in_json_min(record))
    if not isinstance(data, dict):
        raise _MalformedError(f"data: expected an object, got {_shown(data)}")
    key, premise, hypothesis = (_text(data, name) for name in (KEY, *_TEXTS))
    return [
        Entry(line, where, annotator, key, premise, hypothesis, answer, completed)
        for annotator, answer, completed in answers
    ]


#: Who answered, the answer, and the completed sentences.
_Given = tuple[str, str, tuple[str, str]]


def _in_json(task: dict[str, Any]) -> Iterator[_Given]:
    annotations = task.get("annotations")
    if not isinstance(annotations, list):
        raise _MalformedError("no annotations: is this the file of tasks, not an export?")
    for annotation in annotations:
        if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
            raise _MalformedError(f"no annotation with a result: {_shown(annotation)}")
        annotator = _annotator(annotation, "completed_by")
        # One that was skipped may hold what had been chosen before.
        is_skipped = annotation.get("was_cancelled") is True
        result = [] if is_skipped else annotation["result"]
        answer = _only_one(_values_of(result, ANSWER, "choices"), "choice")
        further = _values_of(result, FURTHER, "choices")
        first, second = (_only_one(_values_of(result, name, "text"), "text") for name in COLUMNS)
        yield annotator, _join(answer, further), (first, second)


def _values_of(result: list[Any], name: str, field: str) -> list[Any]:
    """Return the values of a control in the result of an annotation."""
    found: list[Any] = []
    for part in result:
        if isinstance(part, dict) and part.get("from_name") == name:
            value = part.get("value")
            values = value.get(field) if isinstance(value, dict) else None
            if not isinstance(values, list):
                raise _MalformedError(f"no list of {field}: {_shown(part)}")
            found += values
    return found


def _in_json_min(record: dict[str, Any]) -> Iterator[_Given]:
    """Read a task of JSON-MIN, which leaves out what was not chosen; one value is no list.

    A task that nobody answered has null for its annotator.
    """
    controls = (ANSWER, FURTHER, *COLUMNS)
    if not any(map(record.get, controls)) and record.get(_ANNOTATOR, "") in (None, ""):
        return
    answer, further = (_list_values(record, name, "choices") for name in controls[:2])
    first, second = (_only_one(_list_values(record, name, "text"), "text") for name in COLUMNS)
    joined = _join(_only_one(answer, "choice"), further)
    yield _annotator(record, _ANNOTATOR), joined, (first, second)


def _list_values(record: dict[str, Any], name: str, field: str) -> list[Any]:
    """Return the values of a control in JSON-MIN: a text, a list, or an object with a list."""
    values = record.get(name) or []
    if isinstance(values, dict):
        values = values.get(field)
    if not isinstance(values, str | list):
        raise _MalformedError(f"{name}: no list of {field}: {_shown(record[name])}")
    return [values] if isinstance(values, str) else values


def _only_one(found: list[Any], what: str) -> str:
    """Return the only value; blank where there is none."""
    if len(found) > 1 or not all(isinstance(one, str) for one in found):
        raise _MalformedError(f"expected one {what}, got {_shown(found)}")
    return found[0] if found else ""


def _join(answer: str, further: list[Any]) -> str:
    if not all(isinstance(one, str) for one in further):
        raise _MalformedError(f"expected texts, got {_shown(further)}")
    return "; ".join([answer, *further])


def _annotator(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if isinstance(value, dict):
        value = value.get("id", value.get("email"))
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).strip():
        raise _MalformedError(f"no {name}: the annotator is not known")
    return str(value)


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise _MalformedError(f"{name}: expected a text, got {_shown(value)}")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
