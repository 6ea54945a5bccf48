"""Pretrained encoders: load them, and tokenize texts or pairs within their limits."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import tokenizers
import torch
from filelock import FileLock
from safetensors import SafetensorError
from tokenizers.processors import TemplateProcessing
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, AutoTokenizer
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
)
from transformers.models.auto.tokenization_auto import get_tokenizer_config

from ...loaders.atomic_write import whole_file
from ...loaders.errors import ModelError, SourceNotFoundError
from ...loaders.paths import default_cache_dir, local_path
from ..evaluation.gold import GoldRows
from ..runs.config import RunConfig
from ..training.batches import EncodedRows


def load_config_and_tokenizer(name: str, revision: str | None) -> tuple[Any, Any]:
    """Load the configuration and the tokenizer of a pretrained model.

    Args:
        name: The model: a name on the Hub, or a folder.
        revision: Commit, tag or branch of a model on the Hub; None takes the newest.

    Raises:
        SourceNotFoundError: The model cannot be loaded.
        ModelError: It has no fast tokenizer.
    """
    try:
        config = AutoConfig.from_pretrained(name, revision=revision)
        tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
        said = get_tokenizer_config(name, revision=revision)
        if "do_lower_case" not in said and _loses_case(tokenizer):
            tokenizer = AutoTokenizer.from_pretrained(name, revision=revision, do_lower_case=False)
    except (OSError, ValueError) as error:
        raise _not_loaded(name, error) from error
    if not tokenizer.is_fast:
        raise ModelError(
            f"{name} has no fast tokenizer (tokenizer.json). Convert its tokenizer with "
            "transformers, save both, and name that folder."
        )
    return config, tokenizer


def model_size(name: str, revision: str | None) -> tuple[int, int | None]:
    """Return the number of parameters of an encoder, and of tokens that it reads, None if any.

    Its weights are not loaded.

    Raises:
        SourceNotFoundError: The model cannot be loaded.
        ModelError: It has no fast tokenizer.
    """
    config, _ = load_config_and_tokenizer(name, revision)
    try:
        with torch.device("meta"):
            model = AutoModelForSequenceClassification.from_config(config)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise _not_loaded(name, error) from error
    return sum(part.numel() for part in model.parameters()), _max_tokens_of(config)


def suited_method(name: str, revision: str | None) -> str:
    """Return the method that tests a model without fine-tuning it.

    Args:
        name: The model: a name on the Hub, or a folder.
        revision: Commit, tag or branch of a model on the Hub; None takes the newest.

    Returns:
        ``zero-shot`` for a classifier, ``prompt`` for a causal language model, else ``probe``.

    Raises:
        SourceNotFoundError: The model cannot be loaded.
        ModelError: It has no fast tokenizer.
    """
    config, _ = load_config_and_tokenizer(name, revision)
    if any("SequenceClassification" in kind for kind in config.architectures or ()):
        return "zero-shot"
    return "prompt" if _is_causal(config) else "probe"


def load_classifier(
    name: str,
    revision: str | None,
    *,
    id2label: Mapping[int, str] | None = None,
    new_head: bool = False,
) -> Any:
    """Load a pretrained classifier in single precision.

    Args:
        name: The model: a name on the Hub, or a folder.
        revision: Commit, tag or branch of a model on the Hub; None takes the newest.
        id2label: Labels of a new head, of which the parts that the model lacks, or has from another
            task, are drawn by torch's generator. None expects the model to have a head.
        new_head: Whether to draw the whole head, even the parts that the model has.

    Raises:
        SourceNotFoundError: The weights are missing or damaged.
        ModelError: Weights of the encoder, or of an expected head, are missing.
    """
    arguments: dict[str, Any] = {}
    if id2label is not None:
        label2id = {label: id_ for id_, label in id2label.items()}
        arguments = {"id2label": dict(id2label), "label2id": label2id}
    try:
        model, found = AutoModelForSequenceClassification.from_pretrained(
            name,
            revision=revision,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,  # of a head that will be drawn; others are refused below
            output_loading_info=True,
            **arguments,
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise _not_loaded(name, error) from error
    lacking = {*found["missing_keys"], *(key for key, *_ in found["mismatched_keys"])}
    _check_whole(name, model, lacking, is_head_drawn=id2label is not None)
    if id2label is not None:
        _draw_head(model, lacking, whole=new_head or not _is_of_pretraining(model.config))
    return model


def _check_whole(name: str, model: Any, lacking: Collection[str], *, is_head_drawn: bool) -> None:
    """Refuse a model with weights drawn at random; a pooler is not part of pretraining."""
    encoder = f"{model.base_model_prefix}."
    if is_head_drawn:
        lacking = [key for key in lacking if key.startswith(encoder) and "pooler" not in key]
    if lacking:
        raise ModelError(
            f"{name} lacks weights: {', '.join(sorted(lacking)[:5])}. Choose a model that has them."
        )


def load_encoder(name: str, revision: str | None) -> Any:
    """Load a pretrained encoder without its head, in single precision.

    Args:
        name: The model: a name on the Hub, or a folder; of an encoder and a decoder the first.
        revision: Commit, tag or branch of a model on the Hub; None takes the newest.

    Raises:
        SourceNotFoundError: The weights are missing or damaged.
        ModelError: Weights are missing, other than those of a pooler.
    """
    try:
        model, found = AutoModel.from_pretrained(
            name, revision=revision, dtype=torch.float32, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise _not_loaded(name, error) from error
    lacking = [key for key in found["missing_keys"] if "pooler" not in key]
    _check_whole(name, model, lacking, is_head_drawn=False)
    return model.get_encoder() if model.config.is_encoder_decoder else model


def _is_of_pretraining(config: Any) -> bool:
    """Return whether a model's head comes from pretraining, not from another task."""
    kinds = config.architectures or ()
    sign = r"(MaskedLM|PreTraining|CausalLM|ConditionalGeneration|Model)$"
    return bool(kinds) and all(re.search(sign, kind) for kind in kinds)


