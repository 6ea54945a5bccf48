"""The lexicalized classifier: maximum entropy on shared words and on n-grams of the hypothesis."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix, hstack
from scipy.special import softmax

from ...loaders.errors import SourceNotFoundError, UsageError
from ..evaluation.gold import GoldRows
from ..evaluation.predictions import prediction_table
from ..runs.config import RunConfig
from ..runs.folder import RunFolder
from .lexical_features import FeatureExtractor
from .logistic import check_labels, fit_logistic

if TYPE_CHECKING:
    from ..training.execution import Execution

#: Keys of ``details`` of a run: groups of features, the minimum number of training hypotheses that
#: contain an n-gram, and the penalty.
DETAILS = ("groups", "min_count", "l2")

FEATURES_FILE = "features.json"
WEIGHTS_FILE = "weights.npz"


class Lexicalized:
    """A maximum-entropy classifier on counted features.

    Columns that compare the two texts are standardized by the training set, so that the penalty
    weighs them alike; indicators of n-grams are 0 or 1. There is no seed: with the penalty there is
    one optimum, and the same rows lead to it by the same steps.

    Args:
        groups: Groups of features, of ``lexical_features.GROUPS``; None takes all that the view
            allows.
        view: ``"pair"``, or ``"hypothesis"`` to see the hypothesis alone.
        min_count: Minimum number of training hypotheses that contain an n-gram, from 1.
        l2: Penalty, above 0: ``l2 / 2`` times the sum of squared weights is added to the loss,
            which is the sum over the rows. The paper names none.

    Raises:
        UnknownNameError: There is no such group or view.
        UsageError: A number is out of its range, there are no groups, or a group needs the premise
            but the view has none.

    Source: SciNLI, sections 4.2 and 4.3; the classifier is that of Bowman et al. (2015).
    """

    def __init__(
        self,
        groups: Sequence[str] | None = None,
        *,
        view: str = "pair",
        min_count: int = 1,
        l2: float = 1.0,
    ) -> None:
        if not 0 < l2 < float("inf"):
            raise UsageError(f"l2: expected a number above 0, got {l2!r}.")
        self.features = FeatureExtractor(groups, view=view, min_count=min_count)
        self.l2 = l2
        self._fitted: dict[str, np.ndarray] | None = None

    @property
    def n_labels(self) -> int:
        """Return the number of labels; raise ``UsageError`` before ``fit``."""
        return len(self._parameters()["bias"])

    def fit(
        self,
        premises: Sequence[str] | None,
        hypotheses: Sequence[str],
        labels: Sequence[int],
        n_labels: int,
        *,
        num_proc: int = 1,
    ) -> "Lexicalized":
        """Train the classifier, and return it.

        Args:
            premises: n texts; may be None if no feature needs them.
            hypotheses: n texts.
            labels: n label ids, 0 to ``n_labels - 1``, of at least two labels.
            n_labels: Number of labels; a label without rows gets the probability 0.
            num_proc: Number of processes that compute the features, from 1.

        Raises:
            UsageError: The texts are not lists of texts of equal length, or the labels are not n
                ids of at least two labels.
        """
        targets = check_labels(labels, len(hypotheses), n_labels)
        rows = self.features.fit(hypotheses).transform(premises, hypotheses, num_proc=num_proc)
        dense = rows[:, : len(self.features.dense_names)].toarray()
        deviation = dense.std(axis=0)
        mean, scale = dense.mean(axis=0), np.where(deviation > 0, deviation, 1.0)
        fitted = fit_logistic(_standardize(rows, mean, scale), targets, n_labels, 1 / self.l2)
        self._fitted = {**fitted, "mean": mean, "scale": scale}
        return self

    def probabilities(
        self, premises: Sequence[str] | None, hypotheses: Sequence[str], *, num_proc: int = 1
    ) -> np.ndarray:
        """Compute the probability of each label.

        Args:
            premises: n texts; may be None if no feature needs them.
            hypotheses: n texts.
            num_proc: Number of processes that compute the features, from 1.

        Returns:
            Shape ``(n, n_labels)``, float64, from 0 to 1; each row sums to 1.

        Raises:
            UsageError: The texts are not lists of texts of equal length, or ``fit`` was not called.
        """
        fitted = self._parameters()
        rows = self.features.transform(premises, hypotheses, num_proc=num_proc)
        standardized = _standardize(rows, fitted["mean"], fitted["scale"])
        found: np.ndarray = softmax(standardized @ fitted["weights"].T + fitted["bias"], axis=1)
        return found

    def save(self, folder: Path) -> None:
        """Write ``features.json`` and ``weights.npz`` into a folder, new or not.

        Raises:
            UsageError: ``fit`` was not called.
        """
        arrays: dict[str, Any] = {"l2": self.l2, **self._parameters()}
        folder.mkdir(parents=True, exist_ok=True)
        self.features.save(folder / FEATURES_FILE)
        np.savez(folder / WEIGHTS_FILE, **arrays)

    @classmethod
    def load(cls, folder: Path) -> "Lexicalized":
        """Read a classifier that ``save`` wrote into a folder.

        Raises:
            SourceNotFoundError: A file is missing.
            UnknownNameError: The features have an unknown group or view.
            UsageError: A file is malformed, or the two do not belong together.
        """
        features = FeatureExtractor.load(folder / FEATURES_FILE)
        path = folder / WEIGHTS_FILE
        try:
            with np.load(path, allow_pickle=False) as file:
                fitted = {name: file[name] for name in ("weights", "bias", "mean", "scale")}
                model = cls(l2=float(file["l2"]))
        except FileNotFoundError:
            raise SourceNotFoundError(f"The file {path} does not exist.") from None
        except (ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
            raise UsageError(f"{path} is not the file of a classifier: {error}") from None
        n_dense = len(features.dense_names)
        shapes = [(len(fitted["bias"]), len(features.names)), (n_dense,), (n_dense,)]
        if [fitted[name].shape for name in ("weights", "mean", "scale")] != shapes:
            raise UsageError(
                f"{path} has weights for other features than {folder / FEATURES_FILE}; the two "
                "files do not belong together."
            )
        model.features, model._fitted = features, fitted
        return model

    def _parameters(self) -> dict[str, np.ndarray]:
        if self._fitted is None:
            raise UsageError("The classifier is not trained yet; call fit first.")
        return self._fitted


def _standardize(rows: csr_matrix, mean: np.ndarray, scale: np.ndarray) -> csr_matrix:
    dense = (rows[:, : len(mean)].toarray() - mean) / scale
    return hstack([csr_matrix(dense), rows[:, len(mean) :]], format="csr")


class LexicalizedSystem:
    """The lexicalized classifier as the system of a run; it does not depend on the seed.

    Args:
        config: The config of the run.
        labels: The label set in the order of its ids.
        folder: The run's folder.
        execution: Gives the number of processes.

    Raises:
        UnknownNameError: A detail or a group of features is unknown.
        UsageError: A detail has a wrong value.
    """

    def __init__(
        self, config: RunConfig, labels: tuple[str, ...], folder: RunFolder, execution: "Execution"
    ) -> None:
        chosen = config.checked_details("lexicalized", DETAILS)
        self._labels, self._folder, self._execution = labels, folder, execution
        self._model = Lexicalized(chosen.pop("groups", None), view=config.view, **chosen)

    def fit(self, train: GoldRows, validation: GoldRows | None) -> Mapping[str, Any]:
        """Train the classifier, or load it if the run has trained it before."""
        checkpoint = self._folder.checkpoint
        if checkpoint.is_dir():
            self._model = Lexicalized.load(checkpoint)
            return {"n_train": len(train.rows)}
        columns = (train.rows[name].to_pylist() for name in ("premise", "hypothesis", "label"))
        premises, hypotheses, labels = columns
        n_labels, num_proc = len(self._labels), self._execution.num_proc
        self._model.fit(premises, hypotheses, labels, n_labels, num_proc=num_proc)
        self._folder.save_checkpoint(self._model.save)
        return {"n_train": len(train.rows)}

    def predict(self, rows: GoldRows) -> pa.Table:
        """Predict labels, with probabilities."""
        columns = (rows.rows[name].to_pylist() for name in ("premise", "hypothesis"))
        found = self._model.probabilities(*columns, num_proc=self._execution.num_proc)
        return prediction_table(rows, found)

    def facts(self) -> Mapping[str, Any]:
        """Return the number of weights."""
        n_weights = (len(self._model.features.names) + 1) * len(self._labels)
        return {"n_parameters": n_weights, "n_trained": n_weights}
