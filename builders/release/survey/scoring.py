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
            is what guessing by their shares gives.
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
    scores = {}
    for name, value in found.items():
        interval = None
        if name in drawn:
            low, high = np.percentile(drawn[name], [2.5, 97.5]).round(1).tolist()
            interval = (low, high)
        scores[name] = Score(round(float(value), 1), interval, round(chance[name], 1))
    return scores


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