def _draw_head(model: Any, lacking: Collection[str], *, whole: bool) -> None:
    """Draw the missing parameters, or all that are not the encoder's.

    So they depend on the seed alone, however the others were loaded. A part of the head may be
    pretrained, as ModernBERT's is.
    """
    drawn = AutoModelForSequenceClassification.from_config(model.config)  # type: ignore[no-untyped-call]
    encoder = f"{model.base_model_prefix}."
    chosen = {
        name: value
        for name, value in drawn.state_dict().items()
        if name in lacking or (whole and not name.startswith(encoder))
    }
    model.load_state_dict(chosen, strict=False)


def _not_loaded(name: str, error: Exception) -> SourceNotFoundError:
    if name.startswith((".", "/", "~")) and not local_path(name).is_dir():
        return SourceNotFoundError(f"The model folder {name} does not exist.")
    first = str(error).strip().splitlines()[0]
    return SourceNotFoundError(f"The model {name} cannot be loaded: {first}")


def pretrained_facts(config: Any, tokenizer: Any) -> dict[str, Any]:
    """Return what identifies a pretrained model besides its name: its commit and tokenizer."""
    return {
        "commit": getattr(config, "_commit_hash", None),
        "tokenizer": type(tokenizer).__name__,
        "n_tokens": len(tokenizer),
        "lower_cases": _lower_cases(tokenizer),
    }


def _loses_case(tokenizer: Any) -> bool:
    """Return whether a tokenizer lower-cases texts although its vocabulary has capital letters.

    Old repositories, such as SciBERT's cased one, may not state that they are cased; the default
    is then lower case.
    """
    if not _lower_cases(tokenizer):
        return False
    words: list[str] = [word for word in tokenizer.get_vocab() if word.isalpha()]
    return sum(word != word.lower() for word in words) > len(words) / 10


def _lower_cases(tokenizer: Any) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    normalizer = backend.normalizer if backend is not None else None
    return normalizer is not None and "A" not in str(normalizer.normalize_str("A"))


_N_AT_ONCE = 1_000
_N_TRUNCATED = b"n_truncated"


