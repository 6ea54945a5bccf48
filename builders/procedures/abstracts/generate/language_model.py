"""Models of ``transformers`` as scorers of texts: encoder-decoders and decoders."""

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

from .....loaders.errors import ModelError


class LanguageModelScorer:
    """Scores the next tokens of the texts that a generative model writes for inputs.

    The states of a prefix are cached and follow their text through the beam. The encoder's states
    are reordered only where the number of texts of an input changes.

    Args:
        model: A model with a language head, in the precision and on the device where it computes.
        inputs: The tokens of each input, special ones included; for a decoder the prompt.
        padding: The token that fills up shorter inputs; it is masked.
        is_cached: Whether to cache the states of prefixes; without a cache every prefix is computed
            anew, to the same scores up to rounding.

    Raises:
        ModelError: An input has no token, or an encoder-decoder has no first token for its decoder.
    """

    def __init__(
        self, model: Any, inputs: Sequence[Sequence[int]], *, padding: int, is_cached: bool = True
    ) -> None:
        if not inputs or not all(inputs):
            raise ModelError(
                "There is no input, or one has no token; expected one or more inputs, each of one "
                "or more tokens."
            )
        self._model = model.eval()
        self._is_cached = is_cached
        self._cache: Any = None
        self._has_encoder = bool(model.config.is_encoder_decoder)
        # A prompt is filled up on the left, so that the written text follows it directly.
        side = "right" if self._has_encoder else "left"
        self._source = pad_tokens(inputs, padding, side).to(model.device)
        mask = pad_tokens([[1] * len(row) for row in inputs], 0, side)
        self._source_mask = mask.to(model.device)
        names = inspect.signature(model.forward).parameters
        self._takes_positions = not self._has_encoder and "position_ids" in names
        self._takes_last = "logits_to_keep" in names
        self._start = _first_token(model) if self._has_encoder else -1

    def begin(self) -> torch.Tensor:
        """Begin one text for each input; see ``Scorer.begin``."""
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
        """Replace the current texts by continuations of them; see ``Scorer.advance``."""
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
            reorder_cache(self._cache, parents, has_encoder=self._has_encoder, is_moved=is_moved)
        return self._score(tokens[:, None] if self._is_cached else self._tokens)

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


def reorder_cache(cache: Any, parents: torch.Tensor, *, has_encoder: bool, is_moved: bool) -> None:
    """Let the cached states of a model follow their texts.

    Relies on the caches of ``transformers``, seen with 5.4 and 5.23: a decoder has a ``Cache``, an
    encoder-decoder an ``EncoderDecoderCache`` of two of them.

    Args:
        cache: ``past_key_values`` of a model's output; changed in place.
        parents: n, int64: for each new text the index of the text that it continues.
        has_encoder: Whether the model is an encoder-decoder.
        is_moved: Whether a text now stands where one of another input stood, so that the encoder's
            states must follow too.
    """
    if not has_encoder:
        cache.reorder_cache(parents)
        return
    cache.self_attention_cache.reorder_cache(parents)
    if is_moved:
        cache.cross_attention_cache.reorder_cache(parents)


def pad_tokens(rows: Sequence[Sequence[int]], padding: int, side: str = "right") -> torch.Tensor:
    """Pad the token rows of a batch of abstracts to equal length, on the left or right."""
    tensors = [torch.tensor(row) for row in rows]
    return pad_sequence(tensors, batch_first=True, padding_value=padding, padding_side=side)


def _first_token(model: Any) -> int:
    for config in (getattr(model, "generation_config", None), model.config):
        token = getattr(config, "decoder_start_token_id", None)
        if token is not None:
            return int(token)
    raise ModelError(
        f"{type(model).__name__} has no decoder_start_token_id; set it in its generation_config."
    )
