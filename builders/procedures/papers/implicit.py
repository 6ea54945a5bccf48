"""Label pairs of sentences without a linking phrase by a fine-tuned classifier."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ....loaders.errors import ModelError, SourceNotFoundError, needs_extra
from ....loaders.hashing import hash_file
from ....loaders.paths import local_path

#: Tokens of a pair at most, as SciNLI's models have them (its authors' code).
_MAX_TOKENS = 300
_BATCH_PAIRS = 32
_WEIGHTS = (".safetensors", ".bin")


@dataclass(frozen=True)
class Classifier:
    """A fine-tuned classifier of the Transformers library, in a folder.

    Pairs of a paper are labelled together, in single precision, on the CPU: which papers come
    together changes nothing.

    Attributes:
        folder: The folder with configuration, weights and tokenizer.
        model: The name of its class, ``BertForSequenceClassification``.
        labels: Its labels by id.
        sha256: A hash of all files in the folder.
    """

    folder: str
    model: str
    labels: tuple[str, ...]
    sha256: str

    @classmethod
    def read(cls, folder: str | Path) -> "Classifier":
        """Read what a classifier is from its folder, or from that of a run of ``nlihub baseline``.

        Raises:
            SourceNotFoundError: There is no classifier, or the run has kept none.
            ModelError: Its configuration names no labels.
        """
        given = local_path(folder).absolute()
        place = next(
            (p for p in (given, given / "checkpoint") if (p / "config.json").is_file()), None
        )
        if place is None or not any(path.suffix in _WEIGHTS for path in place.iterdir()):
            raise SourceNotFoundError(
                f"{folder} has no classifier; expected config.json and weights there, or in its "
                "folder checkpoint, as nlihub baseline finetune leaves them."
            )
        config = json.loads((place / "config.json").read_text(encoding="utf-8"))
        names = config.get("id2label") or {}
        labels = tuple(str(names[key]) for key in sorted(names, key=int))
        if len(labels) < 2:
            raise ModelError(f"{place} names no labels; expected id2label in its config.json.")
        hashes = [
            [path.name, hash_file(path)] for path in sorted(place.iterdir()) if path.is_file()
        ]
        digest = hashlib.sha256(json.dumps(hashes).encode()).hexdigest()
        model = ", ".join(config.get("architectures") or [str(config.get("model_type"))])
        return cls(str(place), model, labels, digest)

    def check_labels(self, known: Sequence[str]) -> None:
        """Refuse a classifier with other labels than a recipe.

        Raises:
            ModelError: Its labels are not those of the recipe.
        """
        if sorted(self.labels) != sorted(known):
            raise ModelError(
                f"The classifier in {self.folder} has the labels {', '.join(self.labels)}; "
                f"expected {', '.join(known)}. Fine-tune one on rows with these labels."
            )

    def as_json(self) -> Mapping[str, Any]:
        """Return its class and the hash of its files, not its folder: the bytes are the same."""
        return {"model": self.model, "sha256": self.sha256}

    def __call__(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Sequence[str]:
        """Return the likeliest label of each of n pairs.

        Raises:
            MissingExtraError: ``nlihub[baselines]`` is not installed.
            ModelError: The model cannot be loaded.
        """
        tokenizer, model = _load(self.folder, self.sha256)
        import torch

        limit = getattr(model.config, "max_position_embeddings", None) or _MAX_TOKENS + 2
        found: list[str] = []
        for start in range(0, len(premises), _BATCH_PAIRS):
            here = slice(start, start + _BATCH_PAIRS)
            batch = tokenizer(
                list(premises[here]),
                list(hypotheses[here]),
                padding=True,
                truncation=True,
                max_length=min(_MAX_TOKENS, limit - 2),
                return_tensors="pt",
            )
            with torch.inference_mode():
                ids = model(**batch).logits.argmax(dim=1).tolist()
            found += [self.labels[number] for number in ids]
        return found


@cache
def _load(folder: str, sha256: str) -> tuple[Any, Any]:
    """Load tokenizer and model once in a process; the hash tells a folder that has changed."""
    with needs_extra("baselines", "Labelling implicit pairs"):
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder} cannot be loaded as a classifier: {error}") from error
    return tokenizer, model.eval()