class PairTokenizer:
    """The tokenizer of an encoder, with the settings of a run.

    That of a causal language model may have no padding token, because it was trained without any;
    it then pads by its end of text.

    Args:
        config: The config of the run.

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
        self._is_causal = _is_causal(self.config)
        if self.tokenizer.pad_token_id is None and self._is_causal:
            self.tokenizer.pad_token = self.tokenizer.eos_token
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
        self._n_truncated[name_of_rows(rows)] = n_cut
        labels = rows.rows["label"].to_numpy().astype(np.int64)
        return _encoded(table, labels, self.tokenizer, self._limit)

    def set_padding(self, model: Any) -> None:
        """Set the padding token of a model to that of its tokenizer, if it has none.

        GPT-2 and its kin need it to find the last token of a row, so theirs is always that of the
        tokenizer.
        """
        config = model.config.get_text_config()
        if config.pad_token_id is None or self._is_causal:
            config.pad_token_id = self.tokenizer.pad_token_id

    def separate_pairs(self) -> None:
        """Put a line break between the texts of a pair if a causal model's tokenizer puts nothing.

        GPT-2's joins "A is slow." and "B is fast." to "A is slow.B is fast.". The line break is
        saved with the tokenizer.
        """
        tokenizer = self.tokenizer
        ids = tokenizer("\n", add_special_tokens=False)["input_ids"]
        if self._is_causal and ids and not tokenizer.num_special_tokens_to_add(pair=True):
            tokens = tokenizer.convert_ids_to_tokens(ids)
            tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
                single="$A",
                pair="$A break $B",
                special_tokens=[{"id": "break", "ids": ids, "tokens": tokens}],
            )

    def facts(self) -> Mapping[str, Any]:
        """Return the pretrained model's facts, and how many rows of each dataset were truncated."""
        return {
            "pretrained": pretrained_facts(self.config, self.tokenizer),
            "truncated": dict(self._n_truncated),
        }


def name_of_rows(rows: GoldRows) -> str:
    """Return the name of rows by which a record counts those that were truncated."""
    parts = (rows.description[part] for part in ("name", "config", "split"))
    return " ".join(str(part) for part in parts if part is not None)


def _encoded(table: pa.Table, labels: np.ndarray, tokenizer: Any, limit: int | None) -> EncodedRows:
    padding = dict.fromkeys(table.column_names, tokenizer.pad_token_type_id)
    padding["input_ids"] = tokenizer.pad_token_id or 0  # whose place the mask tells anyway
    return EncodedRows.of_table(
        table,
        labels,
        padding,
        "attention_mask",
        pads_left=tokenizer.padding_side == "left",
        limit=limit,
    )


def encode_texts(
    texts: Sequence[str], tokenizer: Any, config: Any
) -> tuple[EncodedRows, Sequence[bool]]:
    """Tokenize texts one by one, each cut at the number of tokens that a model reads.

    Args:
        texts: n texts.
        tokenizer: A fast tokenizer of ``transformers``.
        config: The configuration of the model.

    Returns:
        n rows, whose labels are all 0, and whether each text was cut.
    """
    limit = _max_tokens_of(config)
    names = [name for name in tokenizer.model_input_names if name != "attention_mask"]
    schema = pa.schema([(name, pa.list_(pa.int32())) for name in names])
    batches, is_cut = [], []
    for start in range(0, len(texts), _N_AT_ONCE):
        found = tokenizer(
            list(texts[start : start + _N_AT_ONCE]),
            truncation=limit is not None,
            max_length=limit,
            return_attention_mask=False,
        )
        batches.append(pa.record_batch([found[name] for name in names], schema=schema))
        is_cut += [bool(encoding.overflowing) for encoding in found.encodings]
    table = pa.Table.from_batches(batches, schema)
    return _encoded(table, np.zeros(len(texts), np.int64), tokenizer, limit), is_cut


def _is_causal(config: Any) -> bool:
    """Return whether a model is a causal language model, whose tokens see those before alone."""
    kind = config.model_type
    return (
        kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    )


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
