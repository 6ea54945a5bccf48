"""Features of the lexicalized classifier: overlap of the two texts, and n-grams of the second.

Tokens are compared in lower case, and are not stemmed.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack, vstack

from ...builders.core.workers import map_in_order
from ...loaders.errors import UnknownNameError, UsageError
from ...loaders.progress import watch
from ..runs.config import VIEWS, check_choice
from .words import (
    WORD_CLASSES,
    check_word_list,
    is_word,
    read_model_json,
    tokenize_lower,
    tokenize_words,
    word_classes,
    write_model_json,
)

#: Groups that compare the two texts (features 1 to 3 of the paper), and their columns.
PAIR_GROUPS = {
    "bleu": tuple(f"bleu_{n}" for n in (1, 2, 3, 4)),
    "length": ("length_difference",),
    "overlap": tuple(
        f"overlap_{kind}{unit}" for kind in ("all", *WORD_CLASSES) for unit in ("", "_share")
    ),
}
#: Groups of n-grams of the hypothesis (feature 4), and their n.
GRAM_GROUPS = {"unigrams": 1, "bigrams": 2}
GROUPS = (*PAIR_GROUPS, *GRAM_GROUPS)

#: The classifiers of SciNLI's Table 5, and their groups.
ABLATIONS = {
    "unigrams": ("unigrams",),
    "bigrams": ("bigrams",),
    "unigrams_and_bigrams": ("unigrams", "bigrams"),
    "features_1_to_3": tuple(PAIR_GROUPS),
    "all": GROUPS,
}

_FIELDS = ("groups", "view", "min_count", "grams")
_N_PAIRS_A_JOB = 256


class FeatureExtractor:
    """An extractor of lexical features: those that compare the texts, then one column an n-gram.

    Args:
        groups: Some of ``GROUPS``; None takes all that the view allows.
        view: ``"pair"``, or ``"hypothesis"``, which allows n-grams alone.
        min_count: Minimum number of training hypotheses that contain an n-gram, from 1; the paper
            names none.

    Raises:
        UnknownNameError: There is no such group or view.
        UsageError: There are no groups, a group needs the premise but the view has none, or
            ``min_count`` is not a whole number from 1.

    Source: SciNLI, section 4.2.
    """

    def __init__(
        self, groups: Sequence[str] | None = None, *, view: str = "pair", min_count: int = 1
    ) -> None:
        check_choice("view", view, VIEWS)
        allowed = GROUPS if view == "pair" else tuple(GRAM_GROUPS)
        wanted = allowed if groups is None else tuple(groups)
        for group in wanted:
            if group not in GROUPS:
                raise UnknownNameError.of("group of features", group, GROUPS)
            if group not in allowed:
                raise UsageError(
                    f"The features {group} need the premise, but the view is {view}. Choose from "
                    f"{', '.join(allowed)}."
                )
        if not wanted:
            raise UsageError(f"groups: expected some of {', '.join(allowed)}; got none.")
        if isinstance(min_count, bool) or not isinstance(min_count, int) or min_count < 1:
            raise UsageError(f"min_count: expected a number from 1, got {min_count!r}.")
        self.groups = tuple(group for group in GROUPS if group in wanted)
        self.view, self.min_count = view, min_count
        self._grams: dict[str, int] | None = None

    @property
    def needs_premises(self) -> bool:
        """Return whether any feature compares the two texts."""
        return any(group in PAIR_GROUPS for group in self.groups)

    @property
    def dense_names(self) -> list[str]:
        """Return the names of the columns that compare the two texts; they come first."""
        return [name for group in self.groups for name in PAIR_GROUPS.get(group, ())]

    @property
    def names(self) -> list[str]:
        """Return the names of all columns; the name of an n-gram is the n-gram, ``of the``.

        Raises:
            UsageError: ``fit`` was not called.
        """
        return [*self.dense_names, *self._fitted()]

    def fit(self, hypotheses: Sequence[str]) -> "FeatureExtractor":
        """Learn the n-grams of the hypotheses of the training set, and return the extractor.

        Raises:
            UsageError: The hypotheses are not a list of texts.
        """
        _check_texts(hypotheses, "hypotheses")
        counts: Counter[str] = Counter()
        for hypothesis in hypotheses:
            counts.update(set(self._grams_of(hypothesis)))
        kept = (gram for gram, count in counts.items() if count >= self.min_count)
        # Unigrams, then bigrams, each by their characters, whatever the order of the rows.
        ordered = sorted(kept, key=lambda gram: (" " in gram, gram))
        self._grams = {gram: column for column, gram in enumerate(ordered)}
        return self

    def transform(
        self, premises: Sequence[str] | None, hypotheses: Sequence[str], *, num_proc: int = 1
    ) -> csr_matrix:
        """Compute the features of pairs.

        Args:
            premises: n texts; may be None if no feature needs them.
            hypotheses: n texts; n-grams that do not occur in training are ignored.
            num_proc: Number of processes, from 1; the result does not depend on it.

        Returns:
            Shape ``(n, len(names))``, float64.

        Raises:
            UsageError: The texts are not lists of texts of equal length, or ``fit`` was not called.
        """
        self._fitted()
        _check_texts(hypotheses, "hypotheses")
        if not self.needs_premises:
            premises = hypotheses  # are not looked at
        elif premises is None:
            raise UsageError(
                f"premises is None, but the features {', '.join(self.groups)} need premises."
            )
        _check_texts(premises, "premises")
        if len(premises) != len(hypotheses):
            raise UsageError(
                f"Expected as many premises as hypotheses; got {len(premises)} premises and "
                f"{len(hypotheses)} hypotheses."
            )
        pairs = list(zip(premises, hypotheses, strict=True))
        starts = range(0, len(pairs), _N_PAIRS_A_JOB)
        jobs = [pairs[start : start + _N_PAIRS_A_JOB] for start in starts] or [[]]
        found = []
        with (
            closing(map_in_order(self._rows, jobs, num_proc)) as computed,
            watch("features", len(pairs), "pairs") as shown,
        ):
            for rows in computed:
                found.append(rows)
                shown.update(rows.shape[0])
        return vstack(found, format="csr")

    def save(self, path: Path) -> None:
        """Write the extractor as JSON.

        Raises:
            UsageError: ``fit`` was not called.
        """
        values = (self.groups, self.view, self.min_count, list(self._fitted()))
        write_model_json(path, dict(zip(_FIELDS, values, strict=True)))

    @classmethod
    def load(cls, path: Path) -> "FeatureExtractor":
        """Read an extractor that ``save`` wrote.

        Raises:
            SourceNotFoundError: There is no such file.
            UnknownNameError: The file names an unknown group or view.
            UsageError: The file is not that of an extractor.
        """
        found = read_model_json(path, _FIELDS)
        extractor = cls(found["groups"], view=found["view"], min_count=found["min_count"])
        grams = check_word_list(found["grams"], f"{path}: grams")
        extractor._grams = {gram: column for column, gram in enumerate(grams)}
        return extractor

    def _fitted(self) -> dict[str, int]:
        if self._grams is None:
            raise UsageError(
                "The extractor has no n-grams yet; call fit with the training set first."
            )
        return self._grams

    def _rows(self, pairs: Sequence[tuple[str, str]]) -> csr_matrix:
        columns = self._fitted()
        dense = np.array([self._measures(*pair) for pair in pairs], np.float64)
        dense = dense.reshape(len(pairs), len(self.dense_names))  # where there are no pairs
        found: list[int] = []
        ends = [0]
        for _, hypothesis in pairs:
            grams = {columns[gram] for gram in self._grams_of(hypothesis) if gram in columns}
            found += sorted(grams)
            ends.append(len(found))
        shape = (len(pairs), len(columns))
        indicators = csr_matrix((np.ones(len(found)), np.array(found, np.int32), ends), shape)
        return hstack([csr_matrix(dense), indicators], format="csr")

    def _measures(self, premise: str, hypothesis: str) -> list[float]:
        groups = (group for group in self.groups if group in PAIR_GROUPS)
        return [value for group in groups for value in _measure(group, premise, hypothesis)]

    def _grams_of(self, hypothesis: str) -> Iterator[str]:
        tokens = tokenize_lower(hypothesis)  # none has a blank in it
        if "unigrams" in self.groups:
            yield from tokens
        if "bigrams" in self.groups:
            yield from map(" ".join, pairwise(tokens))


def _measure(group: str, premise: str, hypothesis: str) -> list[float]:
    """Compute the columns of a group that compares the two texts."""
    if group == "overlap":
        return overlap_scores(premise, hypothesis)
    ours, theirs = tokenize_lower(premise), tokenize_lower(hypothesis)
    return bleu_scores(ours, theirs) if group == "bleu" else [length_difference(ours, theirs)]


def bleu_scores(premise: Sequence[str], hypothesis: Sequence[str]) -> list[float]:
    """Return the classifier's features BLEU-1 to BLEU-4 of the hypothesis, from 0 to 1.

    BLEU-N is the geometric mean of the shares of the hypothesis' n-grams, n = 1 to N, that occur in
    the premise, each counted at most as often as there; times exp(1 - p / h) where the hypothesis
    has fewer tokens (h) than the premise (p). There is no smoothing.

    Source: SciNLI, section 4.2, feature 1; Papineni et al. (2002).

    >>> bleu_scores("a b c d".split(), "a b c e".split())[:2]  # 3/4; sqrt(3/4 * 2/3)
    [0.75, 0.7071067811865476]
    """
    if not hypothesis:
        return [0.0] * 4
    penalty = math.exp(min(0.0, 1 - len(premise) / len(hypothesis)))
    scores = []
    product = 1.0
    for n in (1, 2, 3, 4):
        grams = Counter(_ngrams(hypothesis, n))
        shared = grams & Counter(_ngrams(premise, n))
        product *= shared.total() / max(grams.total(), 1)
        scores.append(penalty * product ** (1 / n))
    return scores


def length_difference(premise: Sequence[str], hypothesis: Sequence[str]) -> int:
    """Return the classifier's feature of length: the hypothesis' tokens less the premise's.

    Source: SciNLI, section 4.2, feature 2.
    """
    return len(hypothesis) - len(premise)


def overlap_scores(premise: str, hypothesis: str) -> list[float]:
    """Return the classifier's features of overlap: shared words, nouns, verbs, adjectives, adverbs.

    A word counts as often as it occurs in both texts, and among the nouns only if it is a noun in
    both. Punctuation does not count.

    Returns:
        Ten numbers: for each kind the count, and its share of the words of that kind in the text
        that has fewer, from 0 to 1; 0 if either text has no such word.

    Source: SciNLI, section 4.2, feature 3.
    """
    scores: list[float] = []
    for ours, theirs in zip(_words_by_kind(premise), _words_by_kind(hypothesis), strict=True):
        n_shared = (ours & theirs).total()
        n_possible = min(ours.total(), theirs.total())
        scores += [n_shared, n_shared / max(n_possible, 1)]
    return scores


# Datasets repeat their texts: BioNLI has many hypotheses for each premise.
@lru_cache(maxsize=1 << 10)
def _words_by_kind(text: str) -> list[Counter[str]]:
    """Count a text's words: all, then those of each class."""
    tokens = tokenize_words(text)
    classes = word_classes(tokens)
    tagged = [
        (token.lower(), kind) for token, kind in zip(tokens, classes, strict=True) if is_word(token)
    ]
    by_class = (Counter(word for word, found in tagged if found == kind) for kind in WORD_CLASSES)
    return [Counter(word for word, _ in tagged), *by_class]


def _ngrams(tokens: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def _check_texts(texts: Any, name: str) -> None:
    if isinstance(texts, str):
        raise UsageError(f"{name}: expected a list of texts, got one text.")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise UsageError(f"{name}: row {row} is {text!r}, expected a text.")
