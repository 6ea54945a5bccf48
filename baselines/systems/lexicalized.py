"""The lexicalized classifier: maximum entropy on shared words and on n-grams of the hypothesis."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix, hstack
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from ...loaders.errors import SourceNotFoundError, UnknownNameError, UsageError
from ..evaluation.gold import Gold
from ..evaluation.predictions import prediction_table
from ..runs.config import RunConfig
from ..runs.folder import RunFolder
from .lexical_features import FeatureExtractor

if TYPE_CHECKING:
    from ..training.execution import Execution

#: What ``details`` of a run may hold: groups of features, in how many training hypotheses an n-gram
#: occurs at least, and the penalty.
DETAILS = ("groups", "min_count", "l2")


FEATURES_FILE = "features.json"


WEIGHTS_FILE = "weights.npz"


_MAX_ITERATIONS = 1000


class Lexicalized:
    """A maximum-entropy classifier on features that are counted.

    Columns that compare the two texts are standardized by the training set, so that the penalty
    weighs them alike; indicators of n-grams are 0 or 1 as they are. There is no seed: with the
    penalty there is one optimum, and the same rows lead to it by the same steps.

    Attributes:
        features: The extractor of its features.
        l2: The penalty on the weights.

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
        """Sets up a classifier that is yet to be trained.

        Args:
            groups: Groups of features; None takes all that the view allows.
            view: ``"pair"``, or ``"hypothesis"`` to see the hypothesis alone.
            min_count: An n-gram is a feature if that many training hypotheses, at least, have it.
            l2: Half this times the sum of squared weights is added to the loss, which is the sum
                over the rows; above 0. The paper names none.

        Raises:
            UnknownNameError: There is no such group or view.
            UsageError: A number or a group is not as described.
        """
        if not 0 < l2 < float("inf"):
            raise UsageError(f"l2: expected a number above 0, got {l2!r}.")
        self.features = FeatureExtractor(groups, view=view, min_count=min_count)
        self.l2 = l2
        self._fitted: dict[str, np.ndarray] | None = None

    @property
    def n_labels(self) -> int:
        """The number of labels.

        Raises:
            UsageError: ``fit`` was not called.
        """
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
        """Trains the classifier.

        Args:
            premises: n texts; may be None where no feature needs them.
            hypotheses: n texts.
            labels: n ids from 0 to below ``n_labels``, of two labels at least.
            n_labels: How many labels there are; one that no row has gets the probability 0.
            num_proc: Processes to compute the features in.

        Returns:
            The classifier itself.

        Raises:
            UsageError: The texts or labels are not as described.
        """
        targets = _check_labels(labels, len(hypotheses), n_labels)
        rows = self.features.fit(hypotheses).transform(premises, hypotheses, num_proc=num_proc)
        dense = rows[:, : len(self.features.dense_names)].toarray()
        deviation = dense.std(axis=0)
        mean, scale = dense.mean(axis=0), np.where(deviation > 0, deviation, 1.0)
        model = LogisticRegression(C=1 / self.l2, max_iter=_MAX_ITERATIONS)
        model.fit(_standardize(rows, mean, scale), targets)
        weights = np.zeros((n_labels, rows.shape[1]))
        bias = np.full(n_labels, -np.inf)
        # Of two labels scikit-learn keeps one row: the score of the second, less that of the first.
        is_single = len(model.classes_) == 2
        weights[model.classes_] = [0 * model.coef_[0], *model.coef_] if is_single else model.coef_
        bias[model.classes_] = [0.0, *model.intercept_] if is_single else model.intercept_
        self._fitted = {"weights": weights, "bias": bias, "mean": mean, "scale": scale}
        return self

    def probabilities(
        self, premises: Sequence[str] | None, hypotheses: Sequence[str], *, num_proc: int = 1
    ) -> np.ndarray:
        """The probability of each label.

        Args:
            premises: n texts; may be None where no feature needs them.
            hypotheses: n texts.
            num_proc: Processes to compute the features in.

        Returns:
            Shape ``(n, n_labels)``, float64, each row summing to 1.

        Raises:
            UsageError: The texts are not as described, or ``fit`` was not called.
        """
        fitted = self._parameters()
        rows = self.features.transform(premises, hypotheses, num_proc=num_proc)
        standardized = _standardize(rows, fitted["mean"], fitted["scale"])
        found: np.ndarray = softmax(standardized @ fitted["weights"].T + fitted["bias"], axis=1)
        return found

    def save(self, folder: Path) -> None:
        """Writes ``features.json`` and ``weights.npz`` into a folder, which is made if need be.

        Raises:
            UsageError: ``fit`` was not called.
        """
        arrays: dict[str, Any] = {"l2": self.l2, **self._parameters()}
        folder.mkdir(parents=True, exist_ok=True)
        self.features.save(folder / FEATURES_FILE)
        np.savez(folder / WEIGHTS_FILE, **arrays)

    @classmethod
    def load(cls, folder: Path) -> "Lexicalized":
        """Reads a classifier that ``save`` wrote.

        Raises:
            SourceNotFoundError: A file is missing.
            UsageError: A file is not of this form, or the two do not belong together.
        """
        features = FeatureExtractor.load(folder / FEATURES_FILE)
        path = folder / WEIGHTS_FILE
        try:
            with np.load(path, allow_pickle=False) as file:
                fitted = {name: file[name] for name in ("weights", "bias", "mean", "scale")}
                model = cls(l2=float(file["l2"]))
        except FileNotFoundError:
            raise SourceNotFoundError(f"There is no file {path}.") from None
        except (ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
            raise UsageError(f"{path} holds no classifier: {error}") from None
        n_dense = len(features.dense_names)
        shapes = [(len(fitted["bias"]), len(features.names)), (n_dense,), (n_dense,)]
        if [fitted[name].shape for name in ("weights", "mean", "scale")] != shapes:
            raise UsageError(f"{path} is not of the features in {folder / FEATURES_FILE}.")
        model.features, model._fitted = features, fitted
        return model

    def _parameters(self) -> dict[str, np.ndarray]:
        if self._fitted is None:
            raise UsageError("The classifier is not trained yet: call fit first.")
        return self._fitted


def _standardize(rows: csr_matrix, mean: np.ndarray, scale: np.ndarray) -> csr_matrix:
    dense = (rows[:, : len(mean)].toarray() - mean) / scale
    return hstack([csr_matrix(dense), rows[:, len(mean) :]], format="csr")


def _check_labels(labels: Any, n_rows: int, n_labels: int) -> np.ndarray:
    found = np.asarray(labels)
    if found.shape != (n_rows,):
        raise UsageError(f"labels: expected {n_rows}, one a row; got the shape {found.shape}.")
    if found.dtype.kind not in "iu":
        raise UsageError(f"labels: expected ids from 0, got values of type {found.dtype}.")
    if len(bad := np.flatnonzero((found < 0) | (found >= n_labels))):
        raise UsageError(f"labels: row {bad[0]} has {found[bad[0]]}, expected 0 to {n_labels - 1}.")
    if len(np.unique(found)) < 2:
        raise UsageError("labels: expected rows of two labels at least.")
    return found


class LexicalizedSystem:
    """The lexicalized classifier, trained and tested; nothing in it is drawn.

    Args:
        config: The run.
        labels: The label set.
        folder: The run's folder.
        execution: Of it the number of processes.

    Raises:
        UnknownNameError: A detail or a group of features is unknown.
        UsageError: A detail is not as expected.
    """

    def __init__(
        self, config: RunConfig, labels: tuple[str, ...], folder: RunFolder, execution: "Execution"
    ) -> None:
        for name in config.details:
            if name not in DETAILS:
                raise UnknownNameError.of("detail of lexicalized", name, DETAILS)
        chosen = {name: config.details[name] for name in DETAILS if name in config.details}
        self._labels, self._folder, self._execution = labels, folder, execution
        self._model = Lexicalized(chosen.pop("groups", None), view=config.view, **chosen)

    def fit(self, train: Gold, validation: Gold | None) -> Mapping[str, Any]:
        """Trains it, unless the run has trained it before."""
        checkpoint = self._folder.checkpoint
        if checkpoint.is_dir():
            self._model = Lexicalized.load(checkpoint)
            return {"n_train": len(train.rows)}
        self._model.fit(
            train.rows["premise"].to_pylist(),
            train.rows["hypothesis"].to_pylist(),
            train.rows["label"].to_pylist(),
            len(self._labels),
            num_proc=self._execution.num_proc,
        )
        self._folder.save_checkpoint(self._model.save)
        return {"n_train": len(train.rows)}

    def predict(self, rows: Gold) -> pa.Table:
        """Predictions with probabilities."""
        found = self._model.probabilities(
            rows.rows["premise"].to_pylist(),
            rows.rows["hypothesis"].to_pylist(),
            num_proc=self._execution.num_proc,
        )
        return prediction_table(rows, found)

    def facts(self) -> Mapping[str, Any]:
        """The number of weights."""
        n_weights = (len(self._model.features.names) + 1) * len(self._labels)
        return {"n_parameters": n_weights, "n_trained": n_weights}
