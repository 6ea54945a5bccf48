"""The state of training, kept so that a killed run goes on to the same result."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from ...loaders.atomic_write import whole_file
from ...loaders.errors import UsageError
from ..runs.folder import STATE


@dataclass
class State:
    """How far training has come.

    Attributes:
        epoch: The epoch at work, from 1.
        step: Steps of it that are done.
        loss: Sum of its rows' losses so far.
        best_epoch: The best epoch so far; 0 before the first.
        best_score: Its validation macro-F1.
        n_without_gain: Epochs since.
        seconds: Time spent on steps.
        n_pairs: Pairs seen, in all epochs.
        log_size: Bytes of the log.
        is_over: Whether training has ended.
        dynamics: For each finished or begun epoch, the gold label's probability of every training
            row as it was trained on; NaN where it was not yet.
    """

    epoch: int = 1
    step: int = 0
    loss: float = 0.0
    best_epoch: int = 0
    best_score: float = -1.0
    n_without_gain: int = 0
    seconds: float = 0.0
    n_pairs: int = 0
    log_size: int = 0
    is_over: bool = False
    dynamics: list[torch.Tensor] = field(default_factory=list)

    def save(self, folder: Path, tensors: dict[str, Any]) -> None:
        """Keeps the state.

        Args:
            folder: The folder of the run.
            tensors: States of the model, the optimizer and the schedule.
        """
        with whole_file(folder / STATE) as path:
            torch.save({**asdict(self), "tensors": tensors}, path)

    @classmethod
    def load(cls, folder: Path) -> tuple["State", dict[str, Any] | None]:
        """The state that was kept, or a new one.

        Returns:
            The state and what was given to ``save``; None with a new state.

        Raises:
            UsageError: The file is damaged.
        """
        path = folder / STATE
        if not path.is_file():
            return cls(), None
        try:
            kept = torch.load(path, map_location="cpu", weights_only=True)
            tensors = kept.pop("tensors")
            return cls(**kept), tensors
        except Exception as error:  # torch raises many kinds
            raise UsageError(
                f"{path} is damaged ({type(error).__name__}); remove it to train from the start."
            ) from error
