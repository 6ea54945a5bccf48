"""What the training loop asks of a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import torch

from ..evaluation.gold import Gold
from .encoded import EncodedRows


class Trainable(Protocol):
    """A model, how rows become its inputs, and how it is kept.

    Attributes:
        model: Gives logits, b x labels, for the inputs that ``encode`` makes; a label's logit is at
            the position of its id in the dataset.
        labels: The label set.
    """

    model: torch.nn.Module
    labels: tuple[str, ...]

    def encode(self, rows: Gold) -> EncodedRows:
        """The inputs of the model for rows with texts."""
        ...

    def save(self, folder: Path) -> None:
        """Writes all that ``load`` needs into an empty folder."""
        ...

    def load(self, folder: Path) -> None:
        """Takes the weights that ``save`` wrote."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """What the record of a run says of it."""
        ...
