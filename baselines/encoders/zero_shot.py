"""A classifier as it is, its labels aligned by name."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import torch

from ..evaluation.gold import Gold
from ..runs.config import RunConfig
from ..runs.record import model_facts
from ..training.execution import Execution
from ..training.predict import predict, prediction_table
from .labels import label_weights, named_labels
from .loading import load_classifier
from .reader import Reader


class ZeroShot:
    """An NLI classifier that is not trained here.

    Args:
        config: The run: model, revision, view, and of its options length and truncation.
        labels: The dataset's labels in the order of their ids.
        execution: How to compute.

    Raises:
        ModelError: Its labels cannot be aligned, its tokenizer cannot pad, or it reads fewer tokens
            than ``max_length``.
        SourceNotFoundError: There is no such model at hand.

    Source: SpaceNLI, section 4.2.1.
    """

    def __init__(self, config: RunConfig, labels: tuple[str, ...], execution: Execution) -> None:
        self._execution, self._reader = execution, Reader(config)
        own = named_labels(self._reader.config, config.model_labels)
        self._weights = label_weights(own, labels)
        self._inner = load_classifier(str(config.model), config.revision).eval()
        self._reader.tell_padding(self._inner)

    def fit(self, train: Gold, validation: Gold | None) -> Mapping[str, Any]:
        """Nothing is trained."""
        return {}

    def predict(self, rows: Gold) -> pa.Table:
        """Predictions with the probabilities of the dataset's labels."""
        encoded = self._reader.encode(rows)
        self._inner.to(self._execution.accelerator.device)

        def logits(**inputs: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self._inner(**inputs).logits
            return found

        found = predict(logits, encoded, len(self._weights), self._execution)
        return prediction_table(rows, found @ self._weights)

    def facts(self) -> Mapping[str, Any]:
        """What was pretrained, and the numbers of parameters and of rows that were cut."""
        return {**model_facts(self._inner), "n_trained": 0, **self._reader.facts()}
