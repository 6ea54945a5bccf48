"""A pretrained encoder with a head for the labels of a dataset."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from ...loaders.errors import ModelError, SourceNotFoundError
from ..gold import Gold
from ..runs.config import RunConfig
from ..training.encoded import EncodedRows
from .labels import label_weights, named_labels
from .tokens import tokenize


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
        self.labels, self._options, self._view = labels, options, config.view
        model_config, self.tokenizer = load_config_and_tokenizer(name, config.revision)
        check_padding(name, self.tokenizer)
        check_length(name, model_config, options.max_length)
        torch.manual_seed(config.seed)  # of a new head and new tokens
        has_head = any(
            "SequenceClassification" in kind for kind in model_config.architectures or ()
        )
        if has_head and not config.new_head:
            inner = load_classifier(name, config.revision)
            weights = label_weights(named_labels(model_config, config.model_labels), labels)
            if weights.shape[0] != weights.shape[1]:
                raise ModelError(
                    f"{name} has {weights.shape[0]} labels and the dataset has {len(labels)}: its "
                    "head cannot be trained further. Start with a new one: --new-head."
                )
            order = [int(row) for row in weights.argmax(axis=0)]
        else:
            ids = dict(enumerate(labels))
            inner = load_classifier(name, config.revision, id2label=ids)
            _draw_head(inner)
            order = list(range(len(labels)))
        if options.special_tokens:
            new = {"additional_special_tokens": list(options.special_tokens)}
            self.tokenizer.add_special_tokens(new)
            inner.resize_token_embeddings(len(self.tokenizer), mean_resizing=False)
        if options.n_trained_layers is not None:
            _freeze(name, inner, options.n_trained_layers)
        self.inner = inner
        self.model: torch.nn.Module = _LabelLogits(inner, order)
        self._n_truncated: dict[str, int] = {}

    def encode(self, rows: Gold) -> EncodedRows:
        """The inputs of the model for rows with texts; how many were cut is kept by name.

        Raises:
            ModelError: A hypothesis is too long, where only the premise may be cut.
        """
        return encode(
            rows,
            self.tokenizer,
            view=self._view,
            max_length=self._options.max_length,
            truncation=self._options.truncation,
            n_truncated=self._n_truncated,
        )

    def save(self, folder: Path) -> None:
        """Writes the model and its tokenizer as ``transformers`` does."""
        self.inner.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    def load(self, folder: Path) -> None:
        """Takes the weights that ``save`` wrote."""
        kept = load_classifier(str(folder), None)
        self.inner.load_state_dict(kept.state_dict())

    def facts(self) -> Mapping[str, Any]:
        """How many rows were cut."""
        return {"truncated": dict(self._n_truncated)}


def load_config_and_tokenizer(name: str, revision: str | None) -> tuple[Any, Any]:
    """The configuration and the tokenizer of a model.

    Raises:
        SourceNotFoundError: There is no such model at hand.
        ModelError: Its tokenizer is none that maps texts to tokens quickly.
    """
    try:
        config = AutoConfig.from_pretrained(name, revision=revision)
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise SourceNotFoundError(f"The model {name} cannot be loaded: {first}") from error
    if not tokenizer.is_fast:
        raise ModelError(f"{name} has no fast tokenizer (tokenizer.json); convert it first.")
    return config, tokenizer


def load_classifier(name: str, revision: str | None, **arguments: Any) -> Any:
    """A classifier in single precision.

    Raises:
        SourceNotFoundError: Its weights are not at hand.
    """
    if "id2label" in arguments:
        arguments["label2id"] = {label: id_ for id_, label in arguments["id2label"].items()}
        arguments["ignore_mismatched_sizes"] = True  # the head, which is new
    try:
        return AutoModelForSequenceClassification.from_pretrained(
            name, revision=revision, dtype=torch.float32, **arguments
        )
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise SourceNotFoundError(f"The model {name} cannot be loaded: {first}") from error


def check_padding(name: str, tokenizer: Any) -> None:
    """Refuses a tokenizer that cannot pad.

    Raises:
        ModelError: It has no token for padding.
    """
    if tokenizer.pad_token_id is None:
        raise ModelError(
            f"The tokenizer of {name} has no token for padding, so rows of unlike length cannot "
            "be put together. Set tokenizer.pad_token and model.config.pad_token_id, save both "
            "with save_pretrained, and name that folder."
        )


def check_length(name: str, config: Any, max_length: int) -> None:
    """Refuses pairs that are longer than what a model can read.

    Raises:
        ModelError: ``max_length`` is beyond the model's limit.
    """
    limit = max_tokens_of(config)
    if limit is not None and max_length > limit:
        raise ModelError(
            f"{name} reads {limit} tokens at most; max_length is {max_length}. "
            f"Set --max-length {limit} or less."
        )


def max_tokens_of(config: Any) -> int | None:
    """How many tokens a model can read; None where there is no limit."""
    limit = getattr(config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit <= 0:
        return None
    # The position ids of RoBERTa and its kin begin after that of the padding token.
    begins_later = re.search(r"roberta|camembert|longformer|mpnet", config.model_type)
    return limit - (config.pad_token_id or 0) - 1 if begins_later else limit


def encode(
    rows: Gold,
    tokenizer: Any,
    *,
    view: str,
    max_length: int,
    truncation: str,
    n_truncated: dict[str, int],
) -> EncodedRows:
    """The inputs of an encoder for rows with texts.

    Args:
        rows: The rows.
        tokenizer: The encoder's.
        view: See ``tokenize``.
        max_length: See ``tokenize``.
        truncation: See ``tokenize``.
        n_truncated: Takes how many rows were cut, by the name of the rows.
    """
    table, n_cut = tokenize(
        rows, tokenizer, view=view, max_length=max_length, truncation=truncation
    )
    described = rows.description
    parts = (described["name"], described["config"], described["split"])
    n_truncated[" ".join(str(part) for part in parts if part is not None)] = n_cut
    padding = {
        name: tokenizer.pad_token_id if name == "input_ids" else tokenizer.pad_token_type_id
        for name in table.column_names
    }
    return EncodedRows.of_table(
        table,
        rows.rows["label"].to_numpy().astype(np.int64),
        padding,
        "attention_mask",
        pads_left=tokenizer.padding_side == "left",
    )


def _draw_head(model: Any) -> None:
    """Draws all parameters anew that are not of the encoder itself."""
    drawn = AutoModelForSequenceClassification.from_config(model.config)  # type: ignore[no-untyped-call]
    encoder = f"{model.base_model_prefix}."
    head = {
        name: value for name, value in drawn.state_dict().items() if not name.startswith(encoder)
    }
    model.load_state_dict(head, strict=False)


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
