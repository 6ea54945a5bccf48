"""The neural models of the SciNLI paper: a vector for each text, and a classifier on both.

A model reads padded batches of ids: padding, id 0, only after the last token of a text. How far a
batch is padded does not change what a model says of a pair.
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
from ..evaluation.gold import Gold
from ..runs.config import RunConfig
from ..training.batches import EncodedRows
from .vocabulary import PADDING_ID, Vocabulary, encode_pairs
from .word_vectors import VECTORS_DEVIATION, read_vectors
from .words import read_saved, write_saved

KINDS = ("cbow", "cnn", "bilstm")

#: What ``details`` of a run may hold: the file of word vectors, and their length.
DETAILS = ("vectors", "dimension", "hidden")


@dataclass(frozen=True)
class NeuralConfig:
    """What a model is built from.

    Attributes:
        kind: One of ``KINDS``.
        n_words: The number of ids, padding and [UNK] included: ``len(vocabulary)``.
        n_labels: The number of labels.
        dimension: Length of a word vector.
        hidden: Hidden units, of each direction of the BiLSTM and of the layer before the labels.
            The paper gives the size of the first only.
        n_filters: Filters of each width, of the CNN.
        widths: Widths of the filters, in tokens.

    Raises:
        UnknownNameError: There is no such kind.
        UsageError: A number is none, or too small.

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
        """Writes the configuration as JSON."""
        write_saved(path, asdict(self))

    @classmethod
    def load(cls, path: Path) -> "NeuralConfig":
        """Reads a configuration that ``save`` wrote.

        Raises:
            SourceNotFoundError: There is no such file.
            UsageError: It holds no configuration.
        """
        return cls(**read_saved(path, [field.name for field in fields(cls)]))


class CBOW(nn.Module):
    """A text is the sum of its word vectors.

    Attributes:
        size: Length of the vector of a text.
    """

    def __init__(self, config: NeuralConfig) -> None:
        super().__init__()
        self.size = config.dimension

    def forward(self, words: Tensor, is_token: Tensor) -> Tensor:
        """The vector of each text.

        Args:
            words: Word vectors, shape ``(b, t, dimension)``, zero at the padding.
            is_token: False at the padding, shape ``(b, t)``.

        Returns:
            Shape ``(b, size)``.
        """
        return words.sum(dim=1)


class CNN(nn.Module):
    """A text is, for each width, the mean of what the filters find around its tokens.

    A filter is centred on each token, and sees zeros before the first and after the last, so that
    a text may be shorter than the filter is wide. What it finds goes through a ReLU: without one
    the mean would be that of the word vectors, transformed. The paper speaks of neither.

    Attributes:
        size: Length of the vector of a text.
    """

    def __init__(self, config: NeuralConfig) -> None:
        super().__init__()
        self.filters = nn.ModuleList(
            nn.Conv1d(config.dimension, config.n_filters, width, padding="same")
            for width in config.widths
        )
        self.size = config.n_filters * len(config.widths)

    def forward(self, words: Tensor, is_token: Tensor) -> Tensor:
        """The vector of each text; see ``CBOW.forward``."""
        channels = words.transpose(1, 2)
        found = torch.cat([torch.relu(filters(channels)) for filters in self.filters], dim=1)
        return _mean(found.transpose(1, 2), is_token)


class BiLSTM(nn.Module):
    """A text is the mean of the hidden states at its tokens, of both directions.

    Attributes:
        size: Length of the vector of a text.
    """

    def __init__(self, config: NeuralConfig) -> None:
        super().__init__()
        self.lstm = nn.LSTM(config.dimension, config.hidden, batch_first=True, bidirectional=True)
        self.size = 2 * config.hidden

    def forward(self, words: Tensor, is_token: Tensor) -> Tensor:
        """The vector of each text; see ``CBOW.forward``."""
        lengths = is_token.sum(dim=1).clamp(min=1).cpu()  # packing wants them there
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.lstm(packed)[0], batch_first=True, total_length=words.shape[1]
        )
        return _mean(states, is_token)


