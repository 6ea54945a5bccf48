"""Models of ``transformers`` as scorers: encoder-decoders and decoders, on a GPU or a CPU."""

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from .....loaders.errors import ModelError


class LanguageModelScorer:
    """Scores the texts that a generating model may write for inputs.

    What was computed for a prefix is kept and follows its text through the beam. What the decoder
    reads of the encoder's is laid out anew only where the number of texts of an input changes.

    Args:
        model: A model with a language head, in the precision and on the device where it computes.
        inputs: The tokens of each input, special ones included; for a decoder the prompt.
        padding: The token that fills up shorter inputs, masked.
        is_cached: Whether to keep what was computed; without, everything is computed anew, to the
            same scores up to rounding.

    Raises:
        ModelError: An input has no token, or an encoder-decoder has no first token for its decoder.
    """

    def __init__(
        self, model: Any, inputs: Sequence[Sequence[int]], *, padding: int, is_cached: bool = True
    ) -> None:
        if not inputs or not all(inputs):
            raise ModelError("An input has no token; expected one or more inputs of one or more.")
        self._model = model.eval()
        self._is_cached = is_cached
        self._cache: Any = None
        self._has_encoder = bool(model.config.is_encoder_decoder)
        width = max(map(len, inputs))
        # A prompt is filled up on the left, so that what is written follows it at once.
        rows = [
            _pad(list(row), [padding] * (width - len(row)), is_left=not self._has_encoder)
            for row in inputs
        ]
        masks = [
            _pad([1] * len(row), [0] * (width - len(row)), is_left=not self._has_encoder)
            for row in inputs
        ]
        self._source = torch.tensor(rows, device=model.device)
        self._source_mask = torch.tensor(masks, device=model.device)
        names = inspect.signature(model.forward).parameters
        self._takes_positions = not self._has_encoder and "position_ids" in names
        self._takes_last = "logits_to_keep" in names
        self._start = _first_token(model) if self._has_encoder else -1

    def begin(self) -> torch.Tensor:
        """Begins one text for each input."""
        n_inputs = len(self._source)
        self._input_of = torch.arange(n_inputs, device=self._source.device)
        self._mask, self._cache = self._source_mask, None
        if self._has_encoder:
            encoder = self._model.get_encoder()
            encoded = encoder(input_ids=self._source, attention_mask=self._mask)
            self._encoded = encoded.last_hidden_state
            self._tokens = self._source.new_full((n_inputs, 1), self._start)
        else:
            self._tokens = self._source
        return self._score(self._tokens)

    def advance(self, parents: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Takes the place of the current texts by continuations of them."""
        input_of = self._input_of[parents]
        is_moved = not torch.equal(input_of, self._input_of)
        self._input_of = input_of
        self._tokens = torch.cat([self._tokens[parents], tokens[:, None]], dim=1)
        if is_moved or not self._has_encoder:
            self._mask = self._mask[parents]
        if not self._has_encoder:
            self._mask = torch.cat([self._mask, self._mask.new_ones(len(tokens), 1)], dim=1)
        elif is_moved:
            self._encoded = self._encoded[parents]
        if self._cache is not None:
            self._reorder(parents, is_moved=is_moved)
        return self._score(tokens[:, None] if self._is_cached else self._tokens)

    def _reorder(self, parents: torch.Tensor, *, is_moved: bool) -> None:
        if not self._has_encoder:
            self._cache.reorder_cache(parents)
            return
        self._cache.self_attention_cache.reorder_cache(parents)
        if is_moved:
            self._cache.cross_attention_cache.reorder_cache(parents)

    def _score(self, tokens: torch.Tensor) -> torch.Tensor:
        given: dict[str, Any] = {"attention_mask": self._mask, "use_cache": self._is_cached}
        if self._has_encoder:
            given |= {"decoder_input_ids": tokens, "encoder_outputs": (self._encoded,)}
        else:
            given["input_ids"] = tokens
        if self._takes_positions:
            places = (self._mask.cumsum(dim=1) - 1).clamp(min=0)
            given["position_ids"] = places[:, -tokens.shape[1] :]
        if self._takes_last:
            given["logits_to_keep"] = 1
        if self._cache is not None:
            given["past_key_values"] = self._cache
        with torch.inference_mode():
            out = self._model(**given)
        self._cache = out.past_key_values if self._is_cached else None
        logits: torch.Tensor = out.logits[:, -1]
        precise = torch.promote_types(logits.dtype, torch.float32)  # sums of bfloat16 drift apart
        return logits.log_softmax(dim=-1, dtype=precise)


def _pad(row: list[int], filling: list[int], *, is_left: bool) -> list[int]:
    return filling + row if is_left else row + filling


def _first_token(model: Any) -> int:
    for config in (getattr(model, "generation_config", None), model.config):
        token = getattr(config, "decoder_start_token_id", None)
        if token is not None:
            return int(token)
    raise ModelError(
        f"{type(model).__name__} has no decoder_start_token_id; set that of its generation_config."
    )
