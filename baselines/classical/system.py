"""The lexicalized classifier as a run takes it."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ...loaders.errors import UnknownNameError
from ..evaluation.gold import Gold
from ..runs.config import RunConfig
from ..runs.folder import RunFolder
from ..training.execution import Execution
from ..training.predict import prediction_table
from .lexicalized import Lexicalized

#: What ``details`` of a run may hold: groups of features, in how many training hypotheses an n-gram
#: occurs at least, and the penalty.
DETAILS = ("groups", "min_count", "l2")


class LexicalizedSystem:
    """The lexicalized classifier, trained and tested; nothing in it is drawn.

    Args:
        config: The run.
        labels: The label set.
        folder: The run's folder.
        execution: Of it the number of processes.

    Raises:
        UnknownNameError: A detail or a group of features is unknown.
        UsageError: A detail is not as expected.
    """

    def __init__(
        self, config: RunConfig, labels: tuple[str, ...], folder: RunFolder, execution: Execution
    ) -> None:
        for name in config.details:
            if name not in DETAILS:
                raise UnknownNameError.of("detail of lexicalized", name, DETAILS)
        chosen = {name: config.details[name] for name in DETAILS if name in config.details}
        self._labels, self._folder, self._execution = labels, folder, execution
        self._model = Lexicalized(chosen.pop("groups", None), view=config.view, **chosen)

    def fit(self, train: Gold, validation: Gold | None) -> Mapping[str, Any]:
        """Trains it, unless the run has trained it before."""
        checkpoint = self._folder.checkpoint
        if checkpoint.is_dir():
            self._model = Lexicalized.load(checkpoint)
            return {"n_train": len(train.rows)}
        self._model.fit(
            train.rows["premise"].to_pylist(),
            train.rows["hypothesis"].to_pylist(),
            train.rows["label"].to_pylist(),
            len(self._labels),
            num_proc=self._execution.num_proc,
        )
        self._folder.save_checkpoint(self._model.save)
        return {"n_train": len(train.rows)}

    def predict(self, rows: Gold) -> pa.Table:
        """Predictions with probabilities."""
        found = self._model.probabilities(
            rows.rows["premise"].to_pylist(),
            rows.rows["hypothesis"].to_pylist(),
            num_proc=self._execution.num_proc,
        )
        return prediction_table(rows, found)

    def facts(self) -> Mapping[str, Any]:
        """The number of weights."""
        n_weights = (len(self._model.features.names) + 1) * len(self._labels)
        return {"n_parameters": n_weights, "n_trained": n_weights}
