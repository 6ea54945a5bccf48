"""The systems that runs train and test: one class for each method, and what all have in common."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # so that importing one system does not import the libraries of all
    import pyarrow as pa

    from ...loaders.progress import Tell
    from ..evaluation.gold import GoldRows
    from ..runs.config import RunConfig
    from ..runs.folder import RunFolder
    from ..training.execution import Execution
    from ..training.loop import Trainable


class System(Protocol):
    """A method applied to a dataset: it may learn from training rows, and predicts labels."""

    def fit(self, train: "GoldRows", validation: "GoldRows | None") -> Mapping[str, Any]:
        """Train the system.

        Args:
            train: The training rows; for a prompt, the rows to draw exemplars from.
            validation: The rows on which epochs, or penalties, are compared; may be None.

        Returns:
            Facts for the run's record, and ``dynamics`` (epochs x rows) where a model was trained.
        """

    def predict(self, rows: "GoldRows") -> "pa.Table":
        """Predict the label of each of n rows with texts.

        Returns:
            n rows in the same order: ``id``, ``prediction`` (the name of a label, or null where an
            answer could not be read), and either ``probability_LABEL`` for every label or the
            answer and why it could not be read.
        """

    def facts(self) -> Mapping[str, Any]:
        """Return further facts for the run's record; call it after ``predict``."""


def make_system(
    config: "RunConfig",
    labels: tuple[str, ...],
    folder: "RunFolder",
    execution: "Execution",
    tell: "Tell",
) -> System:
    """Make the system of a baseline run, by the method of its config.

    Args:
        config: The config of the run.
        labels: The label set in the order of its ids.
        folder: The run's folder.
        execution: Device and precision of the computation.
        tell: Receives progress messages.

    Raises:
        UnknownNameError: The config has a detail that the method does not know.
        UsageError: A detail of the method has a wrong value.
        ModelError: The model does not fit the method or the labels.
        SourceNotFoundError: The model cannot be loaded.
        MissingExtraError: A library of the method is not installed.
    """
    if config.method == "lexicalized":
        from .lexicalized import LexicalizedSystem

        return LexicalizedSystem(config, labels, folder, execution)
    if config.method == "probe":
        from .probe import ProbeSystem

        return ProbeSystem(config, labels, folder, execution)
    if config.method == "prompt":
        from .prompting.ask import PromptSystem

        return PromptSystem(config, labels, folder, execution)
    if config.method == "zero-shot":
        from .encoders import ZeroShot

        return ZeroShot(config, labels, execution)
    from ..training.loop import TrainedSystem

    def make(train: "GoldRows") -> "Trainable":
        if config.method == "encoder":
            from .encoders import Encoder

            return Encoder(config, labels)
        from .neural import Neural

        return Neural(config, labels, train)

    return TrainedSystem(make, config, labels, folder, execution, tell)
