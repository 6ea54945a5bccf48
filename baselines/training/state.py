"""The state of training, saved so that an interrupted run resumes to the same result."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from ...loaders.atomic_write import whole_file
from ...loaders.errors import UsageError
from ..runs.folder import STATE


@dataclass
class State:
    """The state of training.

    Attributes:
        epoch: The current epoch, from 1.
        step: Finished steps of the current epoch.
        loss: Sum of the losses of the current epoch's rows so far.
        best_epoch: The best epoch so far; 0 before the end of the first.
        best_score: Validation macro-F1 of the best epoch, from 0 to 1; -1 before any.
        n_without_gain: Epochs since the best epoch.
        seconds: Seconds spent on steps.
        n_pairs: Training pairs seen, over all epochs.
        log_size: Size of the log in bytes.
        is_over: Whether training has ended.
        dynamics: For each epoch so far n probabilities of the gold label when the row was trained
            on; NaN for rows of the current epoch that were not yet.
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
        """Save the state.

        Args:
            folder: The folder of the run.
            tensors: The states of the model, the optimizer and the schedule.
        """
        with whole_file(folder / STATE) as path:
            torch.save({**asdict(self), "tensors": tensors}, path)

    @classmethod
    def load(cls, folder: Path) -> tuple["State", dict[str, Any] | None]:
        """Load the saved state, or make a new one.

        Args:
            folder: The folder of the run.

        Returns:
            The state, and the tensors that were saved with it; None with a new state.

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
