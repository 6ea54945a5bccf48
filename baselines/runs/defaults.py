"""Hyper-parameters of fine-tuning where no preset is named: they follow from rows and model."""

import math
from collections.abc import Mapping
from typing import Any

#: The hyper-parameters that are chosen unless they are given.
CHOSEN = (
    "learning_rate",
    "batch_size",
    "max_epochs",
    "patience",
    "max_length",
    "optimizer",
    "weight_decay",
    "schedule",
    "warmup_steps",
)
#: The rate that suits an encoder of so many parameters; larger ones take less.
_RATE, _PARAMETERS, _POWER = 1e-4, 22.7e6, 0.75
_LEAST_RATE, _MOST_RATE = 1e-5, 3e-4
#: Adapters, which start at nothing, take higher ones.
_TIMES_FOR_ADAPTERS, _MOST_FOR_ADAPTERS = 10, 1e-3
#: Fewer rows are learned in small batches, and in more passes.
FEW_ROWS, _SMALL_BATCH, _BATCH = 1_000, 16, 32
_STEPS, _LEAST_EPOCHS, _MOST_EPOCHS = 500, 3, 20
_WARM_UP = 0.06
_LENGTH = 300


def choose_hyperparameters(
    n_rows: int, n_parameters: int, max_tokens: int | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Choose the hyper-parameters of an encoder that are not given.

    They are ours, not a paper's: AdamW with a rate that falls with the size of the model, linear
    decay after a short warm-up, as many epochs as give at least 500 steps, 3 to 20, of which the
    best on the validation rows is kept. ``benchmarks/README.md`` has what they reach. Adapters
    (``lora_rank`` in ``given``) take ten times the rate, at most 1e-3.

    Args:
        n_rows: Number of training rows, from 1.
        n_parameters: Number of parameters of the model.
        max_tokens: Maximum number of tokens that the model reads; None if there is none.
        given: Hyper-parameters that are not to be chosen, by name; the others suit them.

    Returns:
        The other ones of ``CHOSEN``, by name.
    """
    values: dict[str, Any] = dict(given)

    def choose(name: str, value: Any) -> None:
        values.setdefault(name, value)

    rate = _RATE * (_PARAMETERS / n_parameters) ** _POWER
    rate = min(max(rate, _LEAST_RATE), _MOST_RATE)
    if values.get("lora_rank") is not None:
        rate = min(_TIMES_FOR_ADAPTERS * rate, _MOST_FOR_ADAPTERS)
    choose("learning_rate", float(f"{rate:.1g}"))
    choose("batch_size", _SMALL_BATCH if n_rows < FEW_ROWS else _BATCH)
    n_steps = math.ceil(n_rows / values["batch_size"])
    choose("max_epochs", min(max(math.ceil(_STEPS / n_steps), _LEAST_EPOCHS), _MOST_EPOCHS))
    choose("patience", None)
    choose("max_length", min(_LENGTH, max_tokens or _LENGTH))
    choose("optimizer", "adamw")
    choose("weight_decay", 0.01 if values["optimizer"] == "adamw" else 0.0)
    choose("schedule", "linear")
    choose("warmup_steps", round(_WARM_UP * n_steps * values["max_epochs"]))
    return {name: values[name] for name in CHOSEN if name not in given}
