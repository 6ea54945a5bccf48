"""The neural models of the SciNLI paper: a vector for each text, and a classifier on both.

A model reads batches of ids, padded by 0 after the last token of a text; how far does not matter.
The encoders of texts, ``CBOW``, ``CNN`` and ``BiLSTM``, take the word vectors of a batch, shape
``(b, t, dimension)`` and zero at the padding, and ``is_token``, shape ``(b, t)`` and False there;
they return a vector for each text, shape ``(b, size)``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ...loaders.errors import UnknownNameError, UsageError
from ...loaders.hashing import hash_file
from ..evaluation.gold import GoldRows
from ..runs.config import RunConfig
from ..training.batches import EncodedRows
from .vocabulary import PADDING_ID, VECTORS_DEVIATION, Vocabulary, encode_stems, read_vectors
from .words import read_model_json, write_model_json

KINDS = ("cbow", "cnn", "bilstm")

#: Keys of ``details`` of a run: the file of word vectors, their length, and the hidden units.
DETAILS = ("vectors", "dimension", "hidden")


@dataclass(frozen=True)
class NeuralConfig:
    """The kind and the sizes of a model.

    Attributes:
        kind: One of ``KINDS``.
        n_words: Number of word ids, padding and [UNK] included: ``len(vocabulary)``; from 2.
        n_labels: Number of labels, from 2.
        dimension: Length of a word vector, from 1.
        hidden: Units of each direction of the BiLSTM, and of the layer before the labels, of which
            the paper gives no size; from 1.
        n_filters: Filters of each width of the CNN, from 1.
        widths: Widths of the filters of the CNN, in tokens.

    Raises:
        UnknownNameError: There is no such kind.
        UsageError: A size is not a whole number, or is too small.

    Source: SciNLI, sections 4.1 and 4.3.
    """

    kind: str
    n_words: int
    n_labels: int
    dimension: int = 300
    hidden: int = 300
    n_filters: int = 64
    widths: Sequence[int] = (3, 5, 9)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError.of("neural model", str(self.kind), KINDS)
        if not isinstance(self.widths, list | tuple) or not self.widths:
            raise UsageError(f"widths: expected some numbers, got {self.widths!r}.")
        object.__setattr__(self, "widths", tuple(self.widths))  # JSON has lists
        least = {"n_words": 2, "n_labels": 2, "dimension": 1, "hidden": 1, "n_filters": 1}
        sizes = [(name, getattr(self, name), low) for name, low in least.items()]
        for name, size, low in [*sizes, *(("widths", width, 1) for width in self.widths)]:
            if isinstance(size, bool) or not isinstance(size, int) or size < low:
                raise UsageError(f"{name}: expected a whole number from {low}, got {size!r}.")

    def save(self, path: Path) -> None:
        """Write the configuration as JSON."""
        write_model_json(path, asdict(self))

    @classmethod
    def load(cls, path: Path) -> "NeuralConfig":
        """Read a configuration that ``save`` wrote.

        Raises:
            SourceNotFoundError: There is no such file.
            UnknownNameError: The file names an unknown kind of model.
            UsageError: The file is not that of a configuration.
        """
        return cls(**read_model_json(path, [field.name for field in fields(cls)]))


class CBOW(nn.Module):
    """An encoder of a text by the sum of its word vectors."""

    def __init__(self, config: NeuralConfig) -> None:
        super().__init__()
        self.size = config.dimension

    def forward(self, words: Tensor, is_token: Tensor) -> Tensor:
        """Sum the word vectors of each text."""
        return words.sum(dim=1)


class CNN(nn.Module):
    """An encoder of a text by the mean of its filters' activations over the tokens.

    A filter is centred on each token, and sees zeros before the first and after the last, so that a
    text may be shorter than the filter is wide. The activation is a ReLU: without it the mean would
    be a linear function of the mean word vector. The paper mentions neither.
    """

    def __init__(self, config: NeuralConfig) -> None:
        super().__init__()
        self.filters = nn.ModuleList(
            nn.Conv1d(config.dimension, config.n_filters, width, padding="same")
            for width in config.widths
        )
        self.size = config.n_filters * len(config.widths)

    def forward(self, words: Tensor, is_token: Tensor) -> Tensor:
        """Compute the mean activations of each text."""
        channels = words.transpose(1, 2)
        found = torch.cat([torch.relu(filters(channels)) for filters in self.filters], dim=1)
        return _mean(found.transpose(1, 2), is_token)


class BiLSTM(nn.Module):
    """An encoder of a text by the mean of its hidden states over the tokens, in both directions."""

    def __init__(self, config: NeuralConfig) -> None:
        super().__init__()
        self.lstm = nn.LSTM(config.dimension, config.hidden, batch_first=True, bidirectional=True)
        self.size = 2 * config.hidden

    def forward(self, words: Tensor, is_token: Tensor) -> Tensor:
        """Compute the mean hidden state of each text."""
        lengths = is_token.sum(dim=1).clamp(min=1).cpu()  # packing wants them there
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=words.shape[1]
        )
        return _mean(states, is_token)


class PairClassifier(nn.Module):
    """A classifier of a pair by the vectors of its two texts.

    The vectors S1 and S2 are joined as [S1, S2, S1 * S2, S1 - S2], sent through a linear layer
    with a ReLU, and projected on the labels. The two texts share the word vectors and the encoder,
    except the BiLSTM, of which each text has its own.

    Attributes:
        config: Kind and sizes of the model.

    Source: SciNLI, section 4.1, equation 1, and section 4.3.
    """

    def __init__(self, config: NeuralConfig) -> None:
        """Draw all weights by torch's generator; seed it before."""
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.n_words, config.dimension, padding_idx=PADDING_ID)
        with torch.no_grad():
            self.embedding.weight.mul_(VECTORS_DEVIATION)  # they are drawn with 1
        n_encoders = 2 if config.kind == "bilstm" else 1
        encoders = [_ENCODERS[config.kind](config) for _ in range(n_encoders)]
        self.encoders = nn.ModuleList(encoders)
        self.hidden = nn.Linear(4 * encoders[0].size, config.hidden)
        self.labels = nn.Linear(config.hidden, config.n_labels)

    def forward(self, premise_ids: Tensor, hypothesis_ids: Tensor) -> Tensor:
        """Compute the logits of a batch.

        Args:
            premise_ids: Word ids, int64, shape ``(b, p)`` with p from 1; a row of padding alone
                counts as zeros.
            hypothesis_ids: Word ids, int64, shape ``(b, h)`` with h from 1.

        Returns:
            Logits, shape ``(b, n_labels)``.
        """
        first = self._represent(premise_ids, self.encoders[0])
        second = self._represent(hypothesis_ids, self.encoders[-1])
        context = torch.cat([first, second, first * second, first - second], dim=1)
        logits: Tensor = self.labels(torch.relu(self.hidden(context)))
        return logits

    def _represent(self, ids: Tensor, encoder: nn.Module) -> Tensor:
        is_token = ids != PADDING_ID
        vector: Tensor = encoder(self.embedding(ids), is_token)
        return vector


