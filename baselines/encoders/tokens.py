"""Texts as the tokens of an encoder, made once and kept."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import tokenizers
from filelock import FileLock

from ...loaders.atomic_write import whole_file
from ...loaders.errors import ModelError
from ...loaders.fetching.obtain import default_cache_dir
from ..evaluation.gold import Gold

_N_AT_ONCE = 1_000
_N_TRUNCATED = b"n_truncated"


def tokenize(
    rows: Gold,
    tokenizer: Any,
    *,
    view: str,
    max_length: int,
    truncation: str,
    cache_dir: Path | None = None,
) -> tuple[pa.Table, int]:
    """The tokens of rows, read from the cache if they were made before.

    Args:
        rows: n rows with texts.
        tokenizer: A fast tokenizer of ``transformers``.
        view: ``pair``, or ``hypothesis`` alone.
        max_length: Tokens at most, special ones included.
        truncation: ``longest_first`` or ``only_first``; the hypothesis alone is cut at its end.
        cache_dir: Where tokens are kept; None takes the cache of this package.

    Returns:
        A column of lists of int32 for each input of the model, and how many rows were cut.

    Raises:
        ModelError: A hypothesis alone is longer than ``max_length``, where only the premise may be
            cut.
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
    """Takes away what calls leave in a tokenizer, which is no part of what it is or is saved as."""
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()


def _key(rows: Gold, tokenizer: Any, settings: list[Any]) -> str:
    """What the tokens depend on: the texts, the tokenizer and the settings."""
    sides = [tokenizer.truncation_side, tokenizer.padding_side]
    digest = hashlib.sha256(json.dumps([tokenizers.__version__, sides, settings]).encode())
    digest.update(tokenizer.backend_tokenizer.to_str().encode())
    for name in ("premise", "hypothesis"):
        texts = pa.concat_arrays([pa.array([], pa.large_string()), *_large(rows.rows[name])])
        for buffer in texts.buffers():
            digest.update(buffer or b"-")
    return digest.hexdigest()[:40]


def _large(column: pa.ChunkedArray) -> list[pa.Array]:
    return [pa.array(chunk.to_pylist(), pa.large_string()) for chunk in column.chunks]


def _write(
    path: Path, rows: Gold, tokenizer: Any, view: str, max_length: int, truncation: str
) -> None:
    names = [name for name in tokenizer.model_input_names if name != "attention_mask"]
    schema = pa.schema([(name, pa.list_(pa.int32())) for name in names])
    n_truncated, batches = 0, []
    for ids, premises, hypotheses in _texts(rows):
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
        for batch in batches:
            writer.write_batch(batch.replace_schema_metadata(schema.metadata))


def _check_hypotheses(
    ids: list[str], hypotheses: list[str], tokenizer: Any, max_length: int
) -> None:
    """Refuses hypotheses that leave no place for a premise, where the premise alone is cut."""
    n_special = tokenizer.num_special_tokens_to_add(pair=True)
    encodings = tokenizer(hypotheses, add_special_tokens=False).encodings
    for id_, encoding in zip(ids, encodings, strict=True):
        if len(encoding.ids) + n_special > max_length - 1:
            raise ModelError(
                f"The hypothesis of {id_} alone has {len(encoding.ids)} tokens, max_length is "
                f"{max_length}, and only the premise may be cut. Set a greater --max-length, or "
                "--truncation longest_first."
            )


def _texts(rows: Gold) -> Iterator[tuple[list[str], list[str], list[str]]]:
    for batch in rows.rows.to_batches(max_chunksize=_N_AT_ONCE):
        columns = (batch.column(name).to_pylist() for name in ("id", "premise", "hypothesis"))
        ids, premises, hypotheses = columns
        yield ids, premises, hypotheses
