"""Low-rank adapters (LoRA) of a pretrained classifier: add them, and merge their weights."""

import warnings
from typing import Any

import torch

from ...loaders.errors import needs_extra

#: Alpha, by which adapters are scaled over their rank, is this many times the rank.
_ALPHA = 2
_DROPOUT = 0.05


def add_adapters(model: Any, rank: int) -> None:
    """Add adapters to the encoder of a classifier, in place, and freeze its other weights.

    The layers that get one are those that peft chooses for the architecture, otherwise all linear
    ones. The head, and the pooler that some encoders have for it, are trained whole.

    Args:
        model: A classifier of ``transformers``.
        rank: Rank of the adapters, from 1. Their weights are drawn by torch's generator; before
            training they change nothing.

    Raises:
        MissingExtraError: peft is not installed.

    Source: Hu et al. (2022), LoRA, section 4.1.
    """
    with needs_extra("baselines", "LoRA"):
        from peft import LoraConfig, inject_adapter_in_model
        from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as CHOSEN

    encoder, kind = model.base_model, model.config.model_type
    has_pooler = getattr(encoder, "pooler", None) is not None
    config = LoraConfig(
        r=rank,
        lora_alpha=_ALPHA * rank,
        lora_dropout=_DROPOUT,
        target_modules=None if kind in CHOSEN else "all-linear",  # None leaves it to peft
        exclude_modules=r"pooler(\..*)?" if has_pooler else None,
    )
    with warnings.catch_warnings():  # of the transposed weights of GPT-2, which it then minds
        warnings.filterwarnings("ignore", message="fan_in_fan_out is set to False")
        inject_adapter_in_model(config, encoder)
    if has_pooler:
        encoder.pooler.requires_grad_(True)


def merged_weights(model: Any) -> dict[str, torch.Tensor]:
    """Return the weights of a classifier as they would be without adapters, these added to them.

    The model stays as it is: adding and subtracting an adapter again would leave rounding errors.

    Args:
        model: A classifier that ``add_adapters`` changed.

    Returns:
        The state of the classifier, by the names that it had before.
    """
    from peft.tuners.lora import LoraLayer

    adapted: dict[str, Any] = {
        name: layer for name, layer in model.named_modules() if isinstance(layer, LoraLayer)
    }
    found = {}
    for name, value in model.state_dict().items():
        owner = next((prefix for prefix in adapted if name.startswith(f"{prefix}.")), None)
        part = name.removeprefix(f"{owner}.base_layer.") if owner is not None else name
        if part == name and owner is not None:  # of the adapter itself
            continue
        if owner is not None and part == "weight":
            [key] = adapted[owner].active_adapters
            value = value + adapted[owner].get_delta_weight(key)
        found[name if owner is None else f"{owner}.{part}"] = value.detach()
    return found
