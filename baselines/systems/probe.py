"""The linear probe: logistic regression on what a frozen encoder makes of each text by itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
import torch
from scipy.special import softmax

from ...loaders.errors import SourceNotFoundError, UsageError
from ...metrics.functional import nli_report
from ..evaluation.gold import GoldRows
from ..evaluation.predictions import prediction_table
from ..runs.config import RunConfig
from ..runs.folder import RunFolder
from ..training.predict import apply_model
from ..training.system import count_parameters
from .logistic import check_labels, fit_logistic
from .pretrained import (
    encode_texts,
    load_config_and_tokenizer,
    load_encoder,
    name_of_rows,
    pretrained_facts,
)

if TYPE_CHECKING:
    from ..training.execution import Execution

#: Inverse penalties, of which the validation rows choose one; that without validation rows.
INVERSE_PENALTIES = (0.01, 0.1, 1.0, 10.0)
WITHOUT_VALIDATION = 1.0

WEIGHTS_FILE = "weights.npz"


class TextEncoder:
    """A frozen encoder: the vector of a text is the mean of its tokens' last hidden states.

    Vectors have length 1, so that a penalty means the same for every encoder: on SciNLI it is the
    scale at which the usual penalty of 1 is near the best. Each distinct text is encoded once, in
    batches of texts of similar length, and cut at what the model reads.

    Args:
        model: The model: a name on the Hub, or a folder.
        revision: Commit, tag or branch of a model on the Hub; None takes the newest.
        execution: Device and precision of the computation.

    Attributes:
        cut: The texts that were too long.

    Raises:
        SourceNotFoundError: The model cannot be loaded.
        ModelError: It has no fast tokenizer, or lacks weights.
    """

    def __init__(self, model: str, revision: str | None, execution: "Execution") -> None:
        self._config, self._tokenizer = load_config_and_tokenizer(model, revision)
        self._model = load_encoder(model, revision).requires_grad_(False).eval()
        self._size = int(self._model.config.get_text_config().hidden_size)
        self._execution = execution
        self._vectors: dict[str, np.ndarray] = {}
        self.cut: set[str] = set()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Encode n texts.

        Returns:
            Shape ``(n, size)``, float32.

        Raises:
            TrainingError: Not even one text fits into memory.
        """
        if new := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            rows, is_cut = encode_texts(new, self._tokenizer, self._config)
            self._model.to(self._execution.accelerator.device)
            found = apply_model(
                self._mean_states, rows, self._size, self._execution, "encoded", "texts"
            )
            self._vectors |= zip(new, found, strict=True)
            self.cut |= {text for text, was_cut in zip(new, is_cut, strict=True) if was_cut}
        vectors = [self._vectors[text] for text in texts]
        return np.stack(vectors) if vectors else np.zeros((0, self._size), np.float32)

    def _mean_states(self, **inputs: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self._model(**inputs).last_hidden_state.float()
        is_token = inputs["attention_mask"][:, :, None] > 0
        # The direction of the mean is that of the sum; a text without tokens stays zero.
        return torch.nn.functional.normalize(states.masked_fill(~is_token, 0).sum(dim=1), dim=1)

    def facts(self) -> Mapping[str, Any]:
        """Return the pretrained model's facts, and its number of parameters."""
        return {
            "pretrained": pretrained_facts(self._config, self._tokenizer),
            "n_parameters": count_parameters(self._model)["n_parameters"],
        }


def pair_features(premises: np.ndarray | None, hypotheses: np.ndarray) -> np.ndarray:
    """Join the vectors of two texts u and v as ``[u, v, |u - v|, u * v]``.

    Args:
        premises: Shape ``(n, size)``; None leaves the vectors of the hypotheses as they are.
        hypotheses: Shape ``(n, size)``.

    Returns:
        Shape ``(n, 4 * size)``, or ``(n, size)`` without premises.

    Source: Conneau et al. (2017), InferSent, section 3.1.
    """
    if premises is None:
        return hypotheses
    parts = (premises, hypotheses, abs(premises - hypotheses), premises * hypotheses)
    return np.concatenate(parts, axis=1)


class Probe:
    """A logistic regression on features of pairs; the same rows give the same weights."""

    def __init__(self) -> None:
        self._fitted: dict[str, np.ndarray] | None = None

    def fit(
        self,
        rows: np.ndarray,
        labels: Sequence[int],
        label_set: Sequence[str],
        validation: tuple[np.ndarray, Sequence[int]] | None = None,
    ) -> "Probe":
        """Train the classifier, and return it.

        Args:
            rows: Features, shape ``(n, k)``.
            labels: n label ids, of at least two labels.
            label_set: The label set in the order of its ids; a label without rows gets the
                probability 0.
            validation: Features, shape ``(m, k)``, and m label ids; of ``INVERSE_PENALTIES`` the
                one with the best macro-F1 on them is taken, of equal ones the smallest. None takes
                ``WITHOUT_VALIDATION``.

        Raises:
            UsageError: The labels are not n ids of at least two labels.
        """
        targets = check_labels(labels, len(rows), len(label_set))
        tried = (WITHOUT_VALIDATION,) if validation is None else INVERSE_PENALTIES
        fitted = [fit_logistic(rows, targets, len(label_set), c) for c in tried]
        scores = []
        if validation is not None:
            references = np.asarray(validation[1])
            for found in fitted:
                predictions = _probabilities(found, validation[0]).argmax(axis=1)
                report = nli_report(
                    predictions=predictions, references=references, labels=label_set
                )
                scores.append(report["macro_f1"])
        best = int(np.argmax(scores)) if scores else 0
        self._fitted = {**fitted[best], "c": np.array(tried[best]), "scores": np.array(scores)}
        return self

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Compute the probability of each label.

        Args:
            rows: Features, shape ``(n, k)``.

        Returns:
            Shape ``(n, n_labels)``, float64, from 0 to 1; each row sums to 1.

        Raises:
            UsageError: ``fit`` was not called.
        """
        return _probabilities(self._parameters(), rows)

    def facts(self) -> Mapping[str, Any]:
        """Return the inverse penalty, and the validation macro-F1 of each that was tried."""
        fitted = self._parameters()
        scores = dict(zip(map(str, INVERSE_PENALTIES), fitted["scores"].tolist(), strict=False))
        return {"c": float(fitted["c"]), **({"macro_f1_by_c": scores} if scores else {})}

    @property
    def n_weights(self) -> int:
        """Return the number of weights; raise ``UsageError`` before ``fit``."""
        return sum(self._parameters()[name].size for name in ("weights", "bias"))

    def save(self, folder: Path) -> None:
        """Write ``weights.npz`` into a folder, new or not.

        Raises:
            UsageError: ``fit`` was not called.
        """
        arrays: dict[str, Any] = self._parameters()
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / WEIGHTS_FILE, **arrays)

    @classmethod
    def load(cls, folder: Path) -> "Probe":
        """Read a classifier that ``save`` wrote into a folder.

        Raises:
            SourceNotFoundError: The file is missing.
            UsageError: The file is malformed.
        """
        path, names = folder / WEIGHTS_FILE, ("weights", "bias", "c", "scores")
        try:
            with np.load(path, allow_pickle=False) as file:
                fitted = {name: file[name] for name in names}
        except FileNotFoundError:
            raise SourceNotFoundError(f"The file {path} does not exist.") from None
        except (ValueError, KeyError, EOFError, BadZipFile) as error:
            raise UsageError(f"{path} is not the file of a probe: {error}") from None
        model = cls()
        model._fitted = fitted
        return model

    def _parameters(self) -> dict[str, np.ndarray]:
        if self._fitted is None:
            raise UsageError("The probe is not trained yet; call fit first.")
        return self._fitted


def _probabilities(fitted: Mapping[str, np.ndarray], rows: np.ndarray) -> np.ndarray:
    found: np.ndarray = softmax(rows @ fitted["weights"].T + fitted["bias"], axis=1)
    return found


class ProbeSystem:
    """The linear probe as the system of a run; it does not depend on the seed.

    Args:
        config: The config of the run.
        labels: The label set in the order of its ids.
        folder: The run's folder.
        execution: Device and precision of the encoder.

    Raises:
        SourceNotFoundError: The model cannot be loaded.
        ModelError: It has no fast tokenizer, or lacks weights.
    """

    def __init__(
        self, config: RunConfig, labels: tuple[str, ...], folder: RunFolder, execution: "Execution"
    ) -> None:
        self._labels, self._folder, self._view = labels, folder, config.view
        self._encoder = TextEncoder(str(config.model), config.revision, execution)
        self._model = Probe()
        self._n_truncated: dict[str, int] = {}

    def fit(self, train: GoldRows, validation: GoldRows | None) -> Mapping[str, Any]:
        """Train the classifier, or load it if the run has trained it before."""
        checkpoint = self._folder.checkpoint
        if checkpoint.is_dir():
            self._model = Probe.load(checkpoint)
        else:
            compared = None
            if validation is not None:
                compared = (self._features(validation), validation.rows["label"].to_pylist())
            labels = train.rows["label"].to_pylist()
            self._model.fit(self._features(train), labels, self._labels, compared)
            self._folder.save_checkpoint(self._model.save)
        return {"n_train": len(train.rows), **self._model.facts()}

    def predict(self, rows: GoldRows) -> pa.Table:
        """Predict labels, with probabilities."""
        return prediction_table(rows, self._model.probabilities(self._features(rows)))

    def facts(self) -> Mapping[str, Any]:
        """Return the encoder's facts, the number of weights, and the rows with a truncated text."""
        facts, n_weights = dict(self._encoder.facts()), self._model.n_weights
        facts["n_parameters"] += n_weights
        return {**facts, "n_trained": n_weights, "truncated": dict(self._n_truncated)}

    def _features(self, rows: GoldRows) -> np.ndarray:
        names = ["hypothesis"] if self._view == "hypothesis" else ["premise", "hypothesis"]
        columns = [rows.rows[name].to_pylist() for name in names]
        vectors = self._encoder.encode([text for column in columns for text in column])
        *premises, hypotheses = np.split(vectors, len(columns))
        is_cut = (not self._encoder.cut.isdisjoint(row) for row in zip(*columns, strict=True))
        self._n_truncated[name_of_rows(rows)] = sum(is_cut)
        return pair_features(premises[0] if premises else None, hypotheses)
