"""Measures of how alike two sentences are, which bound what a model may write."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

_WORD = re.compile(r"\w+|[^\w\s]")
_MARKERS = re.compile(r"<(?:re|er|el|le)>")


class Similarity(Protocol):
    """A measure of how alike sentences are; BLEURT, or a user's own model, fits too.

    Attributes:
        name: Its name in reports.
    """

    @property
    def name(self) -> str:
        """Return its name in reports."""

    def score(self, written: Sequence[str], originals: Sequence[str]) -> Sequence[float]:
        """Score pairs of sentences.

        Args:
            written: n sentences that a model wrote, without markers.
            originals: The n conclusions to compare them with, without markers.

        Returns:
            n scores; higher means more alike.
        """


class TokenF1:
    """The harmonic mean of precision and recall of words and punctuation, ignoring case: 0 ... 1.

    The default, as it needs no download. It knows no meaning: a paraphrase scores as low as a
    sentence on another subject, and a sentence with its entities exchanged scores 1. The paper's
    bounds are for BLEURT and BioLinkBERT, and mean something else here.

    >>> TokenF1().score(["A blocks B."], ["A activates B."])
    [0.75]
    """

    name = "token F1"

    def score(self, written: Sequence[str], originals: Sequence[str]) -> list[float]:
        """Score pairs; see ``Similarity.score``."""
        return [_f1(one, other) for one, other in zip(written, originals, strict=True)]


class EncoderCosine:
    """The cosine of two texts' mean last hidden states of an encoder: -1 ... 1.

    Args:
        model: An encoder of ``transformers``, such as BioLinkBERT, on the device where it computes.
        tokenizer: Its tokenizer.
        name: Its name in reports.
        batch_size: Number of texts in a batch.

    Source:
        BioNLI, section 3.3.2 (2): BioLinkBERT. That its tokens are averaged is ours; the paper does
        not say how a text becomes a vector.
    """

    def __init__(self, model: Any, tokenizer: Any, name: str, *, batch_size: int = 16) -> None:
        self._model, self._tokenizer, self._name = model.eval(), tokenizer, name
        self._batch_size = batch_size

    @property
    def name(self) -> str:
        """Return its name in reports."""
        return f"{self._name} cosine"

    def score(self, written: Sequence[str], originals: Sequence[str]) -> list[float]:
        """Score pairs; see ``Similarity.score``. Too long a text counts by its beginning."""
        from torch.nn.functional import cosine_similarity

        found: list[float] = []
        for start in range(0, len(written), self._batch_size):
            part = slice(start, start + self._batch_size)
            one, other = (self._embed(list(texts[part])) for texts in (written, originals))
            found += cosine_similarity(one, other).tolist()
        return found

    def _embed(self, texts: list[str]) -> Any:
        import torch

        encoded = self._tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        encoded = encoded.to(self._model.device)
        with torch.inference_mode():
            states = self._model(**encoded).last_hidden_state.float()
        mask = encoded["attention_mask"][..., None]
        return (states * mask).sum(dim=1) / mask.sum(dim=1)


def without_markers(sentence: str) -> str:
    """Remove the markers of a sentence, and make runs of whitespace one space."""
    return " ".join(_MARKERS.sub(" ", sentence).split())


def _f1(one: str, other: str) -> float:
    left, right = (Counter(_WORD.findall(text.casefold())) for text in (one, other))
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0
