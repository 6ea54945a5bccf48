"""The optimizer and the learning rate."""

from collections.abc import Iterable

import torch

from ..runs.config import Options


def make_optimizer(
    parameters: Iterable[torch.nn.Parameter], options: Options, *, fused: bool
) -> torch.optim.Optimizer:
    """The optimizer that the options name.

    Args:
        parameters: What is trained.
        options: Hyper-parameters.
        fused: Whether to take all parameters in one step of the device, the same up to rounding.
    """
    rate = options.learning_rate
    if options.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=rate, fused=fused)
    return torch.optim.AdamW(parameters, lr=rate, weight_decay=options.weight_decay, fused=fused)


def make_schedule(
    optimizer: torch.optim.Optimizer, options: Options, n_steps: int
) -> torch.optim.lr_scheduler.LambdaLR:
    """How the rate changes from step to step.

    Args:
        optimizer: Whose rate it is.
        options: Hyper-parameters.
        n_steps: Steps of an epoch.
    """
    warmup, total = options.warmup_steps, n_steps * options.max_epochs

    def share(step: int) -> float:
        if step < warmup:
            return step / warmup
        if options.schedule == "constant":
            return 1.0
        return max(total - step, 0) / max(total - warmup, 1)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, share)
