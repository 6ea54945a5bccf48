"""Tokens of pairs of texts, as an encoder reads them: within its limits, and cached."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import tokenizers
from filelock import FileLock

from ...loaders.atomic_write import whole_file
from ...loaders.errors import ModelError
from ...loaders.fetching.obtain import default_cache_dir
from ..evaluation.gold import GoldRows
from ..runs.config import RunConfig
from ..training.batches import EncodedRows
from .pretrained import load_config_and_tokenizer, pretrained_facts

_N_AT_ONCE = 1_000
_N_TRUNCATED = b"n_truncated"


class PairTokenizer:
    """The tokenizer of an encoder, with the settings of a run.

    Args:
        config: The config of the run: model, revision, view, ``max_length`` and truncation.

    Attributes:
        config: The configuration of the model, from ``transformers``.
        tokenizer: The tokenizer of the model.

    Raises:
        ModelError: The tokenizer is not a fast one or cannot pad, or the model reads fewer tokens
            than ``max_length``.
        SourceNotFoundError: The model cannot be loaded.
    """

    def __init__(self, config: RunConfig) -> None:
        name = str(config.model)
        self.config, self.tokenizer = load_config_and_tokenizer(name, config.revision)
        self._view, self._options = config.view, config.options
        self._limit = _max_tokens_of(self.config)
        self._n_truncated: dict[str, int] = {}
        if self.tokenizer.pad_token_id is None:
            raise ModelError(
                f"The tokenizer of {name} has no padding token, so rows of different lengths "
                "cannot share a batch. Set tokenizer.pad_token and model.config.pad_token_id, save "
                "both with save_pretrained, and name that folder."
            )
        max_length = config.options.max_length
        if self._limit is not None and max_length > self._limit:
            raise ModelError(
                f"{name} reads at most {self._limit} tokens, but max_length is {max_length}. "
                f"Set --max-length {self._limit} or less."
            )

    def encode(self, rows: GoldRows) -> EncodedRows:
        """Tokenize rows with texts, and count those that were truncated.

        Raises:
            ModelError: A hypothesis is too long, and only the premise may be cut.
        """
        table, n_cut = tokenize_pairs(
            rows,
            self.tokenizer,
            view=self._view,
            max_length=self._options.max_length,
            truncation=self._options.truncation,
        )
        parts = (rows.description[part] for part in ("name", "config", "split"))
        self._n_truncated[" ".join(str(part) for part in parts if part is not None)] = n_cut
        padding = dict.fromkeys(table.column_names, self.tokenizer.pad_token_type_id)
        padding["input_ids"] = self.tokenizer.pad_token_id
        return EncodedRows.of_table(
            table,
            rows.rows["label"].to_numpy().astype(np.int64),
            padding,
            "attention_mask",
            pads_left=self.tokenizer.padding_side == "left",
            limit=self._limit,
        )

    def set_padding(self, model: Any) -> None:
        """Set the padding token of a model to that of its tokenizer, if it has none.

        GPT-2 and its kin need it to find the last token of a row.
        """
        if model.config.pad_token_id is None:
            model.config.pad_token_id = self.tokenizer.pad_token_id

    def facts(self) -> Mapping[str, Any]:
        """Return the pretrained model's facts, and how many rows of each dataset were truncated."""
        return {
            "pretrained": pretrained_facts(self.config, self.tokenizer),
            "truncated": dict(self._n_truncated),
        }


