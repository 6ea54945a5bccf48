"""What an encoder reads of rows: its tokens, within its limits."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...loaders.errors import ModelError
from ..evaluation.gold import Gold
from ..runs.config import RunConfig
from ..training.encoded import EncodedRows
from .loading import load_config_and_tokenizer, pretrained_facts
from .tokens import tokenize


class Reader:
    """The tokenizer of an encoder, and how it is used in a run.

    Args:
        config: The run: model, revision, view, and of its options length and truncation.

    Attributes:
        config: The configuration of the model, from ``transformers``.
        tokenizer: Its tokenizer.

    Raises:
        ModelError: The tokenizer cannot pad, or the model reads fewer tokens than ``max_length``.
        SourceNotFoundError: There is no such model at hand.
    """

    def __init__(self, config: RunConfig) -> None:
        name = str(config.model)
        self.config, self.tokenizer = load_config_and_tokenizer(name, config.revision)
        self._view, self._options = config.view, config.options
        self._limit = _max_tokens_of(self.config)
        self._n_truncated: dict[str, int] = {}
        _check_padding(name, self.tokenizer)
        _check_length(name, self._limit, config.options.max_length)

    def encode(self, rows: Gold) -> EncodedRows:
        """The inputs of the model for rows with texts; how many were cut is kept by name.

        Raises:
            ModelError: A hypothesis is too long, where only the premise may be cut.
        """
        table, n_cut = tokenize(
            rows,
            self.tokenizer,
            view=self._view,
            max_length=self._options.max_length,
            truncation=self._options.truncation,
        )
        described = rows.description
        parts = (described["name"], described["config"], described["split"])
        name = " ".join(str(part) for part in parts if part is not None)
        self._n_truncated[name] = n_cut
        padding = {
            column: (
                self.tokenizer.pad_token_id
                if column == "input_ids"
                else self.tokenizer.pad_token_type_id
            )
            for column in table.column_names
        }
        return EncodedRows.of_table(
            table,
            rows.rows["label"].to_numpy().astype(np.int64),
            padding,
            "attention_mask",
            pads_left=self.tokenizer.padding_side == "left",
            limit=self._limit,
        )

    def tell_padding(self, model: Any) -> None:
        """Gives a model the padding of its tokenizer, if it knows none of its own.

        GPT-2 and its kin look for the last token of a row by it.
        """
        if model.config.pad_token_id is None:
            model.config.pad_token_id = self.tokenizer.pad_token_id

    def facts(self) -> Mapping[str, Any]:
        """What was pretrained, and how many rows were cut."""
        return {
            "pretrained": pretrained_facts(self.config, self.tokenizer),
            "truncated": dict(self._n_truncated),
        }


def _check_padding(name: str, tokenizer: Any) -> None:
    if tokenizer.pad_token_id is None:
        raise ModelError(
            f"The tokenizer of {name} has no token for padding, so rows of unlike length cannot "
            "be put together. Set tokenizer.pad_token and model.config.pad_token_id, save both "
            "with save_pretrained, and name that folder."
        )


def _check_length(name: str, limit: int | None, max_length: int) -> None:
    if limit is not None and max_length > limit:
        raise ModelError(
            f"{name} reads {limit} tokens at most; max_length is {max_length}. "
            f"Set --max-length {limit} or less."
        )


def _max_tokens_of(config: Any) -> int | None:
    """How many tokens a model can read; None where there is no limit."""
    limit = getattr(config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit <= 0:
        return None
    # The position ids of RoBERTa and its kin begin after that of the padding token.
    begins_later = re.search(r"roberta|camembert|longformer|mpnet", config.model_type)
    return limit - (config.pad_token_id or 0) - 1 if begins_later else limit
