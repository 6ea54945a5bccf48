"""Pretrained models and their tokenizers, as ``transformers`` loads them."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer
from transformers.models.auto.tokenization_auto import get_tokenizer_config

from ...loaders.errors import ModelError, SourceNotFoundError


def load_config_and_tokenizer(name: str, revision: str | None) -> tuple[Any, Any]:
    """The configuration and the tokenizer of a model.

    Raises:
        SourceNotFoundError: There is no such model at hand.
        ModelError: Its tokenizer is none that maps texts to tokens quickly.
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
        raise ModelError(f"{name} has no fast tokenizer (tokenizer.json); convert it first.")
    return config, tokenizer


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
            to be whole. What a model has of a head from another task is drawn anew too.
        new_head: Whether to draw the whole head, what the model has of it included.

    Raises:
        SourceNotFoundError: Its weights are not at hand, or are damaged.
        ModelError: It lacks weights of its own, or a head where it was expected to have one.
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
    """Refuses a model that would be filled in at random; poolers are no part of pretraining."""
    encoder = f"{model.base_model_prefix}."
    if is_head_drawn:
        lacking = [key for key in lacking if key.startswith(encoder) and "pooler" not in key]
    if lacking:
        raise ModelError(f"{name} lacks weights: {', '.join(sorted(lacking)[:5])}.")


def _is_of_pretraining(config: Any) -> bool:
    """Whether what a model has of a head comes from pretraining, not from another task."""
    kinds = config.architectures or ()
    sign = r"(MaskedLM|PreTraining|CausalLM|ConditionalGeneration|Model)$"
    return bool(kinds) and all(re.search(sign, kind) for kind in kinds)


def _draw_head(model: Any, lacking: Collection[str], *, whole: bool) -> None:
    """Draws parameters anew: those that are lacking, and perhaps all that are not the encoder's.

    So they follow from the seed alone, however the others were loaded. A part of the head may be
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
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
        return SourceNotFoundError(f"There is no folder {name}.")
    first = str(error).strip().splitlines()[0]
    return SourceNotFoundError(f"The model {name} cannot be loaded: {first}")


def pretrained_facts(config: Any, tokenizer: Any) -> dict[str, Any]:
    """What tells one pretrained model from another of its name: its commit, and its tokenizer."""
    return {
        "commit": getattr(config, "_commit_hash", None),
        "tokenizer": type(tokenizer).__name__,
        "n_tokens": len(tokenizer),
        "lower_cases": _lower_cases(tokenizer),
    }


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
