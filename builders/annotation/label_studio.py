"""Label Studio: tasks and labelling configuration for it, and the answers that it exports.

Source: Label Studio's documentation, pages "Label Studio Task Format", "Export" and the tags
Choices and Text; the exporter ``label_studio_converter`` for JSON-MIN.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ...loaders.errors import Defect
from .completions import COLUMNS
from .sheets import Entries, Entry

#: Not "id", which is the task's own number in JSON-MIN.
KEY = "pair"
ANSWER = "answer"
#: Choices beside the answer, where there may be several: read as ``ANSWER; ONE; ANOTHER``.
FURTHER = "further"


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


def read_label_studio_answers(path: Path) -> Entries:
    """Read an export of Label Studio in JSON or JSON-MIN: its entries, and the defects of the rest.

    ``completed_by`` (JSON) or ``annotator`` (JSON-MIN) names the annotator: a number, or an object
    with a number or an address. A task that an annotator skipped has no answer from them.
    """
    try:
        records = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        return [], [Defect(str(path), 0, "", f"cannot be read: {error.strerror}")]
    except (ValueError, RecursionError) as error:
        return [], [Defect(str(path), 0, "", f"not JSON: {error}")]
    if not isinstance(records, list):
        return [], [Defect(str(path), 0, "", "expected a list of tasks, as JSON or JSON-MIN has")]
    entries: list[Entry] = []
    defects: list[Defect] = []
    for number, record in enumerate(records, 1):
        where = f"task {number}"
        try:
            entries += _entries(record, where)
        except _MalformedError as error:
            defects.append(Defect(str(path), 0, where, str(error)))
    return entries, defects


class _MalformedError(Exception):
    """A task does not have the form of its format."""


def _entries(record: Any, where: str) -> list[Entry]:
    if not isinstance(record, dict):
        raise _MalformedError(f"expected an object, got {_shown(record)}")
    if "data" in record:
        data, answers = record["data"], list(_in_json(record))
    else:
        data, answers = record, [_in_json_min(record)]
    if not isinstance(data, dict):
        raise _MalformedError(f"data: expected an object, got {_shown(data)}")
    key, premise, hypothesis = (_text(data, name) for name in (KEY, "premise", "hypothesis"))
    return [
        Entry(0, where, annotator, key, premise, hypothesis, answer, completed)
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


def _in_json_min(record: dict[str, Any]) -> _Given:
    """Read a task of JSON-MIN, which leaves out what was not chosen; one value is no list."""
    further = record.get(FURTHER, [])
    further = further.get("choices") if isinstance(further, dict) else further
    if not isinstance(further, str | list):
        raise _MalformedError(f"no list of choices: {_shown(record[FURTHER])}")
    answer = _only_one([record.get(ANSWER, "")], "choice")
    first, second = (_only_one([record.get(name, "")], "text") for name in COLUMNS)
    joined = _join(answer, [further] if isinstance(further, str) else further)
    return _annotator(record, "annotator"), joined, (first, second)


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