_ENCODERS: Mapping[str, Any] = {"cbow": CBOW, "cnn": CNN, "bilstm": BiLSTM}


def build_pair_classifier(
    config: NeuralConfig, vectors: np.ndarray | None = None
) -> PairClassifier:
    """Build a neural model on the CPU, with drawn weights.

    Args:
        config: Kind and sizes of the model.
        vectors: Initial word vectors, shape ``(n_words, dimension)``, of which that of the padding
            stays zero; None draws them by torch's generator, like all other weights.

    Raises:
        UsageError: The vectors have another shape.
    """
    model = PairClassifier(config)
    if vectors is None:
        return model
    shape = (config.n_words, config.dimension)
    if vectors.shape != shape:
        raise UsageError(f"vectors: expected the shape {shape}, got {vectors.shape}.")
    with torch.no_grad():
        model.embedding.weight.copy_(torch.tensor(vectors))
        model.embedding.weight[PADDING_ID] = 0
    return model


def _mean(states: Tensor, is_token: Tensor) -> Tensor:
    """Compute the mean over the tokens of each text: ``(b, t, size)`` to ``(b, size)``."""
    weights = is_token.unsqueeze(2).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


class Neural:
    """A model without pretraining, with the vocabulary of its training rows.

    Args:
        config: The config of the run: its method is the kind of model, and its details may name a
            file of word vectors and sizes (``DETAILS``).
        labels: The label set in the order of its ids.
        train: The training rows.

    Raises:
        UnknownNameError: The config has a detail that is not in ``DETAILS``.
        UsageError: A detail has a wrong value, or the file of vectors is malformed.
        SourceNotFoundError: There is no such file of vectors.
    """

    def __init__(self, config: RunConfig, labels: tuple[str, ...], train: GoldRows) -> None:
        sizes = config.checked_details(config.method, DETAILS)
        file = sizes.pop("vectors", None)
        self.labels, self._view = labels, config.view
        self._found: dict[str, Any] = {}
        texts = ["hypothesis"] if config.view == "hypothesis" else ["premise", "hypothesis"]
        columns = (train.rows[name].to_pylist() for name in texts)
        self.vocabulary = Vocabulary.build(chain.from_iterable(columns))
        self.config = NeuralConfig(config.method, len(self.vocabulary), len(labels), **sizes)
        vectors, size = None, self.config.dimension
        if file:
            read = read_vectors(Path(file), self.vocabulary, dimension=size, seed=config.seed)
            vectors = read.matrix
            self._found = {
                "by_word": read.n_by_word,
                "by_spelling": read.n_by_spelling,
                "digest": f"sha256:{hash_file(Path(file))}",
            }
        torch.manual_seed(config.seed)
        self.model: torch.nn.Module = build_pair_classifier(self.config, vectors)

    def encode(self, rows: GoldRows) -> EncodedRows:
        """Encode rows with texts as ids of their stems."""
        table = encode_stems(rows.rows, self.vocabulary, self._view)
        labels = rows.rows["label"].to_numpy().astype(np.int64)
        return EncodedRows.of_table(table, labels, dict.fromkeys(table.column_names, PADDING_ID))

    def save(self, folder: Path) -> None:
        """Write the configuration, the vocabulary and the weights into a folder."""
        self.config.save(folder / "model.json")
        self.vocabulary.save(folder / "vocabulary.json")
        torch.save(self.model.state_dict(), folder / "weights.pt")

    def load(self, folder: Path) -> None:
        """Load the weights that ``save`` wrote."""
        weights = torch.load(folder / "weights.pt", map_location="cpu", weights_only=True)
        self.model.load_state_dict(weights)

    def facts(self) -> Mapping[str, Any]:
        """Return the size of the vocabulary, and how many of its stems the file of vectors has."""
        found = {"vectors": self._found} if self._found else {}
        return {"n_words": len(self.vocabulary), **found}