def _max_tokens_of(config: Any) -> int | None:
    """Return how many tokens a model can read; None if there is no limit."""
    limit = getattr(config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit <= 0:
        return None
    # The position ids of RoBERTa and its kin begin after that of the padding token.
    begins_later = re.search(r"roberta|camembert|longformer|mpnet", config.model_type)
    return limit - (config.pad_token_id or 0) - 1 if begins_later else limit


def tokenize_pairs(
    rows: GoldRows,
    tokenizer: Any,
    *,
    view: str,
    max_length: int,
    truncation: str,
    cache_dir: Path | None = None,
) -> tuple[pa.Table, int]:
    """Tokenize the pairs of rows, or read their tokens from the cache.

    Args:
        rows: n rows with texts.
        tokenizer: A fast tokenizer of ``transformers``.
        view: ``pair``, or ``hypothesis`` alone.
        max_length: Maximum number of tokens, special tokens included.
        truncation: ``longest_first`` or ``only_first``; a hypothesis alone is cut at its end.
        cache_dir: Folder of the cached tokens; None takes this package's cache.

    Returns:
        n rows with a column of int32 lists for each input of the model, and the number of rows that
        were truncated.

    Raises:
        ModelError: A hypothesis leaves no room for its premise, and only the premise may be cut.
    """
    folder = (cache_dir or default_cache_dir()) / "tokens"
    folder.mkdir(parents=True, exist_ok=True)
    _forget_lengths(tokenizer)
    settings = [view, max_length, truncation, list(tokenizer.model_input_names)]
    path = folder / f"{_key(rows, tokenizer, settings)}.arrow"
    with FileLock(path.with_suffix(".lock")):
        if not path.is_file():
            with whole_file(path) as partial:
                _write(partial, rows, tokenizer, view, max_length, truncation)
    _forget_lengths(tokenizer)
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    return table.replace_schema_metadata(None), int(table.schema.metadata[_N_TRUNCATED])


def _forget_lengths(tokenizer: Any) -> None:
    """Remove the settings that calls leave in a tokenizer, so that they are not saved with it."""
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()


def _key(rows: GoldRows, tokenizer: Any, settings: list[Any]) -> str:
    """Hash what the tokens depend on: the texts, the tokenizer and the settings."""
    sides = [tokenizer.truncation_side, tokenizer.padding_side]
    digest = hashlib.sha256(json.dumps([tokenizers.__version__, sides, settings]).encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    for name in ("premise", "hypothesis"):
        # Made anew, so that the buffers depend on the texts alone.
        chunks = [pa.array(part.to_pylist(), pa.large_string()) for part in rows.rows[name].chunks]
        for buffer in pa.concat_arrays([pa.array([], pa.large_string()), *chunks]).buffers():
            digest.update(buffer or b"-")
    return digest.hexdigest()[:40]


def _write(
    path: Path, rows: GoldRows, tokenizer: Any, view: str, max_length: int, truncation: str
) -> None:
    names = [name for name in tokenizer.model_input_names if name != "attention_mask"]
    schema = pa.schema([(name, pa.list_(pa.int32())) for name in names])
    n_truncated, batches = 0, []
    for batch in rows.rows.to_batches(max_chunksize=_N_AT_ONCE):
        columns = (batch.column(name).to_pylist() for name in ("id", "premise", "hypothesis"))
        ids, premises, hypotheses = columns
        pair = (hypotheses,) if view == "hypothesis" else (premises, hypotheses)
        if truncation == "only_first" and view == "pair":
            _check_hypotheses(ids, hypotheses, tokenizer, max_length)
        found = tokenizer(
            *pair,
            truncation="longest_first" if view == "hypothesis" else truncation,
            max_length=max_length,
            return_attention_mask=False,
        )
        n_truncated += sum(bool(encoding.overflowing) for encoding in found.encodings)
        batches.append(pa.record_batch([found[name] for name in names], schema=schema))
    schema = schema.with_metadata({_N_TRUNCATED: str(n_truncated).encode()})
    with pa.ipc.new_file(str(path), schema) as writer:
        for encoded in batches:
            writer.write_batch(encoded.replace_schema_metadata(schema.metadata))


def _check_hypotheses(
    ids: list[str], hypotheses: list[str], tokenizer: Any, max_length: int
) -> None:
    """Refuse hypotheses that leave no room for a premise, where only the premise may be cut."""
    n_special = tokenizer.num_special_tokens_to_add(pair=True)
    encodings = tokenizer(hypotheses, add_special_tokens=False).encodings
    for id_, encoding in zip(ids, encodings, strict=True):
        if len(encoding.ids) + n_special > max_length - 1:
            raise ModelError(
                f"The hypothesis of row {id_} has {len(encoding.ids)} tokens, which leaves no room "
                f"for its premise: max_length is {max_length}, and only the premise may be cut. "
                "Set a greater --max-length, or --truncation longest_first."
            )
