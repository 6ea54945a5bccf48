"""A classifier as it is, its labels aligned by name."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import torch

from ..gold import Gold
from ..runs.config import RunConfig
from ..runs.record import model_facts
from ..training.execution import Execution
from ..training.predict import predict, prediction_table
from .encoder import (
    check_length,
    check_padding,
    encode,
    load_classifier,
    load_config_and_tokenizer,
    max_tokens_of,
    pretrained_facts,
)
from .labels import label_weights, named_labels


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
        self._config, self._execution = config, execution
        name = str(config.model)
        model_config, self._tokenizer = load_config_and_tokenizer(name, config.revision)
        check_padding(name, self._tokenizer)
        check_length(name, model_config, config.options.max_length)
        self._weights = label_weights(named_labels(model_config, config.model_labels), labels)
        self._inner = load_classifier(name, config.revision).eval()
        self._limit = max_tokens_of(model_config)
        self._facts = pretrained_facts(model_config, self._tokenizer)
        self._n_truncated: dict[str, int] = {}

    def fit(self, train: Gold, validation: Gold | None) -> Mapping[str, Any]:
        """Nothing is trained."""
        return {}

    def predict(self, rows: Gold) -> pa.Table:
        """Predictions with the probabilities of the dataset's labels."""
        encoded = encode(
            rows,
            self._tokenizer,
            view=self._config.view,
            max_length=self._config.options.max_length,
            truncation=self._config.options.truncation,
            limit=self._limit,
            n_truncated=self._n_truncated,
        )
        self._inner.to(self._execution.accelerator.device)

        def logits(**inputs: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self._inner(**inputs).logits
            return found

        found = predict(logits, encoded, len(self._weights), self._execution)
        return prediction_table(rows, found @ self._weights)

    def facts(self) -> Mapping[str, Any]:
        """What was pretrained, and the numbers of parameters and of rows that were cut."""
        found = {"pretrained": self._facts, "truncated": dict(self._n_truncated)}
        return {**model_facts(self._inner), "n_trained": 0, **found}
