"""The systems, by the method of a run."""

from collections.abc import Mapping
from typing import Any, Protocol

import pyarrow as pa

from ...loaders.progress import Tell
from ..evaluation.gold import Gold
from ..training.execution import Execution
from .config import RunConfig
from .folder import RunFolder


class System(Protocol):
    """What a run trains and tests."""

    def fit(self, train: Gold, validation: Gold | None) -> Mapping[str, Any]:
        """Trains it.

        Args:
            train: The training rows; the pool of exemplars for a prompt.
            validation: On what epochs are compared.

        Returns:
            What the record says of it, and perhaps ``dynamics``, epochs x rows.
        """
        ...

    def predict(self, rows: Gold) -> pa.Table:
        """Predicts labels.

        Args:
            rows: The rows.

        Returns:
            For each row ``id``, ``prediction`` (a label's name, or null), and perhaps
            ``probability_LABEL`` for every label or what else there is to say.
        """
        ...

    def facts(self) -> Mapping[str, Any]:
        """What the record says of it besides, after what it has predicted so far."""
        ...


def make_system(
    config: RunConfig,
    labels: tuple[str, ...],
    folder: RunFolder,
    execution: Execution,
    tell: Tell,
) -> System:
    """The system of a run.

    Args:
        config: The run.
        labels: The label set.
        folder: The run's folder.
        execution: How to compute.
        tell: Is told of progress.

    Raises:
        UsageError: A detail of the method is not as expected.
        ModelError: The model cannot be used for it.
        SourceNotFoundError: There is no such model at hand.
    """
    if config.method == "lexicalized":
        from ..classical.system import LexicalizedSystem

        return LexicalizedSystem(config, labels, folder, execution)
    if config.method == "prompt":
        from ..prompting.system import PromptSystem

        return PromptSystem(config, labels, folder, execution)
    if config.method == "zero-shot":
        from ..encoders.zero_shot import ZeroShot

        return ZeroShot(config, labels, execution)
    from ..training.system import TrainedSystem

    if config.method == "encoder":
        from ..encoders.encoder import Encoder

        return TrainedSystem(
            lambda train: Encoder(config, labels), config, labels, folder, execution, tell
        )
    from ..neural.system import Neural

    return TrainedSystem(
        lambda train: Neural(config, labels, train), config, labels, folder, execution, tell
    )
