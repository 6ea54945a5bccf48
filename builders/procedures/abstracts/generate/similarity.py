"""How alike two sentences are, by which what a model wrote is kept or refused."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

_WORD = re.compile(r"\w+|[^\w\s]")
_MARKERS = re.compile(r"<(?:re|er|el|le)>")


class Similarity(Protocol):
    """A measure of how alike sentences are. BLEURT, or a model of one's own, fits as well.

    Attributes:
        name: What it is called in reports.
    """

    @property
    def name(self) -> str:
        """What it is called in reports."""

    def score(self, written: Sequence[str], originals: Sequence[str]) -> Sequence[float]:
        """Scores pairs.

        Args:
            written: n sentences that a model wrote, without markers.
            originals: The n conclusions that they are compared with, without markers.

        Returns:
            n numbers, higher where two are more alike.
        """


class TokenF1:
    """The harmonic mean of precision and recall of words and marks, in any case: 0 ... 1.

    It needs no download, and is the default for want of one. It knows no meaning: a sentence in
    other words is as unlike as one on another subject, and one with its entities exchanged is
    equal. The paper's thresholds are for BLEURT and BioLinkBERT, and mean something else here.

    >>> TokenF1().score(["A blocks B."], ["A activates B."])
    [0.75]
    """

    name = "token F1"

    def score(self, written: Sequence[str], originals: Sequence[str]) -> list[float]:
        """Scores pairs."""
        return [_f1(one, other) for one, other in zip(written, originals, strict=True)]


class EncoderCosine:
    """The cosine of the means of an encoder's last states over the tokens of each text: -1 ... 1.

    Args:
        model: An encoder of ``transformers``, such as BioLinkBERT, on the device where it computes.
        tokenizer: Its tokenizer.
        name: What it is called in reports.
        batch_size: Texts of a batch.

    Source:
        BioNLI, section 3.3.2 (2): BioLinkBERT. That its tokens are averaged is ours; the paper does
        not say how a text becomes a vector.
    """

    def __init__(self, model: Any, tokenizer: Any, name: str, *, batch_size: int = 16) -> None:
        self._model, self._tokenizer, self._name = model.eval(), tokenizer, name
        self._batch_size = batch_size

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return f"{self._name} cosine"

    def score(self, written: Sequence[str], originals: Sequence[str]) -> list[float]:
        """Scores pairs; of a text that is too long for the model, its beginning counts."""
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
    """A sentence without the markers of its entities, blanks collapsed."""
    return " ".join(_MARKERS.sub(" ", sentence).split())


def _f1(one: str, other: str) -> float:
    left, right = (Counter(_WORD.findall(text.casefold())) for text in (one, other))
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0
