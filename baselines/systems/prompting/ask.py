"""Ask a language model about every row once: answers are kept as they come, and asking resumes."""

import hashlib
import json
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from filelock import FileLock, Timeout

from ....loaders.errors import OutputError, UsageError
from ....loaders.json_text import parse_json
from ....loaders.progress import watch
from ...evaluation.gold import GoldRows, check_texts
from ...runs.config import RunConfig
from ...runs.folder import RunFolder
from .answers import count_reasons, read_answer
from .prompts import Message, Prompt, Shot, chat_messages, draw_exemplars, get_prompt, shot_turns

if TYPE_CHECKING:
    from ...training.execution import Execution

#: Keys of ``details`` of a run: the form of the prompt, the address of a server, further fields of
#: its requests, and options of a local model's chat template.
DETAILS = ("prompt", "server", "extra", "template_options")

_COLUMNS = ("id", "premise", "hypothesis")
_SCHEMA = pa.schema([(name, pa.string()) for name in ("id", "prediction", "answer", "reason")])


@dataclass(frozen=True)
class PromptQuestion:
    """A question about a row, by the row's id: the turns of a chat, of which the last one asks."""

    id: str
    messages: Sequence[Message]


@dataclass(frozen=True)
class Answer:
    """A model's answer to the question about a row, by the row's id; the text is unchanged."""

    id: str
    text: str


class Asker(Protocol):
    """A model that answers questions."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what the answers depend on, such as the model's name, as a JSON object."""

    def answers(self, questions: Sequence[PromptQuestion]) -> Generator[Answer, None, None]:
        """Yield an answer to each question, in any order, as soon as it arrives; ids are unique."""


def ask_model(
    rows: pa.Table, asker: Asker, prompt: Prompt, shots: Sequence[Shot], answers_file: Path
) -> pa.Table:
    """Ask a language model about every row, and read its answers.

    Every answer is added to a file as it comes. After an interruption the same call asks only about
    the rows without an answer in the file.

    Args:
        rows: n rows with the string columns ``id``, ``premise`` and ``hypothesis``.
        asker: The model.
        prompt: The prompt.
        shots: Exemplars in the order in which they are shown; empty for zero-shot.
        answers_file: JSON lines, new or not: first the settings, then an answer a line.

    Returns:
        n rows in the same order: ``id``; ``prediction``, a label's name, or null if the answer
        cannot be read; ``answer``, the text; ``reason``, one of ``answers.REASONS`` or null.

    Raises:
        SchemaError: A column is missing or does not hold strings, or an id is repeated.
        OutputError: The file has answers to other questions or is of another kind, or another
            process is writing to it.
        NLIHubError: The model cannot answer; earlier answers are kept.
    """
    questions = _questions(rows, prompt, shots)
    header = _header(asker, prompt, shots)
    with _alone(answers_file):
        known = _read_known(answers_file, header, questions)
        missing = [question for question in questions if question.id not in known]
        asked = {question.id: question for question in missing}
        progress = watch("asked", len(questions), "rows", n_done=len(known))
        answers = closing(asker.answers(missing))
        with answers_file.open("ab") as file, answers as arriving, progress as shown:
            if not file.tell():
                file.write(_line(header))
            for answer in arriving:
                text = _writable(answer.text)
                line = {"id": answer.id, "question": _digest(asked.pop(answer.id)), "answer": text}
                file.write(_line(line))
                file.flush()
                known[answer.id] = text
                shown.update(1)
    return _read(questions, known, prompt)


def _questions(rows: pa.Table, prompt: Prompt, shots: Sequence[Shot]) -> list[PromptQuestion]:
    check_texts(rows, "The table to ask about", _COLUMNS)
    turns = shot_turns(prompt, shots)
    columns = (rows[name].to_pylist() for name in _COLUMNS)
    return [
        PromptQuestion(id_, [*turns, *chat_messages(prompt, premise, hypothesis)])
        for id_, premise, hypothesis in zip(*columns, strict=True)
    ]


def _header(asker: Asker, prompt: Prompt, shots: Sequence[Shot]) -> dict[str, Any]:
    """Return what every answer depends on, and its digest."""
    settings = {
        **asker.settings,
        "prompt": prompt.name,
        "template": _hash(prompt.template),
        "shots": [shot.id for shot in shots],
        "shot_turns": _hash(json.dumps(shot_turns(prompt, shots))),
    }
    return {"digest": _hash(json.dumps(settings, sort_keys=True)), "settings": settings}


def _digest(question: PromptQuestion) -> str:
    return _hash(question.messages[-1]["content"])  # the other turns are in the header


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True).encode("ascii") + b"\n"


