"""A linear classifier on the words of one text."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ...loaders.errors import MissingExtraError
from .tokens import tokenize
from .unmeasured import UnmeasuredError

Labels = npt.NDArray[np.int64]


class WordClassifier:
    """Logistic regression on which tokens, and pairs of adjacent tokens, a text has.

    Those that only one training text has are left out. Weights are held back by C = 0.1, which is
    fast, and on SciNLI no worse than 1. Every label counts the same, however many texts have it:
    where five of six are negatives, it would otherwise call all of them negative, and find nothing.
    """

    def __init__(self, texts: Sequence[str], labels: Labels) -> None:
        """Trains it.

        Args:
            texts: n texts.
            labels: The label of each.

        Raises:
            MissingExtraError: scikit-learn is not installed.
            UnmeasuredError: There are fewer than two classes, or no token is in two texts.
        """
        try:
            from sklearn.feature_extraction.text import CountVectorizer
            from sklearn.linear_model import LogisticRegression
        except ModuleNotFoundError as error:
            raise MissingExtraError("pip install 'nlihub[baselines]'") from error
        if len(np.unique(labels)) < 2:
            raise UnmeasuredError("the rows to train on are not of two classes")
        self._words = CountVectorizer(
            analyzer=_words_and_bigrams, binary=True, min_df=2, dtype=np.float64
        )
        try:
            vectors = self._words.fit_transform(texts)
        except ValueError as error:  # an empty vocabulary
            raise UnmeasuredError("no word is in two of the hypotheses to train on") from error
        self._model = LogisticRegression(C=0.1, max_iter=1_000, class_weight="balanced").fit(
            vectors, labels
        )

    def classify(self, texts: Sequence[str]) -> Labels:
        """The label that it gives to each text."""
        guesses: Labels = self._model.predict(self._words.transform(texts))
        return guesses

    def top_words(self, n_words: int) -> dict[int, tuple[str, ...]]:
        """The words that speak most for each label that it knows.

        Args:
            n_words: How many of each label, at most.

        Returns:
            By label the words and pairs of words with most weight, the heaviest first; equally
            heavy ones by the alphabet. Only those whose weight is above 0.
        """
        weights = self._model.coef_
        if len(weights) == 1:  # of two classes only the weights for the second are kept
            weights = np.concatenate([-weights, weights])
        words = self._words.get_feature_names_out()  # in the order of the alphabet
        top = {}
        for label, own in zip(self._model.classes_.tolist(), weights.round(6), strict=True):
            order = np.argsort(-own, kind="stable")[:n_words]
            top[label] = tuple(str(words[i]) for i in order if own[i] > 0)
        return top


def _words_and_bigrams(text: str) -> list[str]:
    tokens = tokenize(text)
    return tokens + [f"{one} {other}" for one, other in pairwise(tokens)]