class PairClassifier(nn.Module):
    """Scores the labels of a pair by the vectors of its two texts.

    The vectors S1 and S2 are joined as [S1, S2, S1 * S2, S1 - S2], sent through a linear layer
    with a ReLU, and projected on the labels. The two texts share word vectors, and but for the
    BiLSTM, of which each has its own, the layer above them.

    Attributes:
        config: What the model was built from.

    Source: SciNLI, section 4.1, equation 1, and section 4.3.
    """

    def __init__(self, config: NeuralConfig) -> None:
        """Draws all weights by torch's generator: seed it before."""
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
        """The score of each label, before the softmax.

        Args:
            premise_ids: int64, shape ``(b, p)``, 0 after the last token; p is 1 or more. A row of
                padding alone, which ``encode_pairs`` never gives, counts as a vector of zeros.
            hypothesis_ids: The same, shape ``(b, h)``.

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


def build(config: NeuralConfig, vectors: np.ndarray | None = None) -> PairClassifier:
    """Builds a model.

    Args:
        config: What to build.
        vectors: The word vectors to begin with, shape ``(n_words, dimension)``; None draws them,
            as all other weights are, by torch's generator. All of them are trained but that of
            the padding, which is zero and remains so.

    Returns:
        The model, on the CPU; ``model.to(device)`` moves it.

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
    """The mean over the tokens of each text; of ``(b, t, size)``, the shape ``(b, size)``."""
    weights = is_token.unsqueeze(2).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


class Neural:
    """A model without pretraining, with the vocabulary of its training rows.

    Args:
        config: The run: its method is the kind of model; ``DETAILS`` may name a file of GloVe's
            form and sizes.
        labels: The label set.
        train: The training rows.

    Raises:
        UsageError: A detail is not as expected.
        SourceNotFoundError: There is no such file of vectors.
    """

    def __init__(self, config: RunConfig, labels: tuple[str, ...], train: Gold) -> None:
        for name in config.details:
            if name not in DETAILS:
                raise UnknownNameError.of(f"detail of {config.method}", name, DETAILS)
        self.labels, self._view = labels, config.view
        self._found: dict[str, Any] = {}
        texts = ["hypothesis"] if config.view == "hypothesis" else ["premise", "hypothesis"]
        columns = (train.rows[name].to_pylist() for name in texts)
        self.vocabulary = Vocabulary.build(chain.from_iterable(columns))
        sizes = {name: config.details[name] for name in DETAILS[1:] if name in config.details}
        self.config = NeuralConfig(config.method, len(self.vocabulary), len(labels), **sizes)
        vectors = None
        if config.details.get("vectors"):
            read = read_vectors(
                Path(config.details["vectors"]),
                self.vocabulary,
                dimension=self.config.dimension,
                seed=config.seed,
            )
            vectors = read.matrix
            self._found = {
                "by_word": read.n_by_word,
                "by_spelling": read.n_by_spelling,
                "digest": f"sha256:{hash_file(Path(config.details['vectors']))}",
            }
        torch.manual_seed(config.seed)
        self.model: torch.nn.Module = build(self.config, vectors)

    def encode(self, rows: Gold) -> EncodedRows:
        """The ids of the stems of rows with texts."""
        table = encode_pairs(rows.rows, self.vocabulary, self._view)
        labels = rows.rows["label"].to_numpy().astype(np.int64)
        return EncodedRows.of_table(table, labels, dict.fromkeys(table.column_names, PADDING_ID))

    def save(self, folder: Path) -> None:
        """Writes the configuration, the vocabulary and the weights into a folder."""
        self.config.save(folder / "model.json")
        self.vocabulary.save(folder / "vocabulary.json")
        torch.save(self.model.state_dict(), folder / "weights.pt")

    def load(self, folder: Path) -> None:
        """Takes the weights that ``save`` wrote."""
        weights = torch.load(folder / "weights.pt", map_location="cpu", weights_only=True)
        self.model.load_state_dict(weights)

    def facts(self) -> Mapping[str, Any]:
        """The size of the vocabulary, how many of its stems have a vector, and of what file."""
        found = {"vectors": self._found} if self._found else {}
        return {"n_words": len(self.vocabulary), **found}
