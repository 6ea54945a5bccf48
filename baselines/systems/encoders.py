"""A pretrained encoder with a head for the labels of a dataset."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from ...builders.core.harmonize import SCHEMES
from ...loaders.errors import ModelError
from ..evaluation.gold import Gold
from ..evaluation.predictions import prediction_table
from ..runs.config import RunConfig
from ..runs.record import model_facts
from ..training.batches import EncodedRows
from ..training.execution import Execution
from ..training.predict import predict
from .pretrained import load_classifier
from .tokens import Reader


class Encoder:
    """An encoder to fine-tune.

    A model without a head for classification gets a new one, drawn from the seed. A classifier
    keeps its head, whose labels have to be those of the dataset, in any order.

    Args:
        config: The run: model, revision, view, options, seed, and what of its head is to be used.
        labels: The dataset's labels in the order of their ids.

    Raises:
        ModelError: Its labels are others, its tokenizer cannot pad, it reads fewer tokens than
            ``max_length``, or its layers cannot be told apart where only some are to be trained.
        SourceNotFoundError: There is no such model at hand.
    """

    def __init__(self, config: RunConfig, labels: tuple[str, ...]) -> None:
        name, options = str(config.model), config.options
        self.labels = labels
        self.reader = reader = Reader(config)
        torch.manual_seed(config.seed)  # of a new head and new tokens
        has_head = any(
            "SequenceClassification" in kind for kind in reader.config.architectures or ()
        )
        if has_head and not config.new_head:
            inner = load_classifier(name, config.revision)
            weights = label_weights(named_labels(reader.config, config.model_labels), labels)
            if weights.shape[0] != weights.shape[1]:
                raise ModelError(
                    f"{name} has {weights.shape[0]} labels and the dataset has {len(labels)}: its "
                    "head cannot be trained further. Start with a new one: --new-head."
                )
            order = [int(row) for row in weights.argmax(axis=0)]
        else:
            ids = dict(enumerate(labels))
            inner = load_classifier(name, config.revision, id2label=ids, new_head=config.new_head)
            order = list(range(len(labels)))
        if options.special_tokens:
            new = {"additional_special_tokens": list(options.special_tokens)}
            reader.tokenizer.add_special_tokens(new)
            inner.resize_token_embeddings(len(reader.tokenizer), mean_resizing=False)
        if options.n_trained_layers is not None:
            _freeze(name, inner, options.n_trained_layers)
        reader.tell_padding(inner)
        self.inner, self._has_new_head = inner, config.new_head or not has_head
        self.model: torch.nn.Module = _LabelLogits(inner, order)

    def encode(self, rows: Gold) -> EncodedRows:
        """The inputs of the model for rows with texts."""
        return self.reader.encode(rows)

    def save(self, folder: Path) -> None:
        """Writes the model and its tokenizer as ``transformers`` does."""
        self.inner.save_pretrained(folder)
        self.reader.tokenizer.save_pretrained(folder)

    def load(self, folder: Path) -> None:
        """Takes the weights that ``save`` wrote."""
        kept = load_classifier(str(folder), None)
        self.inner.load_state_dict(kept.state_dict())

    def facts(self) -> Mapping[str, Any]:
        """What was pretrained, whether its head was, and how many rows were cut."""
        return {**self.reader.facts(), "new_head": self._has_new_head}


class _LabelLogits(torch.nn.Module):
    """A classifier of ``transformers`` whose logits are in the order of a dataset's labels."""

    order: torch.Tensor

    def __init__(self, inner: Any, order: Sequence[int]) -> None:
        super().__init__()
        self.inner = inner
        self.register_buffer("order", torch.tensor(order), persistent=False)

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.inner(**inputs).logits
        return logits[:, self.order]


def _freeze(name: str, model: Any, n_layers: int) -> None:
    """Trains the top layers and the head alone; embeddings and the pooler stay as they are."""
    encoder = model.base_model
    stacks = [
        stack
        for stack in encoder.modules()
        if isinstance(stack, torch.nn.ModuleList)
        and len(stack) == getattr(model.config, "num_hidden_layers", -1)
    ]
    if len(stacks) != 1:
        raise ModelError(f"The layers of {name} cannot be told apart, so all have to be trained.")
    if n_layers > len(stacks[0]):
        raise ModelError(f"{name} has {len(stacks[0])} layers; {n_layers} are to be trained.")
    encoder.requires_grad_(False)
    for layer in stacks[0][len(stacks[0]) - n_layers :]:
        layer.requires_grad_(True)


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


def named_labels(config: Any, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The labels of a classifier, in lower-case letters, in the order of its ids.

    Args:
        config: Its configuration, from ``transformers``.
        given: The labels, where its own configuration does not name them.

    Raises:
        ModelError: They are not named, or not as many as the classifier has.
    """
    id2label = {int(index): str(label) for index, label in (config.id2label or {}).items()}
    own = [id2label[index] for index in sorted(id2label)]
    if given:
        if len(given) != len(own):
            raise ModelError(
                f"The model has {len(own)} labels; {len(given)} were given: {', '.join(given)}."
            )
        return tuple(_plain(label) for label in given)
    if all(re.fullmatch(r"LABEL_\d+", label) for label in own):
        raise ModelError(
            f"The model does not name its {len(own)} labels ({', '.join(own)}). Name them in the "
            "order of its ids, as its card says, with --model-labels."
        )
    return tuple(_plain(label) for label in own)


def label_weights(model: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    """What each label of a model means for each label of a dataset.

    The labels are either the same, in some order, or the dataset tells entailment from the rest,
    and every label of the model is entailment or not; then the probabilities of those that are not
    add up.

    Args:
        model: m labels, in the order of the model's ids.
        labels: n labels, in the order of the dataset's ids.

    Returns:
        m x n zeros and ones, by which the model's probabilities are multiplied.

    Raises:
        ModelError: The labels cannot be aligned.
    """
    wanted = [_plain(label) for label in labels]
    if len(set(model)) == len(model) and set(model) == set(wanted):
        meant = list(model)
    else:
        scheme = SCHEMES["entailment"]
        if set(wanted) != set(scheme.labels) or not set(model) <= set(scheme.names):
            raise ModelError(
                f"The model's labels ({', '.join(model)}) cannot be aligned with the dataset's "
                f"({', '.join(labels)})."
            )
        meant = [scheme.names[label] for label in model]
    return np.array([[float(name == own) for name in wanted] for own in meant])


def _plain(label: str) -> str:
    return re.sub(r"[\s-]+", "_", label.strip().lower())
