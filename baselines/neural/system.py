"""CBOW, CNN and BiLSTM as the training loop takes them."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...loaders.errors import UnknownNameError
from ...loaders.hashing import hash_file
from ..evaluation.gold import Gold
from ..runs.config import RunConfig
from ..training.encoded import EncodedRows
from .encode import encode
from .models import NeuralConfig, build
from .vectors import read_vectors
from .vocabulary import PADDING_ID, Vocabulary

#: What ``details`` of a run may hold: the file of word vectors, and their length.
DETAILS = ("vectors", "dimension", "hidden")


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
        table = encode(rows.rows, self.vocabulary, self._view)
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
