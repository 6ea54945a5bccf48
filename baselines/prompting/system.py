"""A prompted language model as a run takes it."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ...loaders.errors import UnknownNameError, UsageError
from ..data import key_of
from ..evaluation.gold import Gold
from ..runs.config import RunConfig
from ..runs.folder import RunFolder
from ..training.execution import Execution
from .answers import count_reasons
from .ask import Asker, ask
from .prompts import get_prompt
from .shots import Shot, draw_shots

#: What ``details`` of a run may hold: the form of the prompt, and the address of a server.
DETAILS = ("prompt", "server", "extra", "template_options")


class PromptSystem:
    """A language model that is asked for labels, with one exemplar a class or with none.

    Args:
        config: The run; ``n_shots`` is 0 or the number of labels.
        labels: The label set.
        folder: The run's folder, where every answer is kept as it comes.
        execution: How a local model computes.

    Raises:
        UsageError: There is no prompt for these labels, or no such number of shots.
        UnknownNameError: A detail is unknown.
    """

    def __init__(
        self, config: RunConfig, labels: tuple[str, ...], folder: RunFolder, execution: Execution
    ) -> None:
        for name in config.details:
            if name not in DETAILS:
                raise UnknownNameError.of("detail of a prompt", name, DETAILS)
        if config.n_shots not in (None, 0, len(labels)):
            raise UsageError(f"n_shots is {config.n_shots}; expected 0 or {len(labels)}.")
        self._config, self._labels, self._folder = config, labels, folder
        self._execution = execution
        self._prompt = get_prompt(str(config.details.get("prompt", "p1")), labels)
        self._shots: tuple[Shot, ...] = ()
        self._reasons: dict[str, dict[str, int]] = {}
        self._asker: Asker | None = None

    def fit(self, train: Gold, validation: Gold | None) -> Mapping[str, Any]:
        """Draws the exemplars."""
        self._shots = draw_shots(train.rows, self._labels, self._config.seed)
        return {"shots": [shot.id for shot in self._shots]}

    def predict(self, rows: Gold) -> pa.Table:
        """Asks about every row that is not answered yet; what cannot be read has no prediction."""
        key = key_of(rows)
        path = self._folder.path / f"answers-{key}.jsonl"
        shown = {shot.id for shot in self._shots} & set(rows.rows["id"].to_pylist())
        if shown:
            raise UsageError(f"Exemplars would be tested too: {', '.join(sorted(shown))}.")
        found = ask(rows.rows, self._loaded(), self._prompt, self._shots, path)
        self._reasons[key] = count_reasons(found["reason"].to_pylist())
        return found

    def _loaded(self) -> Asker:
        if self._asker is None:
            config, details = self._config, self._config.details
            if details.get("server"):
                from .server import ChatServer

                extra = details.get("extra", {})
                self._asker = ChatServer(str(details["server"]), str(config.model), extra=extra)
            else:
                from .local import LocalModel

                self._asker = LocalModel.load(
                    str(config.model),
                    revision=config.revision,
                    device=str(self._execution.accelerator.device),
                    precision="bf16" if self._execution.is_bf16 else "fp32",
                    template_options=details.get("template_options"),
                )
        return self._asker

    def facts(self) -> Mapping[str, Any]:
        """How many answers could not be read, and why."""
        return {"unread": self._reasons}
