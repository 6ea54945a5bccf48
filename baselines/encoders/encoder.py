"""A pretrained encoder with a head for the labels of a dataset."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
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
            inner = load_classifier(name, config.revision, id2label=ids, new_head=config.new_head)
            order = list(range(len(labels)))
        if options.special_tokens:
            new = {"additional_special_tokens": list(options.special_tokens)}
            self.tokenizer.add_special_tokens(new)
            inner.resize_token_embeddings(len(self.tokenizer), mean_resizing=False)
        if options.n_trained_layers is not None:
            _freeze(name, inner, options.n_trained_layers)
        if inner.config.pad_token_id is None:  # GPT-2 and its kin look for the last token by it
            inner.config.pad_token_id = self.tokenizer.pad_token_id
        self.inner = inner
        self.model: torch.nn.Module = _LabelLogits(inner, order)
        self._limit = max_tokens_of(model_config)
        self._facts = pretrained_facts(model_config, self.tokenizer)
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
            limit=self._limit,
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
        """What was pretrained, and how many rows were cut."""
        return {"pretrained": self._facts, "truncated": dict(self._n_truncated)}


def load_config_and_tokenizer(name: str, revision: str | None) -> tuple[Any, Any]:
    """The configuration and the tokenizer of a model.

    Raises:
        SourceNotFoundError: There is no such model at hand.
        ModelError: Its tokenizer is none that maps texts to tokens quickly.
    """
    try:
        config = AutoConfig.from_pretrained(name, revision=revision)
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
        if _loses_case(tokenizer):
            tokenizer = AutoTokenizer.from_pretrained(name, revision=revision, do_lower_case=False)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0]
        raise SourceNotFoundError(f"The model {name} cannot be loaded: {first}") from error
    if not tokenizer.is_fast:
        raise ModelError(f"{name} has no fast tokenizer (tokenizer.json); convert it first.")
    return config, tokenizer


def _loses_case(tokenizer: Any) -> bool:
    """Whether texts are lower-cased for a vocabulary that has capital letters.

    Repositories of old, such as SciBERT's cased one, may not say that they are cased, and what is
    not said is taken for lower case.
    """
    if not _lower_cases(tokenizer):
        return False
    words: list[str] = [word for word in tokenizer.get_vocab() if word.isalpha()]
    return sum(word != word.lower() for word in words) > len(words) / 10


def _lower_cases(tokenizer: Any) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    normalizer = backend.normalizer if backend is not None else None
    return normalizer is not None and "A" not in str(normalizer.normalize_str("A"))


def load_classifier(
    name: str,
    revision: str | None,
    *,
    id2label: Mapping[int, str] | None = None,
    new_head: bool = False,
) -> Any:
    """A classifier in single precision.

    Args:
        name: The model.
        revision: Of a model on the Hub.
        id2label: The labels, where what the model lacks of a head is to be drawn; None expects it
            to be whole.
        new_head: Whether to draw the whole head, what the model has of it included.

    Raises:
        SourceNotFoundError: Its weights are not at hand, or are damaged.
        ModelError: It has no head, where it was expected to be whole.
    """
    arguments: dict[str, Any] = {}
    if id2label is not None:
        label2id = {label: id_ for id_, label in id2label.items()}
        arguments = {"id2label": dict(id2label), "label2id": label2id}
        arguments["ignore_mismatched_sizes"] = True  # the head, which is new
    try:
        model, found = AutoModelForSequenceClassification.from_pretrained(
            name, revision=revision, dtype=torch.float32, output_loading_info=True, **arguments
        )
    except (OSError, ValueError, SafetensorError) as error:
        first = str(error).strip().splitlines()[0]
        raise SourceNotFoundError(f"The model {name} cannot be loaded: {first}") from error
    lacking = {*found["missing_keys"], *(key for key, *_ in found["mismatched_keys"])}
    if id2label is not None:
        _draw_head(model, None if new_head else lacking)
    elif lacking:
        raise ModelError(f"{name} lacks weights: {', '.join(sorted(lacking)[:5])}.")
    return model


def pretrained_facts(config: Any, tokenizer: Any) -> dict[str, Any]:
    """What tells one pretrained model from another of its name: its commit, and its tokenizer."""
    return {
        "commit": getattr(config, "_commit_hash", None),
        "tokenizer": type(tokenizer).__name__,
        "n_tokens": len(tokenizer),
        "lower_cases": _lower_cases(tokenizer),
    }


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
    limit: int | None,
    n_truncated: dict[str, int],
) -> EncodedRows:
    """The inputs of an encoder for rows with texts.

    Args:
        rows: The rows.
        tokenizer: The encoder's.
        view: See ``tokenize``.
        max_length: See ``tokenize``.
        truncation: See ``tokenize``.
        limit: Tokens that the encoder reads at most.
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
        limit=limit,
    )


def _draw_head(model: Any, lacking: Collection[str] | None) -> None:
    """Draws parameters of the head anew: those that are lacking, or all but the encoder's own.

    So they follow from the seed alone, however the others were loaded. A part of the head may be
    pretrained, as ModernBERT's is.
    """
    drawn = AutoModelForSequenceClassification.from_config(model.config)  # type: ignore[no-untyped-call]
    encoder = f"{model.base_model_prefix}."
    head = {
        name: value
        for name, value in drawn.state_dict().items()
        if (not name.startswith(encoder) if lacking is None else name in lacking)
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
