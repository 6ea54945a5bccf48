"""Load pretrained encoders and their tokenizers."""

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
    if name.startswith((".", "/", "~")) and not Path(name).expanduser().is_dir():
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
