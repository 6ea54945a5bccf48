"""A pretrained encoder with a head for the labels of a dataset."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from ...loaders.errors import ModelError
from ..evaluation.gold import Gold
from ..runs.config import RunConfig
from ..training.encoded import EncodedRows
from .labels import label_weights, named_labels
from .loading import load_classifier
from .reader import Reader


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
