"""Accuracy and macro-F1 with bootstrap intervals, of rows that may depend on each other."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .classifier import Labels

_N_RESAMPLES = 1_000
_SEED = 0

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Score:
    """A score in percent.

    Attributes:
        value: The score.
        interval: Its 95 % bootstrap interval; None where all rows depend on each other.
        chance: What the score is without reading any text. Accuracy: the share of the class that
            is the most frequent in training. Macro-F1: 100 divided by the number of classes, which
            is what guessing by their shares gives. Recall: what the same guesses, dealt out to
            other rows, would give on average.
    """

    value: float
    interval: tuple[float, float] | None
    chance: float


def score(
    gold: Labels,
    guesses: Labels,
    units: Sequence[Hashable],
    n_labels: int,
    majority: int,
) -> dict[str, Score]:
    """Scores guesses.

    Args:
        gold: Of n rows, one or more, the label.
        guesses: The label that was guessed.
        units: What each row depends on: whole units are drawn, with replacement, 1,000 times.
        n_labels: Size of the label set. The F1 of a class that is neither there nor guessed is 0.
        majority: The label that a guess without reading would be.

    Returns:
        ``accuracy`` and ``macro_f1``.
    """
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    confusions = np.zeros((len(numbers), n_labels, n_labels), np.int64)
    np.add.at(confusions, (np.array([numbers[unit] for unit in units]), gold, guesses), 1)
    found = _scores(confusions.sum(0))
    chance = {"accuracy": 100 * float(np.mean(gold == majority)), "macro_f1": 100 / n_labels}
    drawn = _scores(_resample(confusions)) if len(confusions) > 1 else {}
    return {
        name: Score(round(float(value), 1), _interval(drawn.get(name)), round(chance[name], 1))
        for name, value in found.items()
    }


def score_recall(
    gold: Labels, guesses: Labels, units: Sequence[Hashable], parts: Sequence[str]
) -> dict[str, Score]:
    """Scores guesses on each part of the rows: the share that is right.

    Args:
        gold: Of n rows, one or more, the label.
        guesses: The label that was guessed.
        units: What each row depends on, as for ``score``.
        parts: The part of each row.

    Returns:
        By part its recall. Chance takes into account how often each label is guessed at all: who
        guesses one label four times out of five is right on 80 % of its rows without reading them.

    Source: BioNLI, Table 5, has recall by category, since a guess of "not entailed" is of none.
    """
    n_labels = 1 + int(max(gold.max(), guesses.max()))
    share_of_guesses = np.bincount(guesses, minlength=n_labels) / len(guesses)
    names, place = np.unique(np.array(parts), return_inverse=True)
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    rows_of = np.array([numbers[unit] for unit in units])
    scores = {}
    for number, name in enumerate(names.tolist()):
        is_in = place == number
        here, of_here = np.unique(rows_of[is_in], return_inverse=True)
        counts = np.zeros((len(here), 2), np.int64)
        np.add.at(counts, (of_here, (gold == guesses)[is_in].astype(np.int64)), 1)
        drawn = _recall(_resample(counts)) if len(counts) > 1 else None
        value = float(_recall(counts.sum(0)))
        chance = 100 * float(share_of_guesses[gold[is_in]].mean())
        scores[name] = Score(round(value, 1), _interval(drawn), round(chance, 1))
    return scores


def _recall(counts: Counts) -> npt.NDArray[np.float64]:
    """Recall in percent of counts, shape (..., wrong and right)."""
    recall: npt.NDArray[np.float64] = 100 * counts[..., 1] / counts.sum(-1)
    return recall


def _interval(drawn: npt.NDArray[np.float64] | None) -> tuple[float, float] | None:
    if drawn is None:
        return None
    low, high = np.percentile(drawn, [2.5, 97.5]).round(1).tolist()
    return low, high


def _scores(confusions: Counts) -> dict[str, npt.NDArray[np.float64]]:
    """Scores in percent of confusions, shape (..., gold, guessed)."""
    right = np.diagonal(confusions, axis1=-2, axis2=-1)
    either = confusions.sum(-1) + confusions.sum(-2)
    f1 = 2 * right / np.maximum(either, 1)
    return {
        "accuracy": 100 * right.sum(-1) / confusions.sum((-1, -2)),
        "macro_f1": 100 * f1.mean(-1),
    }


def _resample(confusions: Counts) -> Counts:
    """The confusions of 1,000 resamples. Units with the same one are drawn together: far fewer."""
    n_units, *shape = confusions.shape
    kinds, n_of_kind = np.unique(confusions.reshape(n_units, -1), axis=0, return_counts=True)
    rng = np.random.default_rng(_SEED)
    weights = rng.multinomial(n_units, n_of_kind / n_units, size=_N_RESAMPLES)
    return (weights @ kinds).reshape(-1, *shape)