def _writable(text: str) -> str:
    """Replace half characters by ``?``, as where an answer was cut off within an emoji."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path.with_name(f".{path.name}.lock"), timeout=0):
            yield
    except Timeout:
        raise OutputError(
            f"Another process is adding answers to {path}. Wait for it, or name another file."
        ) from None


def _read_known(
    path: Path, header: Mapping[str, Any], questions: Sequence[PromptQuestion]
) -> dict[str, str]:
    """Read the file's answers by id, after cutting off an incomplete last line."""
    content = path.read_bytes() if path.exists() else b""
    whole, end, torn = content.rpartition(b"\n")
    if not end and not _line(header).startswith(torn):
        raise OutputError(f"{path} is not a file of answers. Name another one.")
    first, *lines = whole.split(b"\n")
    if end:
        _check_header(path, first, header)
    if torn:  # written when the process was ended
        os.truncate(path, len(whole) + len(end))
    digests = {question.id: _digest(question) for question in questions}
    known: dict[str, str] = {}
    for number, line in enumerate(lines, start=2):
        id_, digest, text = _parse(path, number, line)
        if id_ in known:
            raise OutputError(
                f"{path}:{number}: row {id_} has a second answer; expected one. Remove the line."
            )
        if digests.get(id_, digest) != digest:
            raise OutputError(
                f"{path}:{number}: row {id_} had other texts when it was asked about. Name another "
                "file."
            )
        if id_ in digests:
            known[id_] = text
    return known


def _check_header(path: Path, line: bytes, header: Mapping[str, Any]) -> None:
    try:
        found = parse_json(line)
        digest, settings = found["digest"], dict(found["settings"])
    except (ValueError, KeyError, TypeError):
        raise OutputError(
            f"{path}:1: expected the settings of the questions; this is not a file of answers. "
            "Name another one."
        ) from None
    if digest == header["digest"]:
        return
    now = json.loads(json.dumps(header["settings"]))
    differing = [
        f"{name} is {settings.get(name)!r} there, {now.get(name)!r} here"
        for name in sorted(settings.keys() | now.keys())
        if settings.get(name) != now.get(name)
    ]
    raise OutputError(
        f"{path} has answers to other questions: {'; '.join(differing)}. Name another file, or ask "
        "with the settings there."
    )


def _parse(path: Path, number: int, line: bytes) -> tuple[str, str, str]:
    try:
        found = parse_json(line)
        id_, digest, text = found["id"], found["question"], found["answer"]
    except (ValueError, KeyError, TypeError):
        id_ = digest = text = None
    if not (isinstance(id_, str) and isinstance(digest, str) and isinstance(text, str)):
        raise OutputError(
            f"{path}:{number}: expected a JSON object with id, question and answer. Remove the "
            "line, and its row is asked about again."
        )
    return id_, digest, text


def _read(
    questions: Sequence[PromptQuestion], known: Mapping[str, str], prompt: Prompt
) -> pa.Table:
    readings = [read_answer(known[question.id], prompt) for question in questions]
    return pa.table(
        [
            [question.id for question in questions],
            [None if each.label is None else prompt.labels[each.label] for each in readings],
            [known[question.id] for question in questions],
            [each.reason for each in readings],
        ],
        schema=_SCHEMA,
    )


class PromptSystem:
    """A language model prompted for labels, with one exemplar a class or with none.

    Args:
        config: The config of the run; ``n_shots`` is 0 or the number of labels.
        labels: The label set in the order of its ids.
        folder: The run's folder, where every answer is kept as it comes.
        execution: Device and precision of a local model.

    Raises:
        UnknownNameError: There is no such detail or form of prompt.
        UsageError: There is no prompt for these labels, or the number of shots is neither 0 nor
            that of the labels.
    """

    def __init__(
        self, config: RunConfig, labels: tuple[str, ...], folder: RunFolder, execution: "Execution"
    ) -> None:
        config.checked_details("a prompt", DETAILS)
        if config.n_shots not in (None, 0, len(labels)):
            raise UsageError(
                f"n_shots is {config.n_shots}; expected 0, or {len(labels)} for one exemplar a "
                "class."
            )
        self._config, self._labels, self._folder = config, labels, folder
        self._execution = execution
        self._prompt = get_prompt(str(config.details.get("prompt", "p1")), labels)
        self._shots: tuple[Shot, ...] = ()
        self._reasons: dict[str, dict[str, int]] = {}

    def fit(self, train: GoldRows, validation: GoldRows | None) -> Mapping[str, Any]:
        """Draw the exemplars from the training rows."""
        self._shots = draw_exemplars(train.rows, self._labels, self._config.seed)
        return {"shots": [shot.id for shot in self._shots]}

    def predict(self, rows: GoldRows) -> pa.Table:
        """Ask about every row without an answer; unreadable answers have no prediction."""
        key = rows.key
        path = self._folder.path / f"answers-{key}.jsonl"
        shown = {shot.id for shot in self._shots} & set(rows.rows["id"].to_pylist())
        if shown:
            raise UsageError(
                f"The exemplars {', '.join(sorted(shown))} are among the test rows. Draw them from "
                "another split."
            )
        found = ask_model(rows.rows, self._asker, self._prompt, self._shots, path)
        self._reasons[key] = count_reasons(found["reason"].to_pylist())
        return found

    @cached_property
    def _asker(self) -> Asker:
        config, details = self._config, self._config.details
        if details.get("server"):
            from .server import ChatServer

            extra = details.get("extra", {})
            return ChatServer(str(details["server"]), str(config.model), extra=extra)
        from .local import LocalModel

        return LocalModel.load(
            str(config.model),
            revision=config.revision,
            device=str(self._execution.accelerator.device),
            precision="bf16" if self._execution.is_bf16 else "fp32",
            template_options=details.get("template_options"),
        )

    def facts(self) -> Mapping[str, Any]:
        """Return how many answers of each test set could not be read, and why."""
        return {"unread": self._reasons}
