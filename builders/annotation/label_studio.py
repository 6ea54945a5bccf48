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
from .candidates import UNCLEAR
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


def labelling_config(labels: Sequence[str], names: tuple[str, str]) -> str:
    """Return Label Studio's labelling configuration in XML: the two sentences, and one choice.

    Args:
        labels: The label set; "unclear" is added as the last choice.
        names: The headings of the two sentences.
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
    for label in (*labels, UNCLEAR):
        ElementTree.SubElement(choices, "Choice", value=label)
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
        Entry(0, where, annotator, key, premise, hypothesis, answer)
        for annotator, answer in answers
    ]


def _in_json(task: dict[str, Any]) -> Iterator[tuple[str, str]]:
    annotations = task.get("annotations")
    if not isinstance(annotations, list):
        raise _MalformedError("no annotations: is this the file of tasks, not an export?")
    for annotation in annotations:
        if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
            raise _MalformedError(f"no annotation with a result: {_shown(annotation)}")
        annotator = _annotator(annotation, "completed_by")
        # One that was skipped may hold what had been chosen before.
        is_skipped = annotation.get("was_cancelled") is True
        yield annotator, "" if is_skipped else _chosen(annotation["result"])


def _chosen(result: list[Any]) -> str:
    """Return the choice in the result of an annotation; blank where there is none."""
    found: dict[Any, list[Any]] = {ANSWER: [], FURTHER: []}
    for part in result:
        if isinstance(part, dict) and part.get("from_name") in found:
            value = part.get("value")
            choices = value.get("choices") if isinstance(value, dict) else None
            if not isinstance(choices, list):
                raise _MalformedError(f"no list of choices: {_shown(part)}")
            found[part["from_name"]] += choices
    if len(found[ANSWER]) > 1:
        raise _MalformedError(f"expected one choice, got {_shown(found[ANSWER])}")
    return _joined(found[ANSWER], found[FURTHER])


def _in_json_min(record: dict[str, Any]) -> tuple[str, str]:
    answer = record.get(ANSWER, "")  # left out where nothing was chosen
    further = record.get(FURTHER, [])  # a text where one was chosen
    choices = further.get("choices") if isinstance(further, dict) else further
    if isinstance(choices, str):
        choices = [choices]
    if not isinstance(choices, list):
        raise _MalformedError(f"no list of choices: {_shown(further)}")
    return _annotator(record, "annotator"), _joined([] if answer == "" else [answer], choices)


def _joined(answer: list[Any], further: list[Any]) -> str:
    if not all(isinstance(choice, str) for choice in (*answer, *further)):
        raise _MalformedError(f"expected one choice, got {_shown([*answer, *further])}")
    return "; ".join([*(answer or [""]), *further])


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
