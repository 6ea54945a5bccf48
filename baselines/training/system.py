"""Models that the training loop trains, as the systems of baseline runs."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from ...loaders.progress import Tell
from ..evaluation.gold import GoldRows
from ..evaluation.predictions import prediction_table
from ..runs.config import RunConfig
from ..runs.folder import RunFolder
from .execution import Execution
from .loop import Trainable, Training
from .predict import predict_probabilities


def count_parameters(model: Any) -> dict[str, int]:
    """Count the parameters of a model, and those that are trained."""
    parameters = list(model.parameters())
    return {
        "n_parameters": sum(p.numel() for p in parameters),
        "n_trained": sum(p.numel() for p in parameters if p.requires_grad),
    }


class TrainedSystem:
    """A model that reads padded token ids, trained by the training loop.

    Args:
        make: Makes the model from the training rows.
        config: The config of the run.
        labels: The label set in the order of its ids.
        folder: The run's folder.
        execution: Device and precision of the computation.
        tell: Receives a message about every epoch.
    """

    def __init__(
        self,
        make: Callable[[GoldRows], Trainable],
        config: RunConfig,
        labels: tuple[str, ...],
        folder: RunFolder,
        execution: Execution,
        tell: Tell,
    ) -> None:
        self._make, self._config, self._labels = make, config, labels
        self._folder, self._execution, self._tell = folder, execution, tell
        self._trainable: Trainable

    def fit(self, train: GoldRows, validation: GoldRows | None) -> Mapping[str, Any]:
        """Train the model; without training rows it stays as it is."""
        trainable = self._trainable = self._make(train)
        if not len(train.rows):
            trainable.model.to(self._execution.accelerator.device).eval()
            if trainable.facts().get("new_head", True):
                self._tell("without training rows, its new head is tested as it was drawn")
            return {"best_epoch": 0, "n_epochs": 0, "n_train": 0}
        encoded = trainable.encode(train)
        fitted = Training(
            trainable,
            encoded,
            trainable.encode(validation) if validation is not None else None,
            self._config.options,
            self._folder,
            seed=self._config.seed,
            execution=self._execution,
            tell=self._tell,
        ).run()
        return {
            "best_epoch": fitted.best_epoch,
            "n_epochs": fitted.n_epochs,
            "n_train": len(encoded),
            "training_seconds": round(fitted.seconds, 3),
            "pairs_per_s": round(fitted.pairs_per_s, 3),
            "compiled": fitted.is_compiled,
            "hardly_learned": fitted.hardly_learned,
            "mean_tokens": round(float(encoded.lengths.mean()), 2),
            "dynamics": fitted.dynamics,
        }

    def predict(self, rows: GoldRows) -> pa.Table:
        """Predict labels, with probabilities."""
        encoded = self._trainable.encode(rows)
        found = predict_probabilities(
            self._trainable.model, encoded, len(self._labels), self._execution
        )
        return prediction_table(rows, found)

    def facts(self) -> Mapping[str, Any]:
        """Return the number of parameters, and the facts of the model."""
        return {**count_parameters(self._trainable.model), **self._trainable.facts()}
