"""Score the probe by accuracy, macro-F1 and recall, with intervals for rows that depend on others.

Units, such as groups of rows, are resampled as wholes, with replacement, 1,000 times.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_N_RESAMPLES = 1_000
_SEED = 0
#: With fewer units, the percentiles of resamples are too close together; see ``docs/metrics.md``.
_MIN_UNITS = 50

Labels = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Score:
    """A score of the probe in percent.

    Attributes:
        value: The score.
        interval: Its 95 % bootstrap interval; None with fewer than 50 units.
        chance: The score without reading any text. Accuracy: the share of the class that is the
            most frequent in training. Macro-F1: 100 divided by the number of classes, the score of
            guesses by their shares.
    """

    value: float
    interval: tuple[float, float] | None
    chance: float


@dataclass(frozen=True)
class Recall:
    """The share of some rows that is guessed right, in percent.

    Attributes:
        value: The share that is guessed right.
        chance: How often the same labels are guessed, wrongly, for rows of other labels: the share
            if these rows were like those.
        above: The 95 % bootstrap interval of ``value`` minus ``chance``; None with fewer than
            50 units.
    """

    value: float
    chance: float
    above: tuple[float, float] | None


def score_probe(
    gold: Labels,
    guesses: Labels,
    units: Sequence[Hashable],
    n_labels: int,
    majority: int,
) -> dict[str, Score]:
    """Return ``accuracy`` and ``macro_f1`` of the probe's guesses.

    Args:
        gold: The labels of n rows, one or more.
        guesses: The guessed labels of the n rows.
        units: The unit of each row.
        n_labels: Size of the label set. The F1 of a class that is neither gold nor guessed is 0.
        majority: The label to guess without reading.
    """
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    confusions = np.zeros((len(numbers), n_labels, n_labels), np.int64)
    np.add.at(confusions, (np.array([numbers[unit] for unit in units]), gold, guesses), 1)
    found = _scores(confusions.sum(0))
    chance = {"accuracy": 100 * float(np.mean(gold == majority)), "macro_f1": 100 / n_labels}
    drawn = _scores(_resample(confusions)) if len(confusions) >= _MIN_UNITS else {}
    scores = {}
    for name, value in found.items():
        interval = _interval(drawn[name]) if name in drawn else None
        scores[name] = Score(round(float(value), 1), interval, round(chance[name], 1))
    return scores


def score_recall(
    gold: Labels,
    guesses: Labels,
    units: Sequence[Hashable],
    n_labels: int,
    parts: Sequence[str],
) -> dict[str, Recall]:
    """Return the recall of the probe's guesses on each part of the rows.

    Args:
        gold: The labels of n rows, one or more.
        guesses: The guessed labels of the n rows.
        units: The unit of each row.
        n_labels: Size of the label set.
        parts: The part of each row.

    Source: BioNLI, Table 5, has recall by category, since a guess "not entailed" has no category.
    """
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    of_rows = np.array([numbers[unit] for unit in units])
    confusions = np.zeros((2, len(numbers), n_labels, n_labels), np.int64)
    np.add.at(confusions[0], (of_rows, gold, guesses), 1)
    names = np.array(parts)
    scores = {}
    for name in dict.fromkeys(parts):
        is_in = names == name
        confusions[1] = 0
        np.add.at(confusions[1], (of_rows[is_in], gold[is_in], guesses[is_in]), 1)
        counts = confusions.swapaxes(0, 1)
        recall, chance = _recall(counts.sum(0))
        above = np.array([])
        if len(counts) >= _MIN_UNITS:
            of_drawn, by_chance = _recall(_resample(counts))
            above = (of_drawn - by_chance)[np.isfinite(of_drawn)]  # a rare part may be missing
        interval = _interval(above) if len(above) else None
        scores[name] = Recall(round(float(recall), 1), round(float(chance), 1), interval)
    return scores


def _recall(confusions: Counts) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return recall and chance in percent of confusions of all rows and a part, (..., 2, k, k)."""
    everything, part = confusions[..., 0, :, :], confusions[..., 1, :, :]
    by_label = part.sum(-1)
    right = np.diagonal(part, axis1=-2, axis2=-1).sum(-1)
    own = np.diagonal(everything, axis1=-2, axis2=-1)
    of_others = everything.sum(-2) - own  # guesses of a label where another is right
    others = everything.sum((-1, -2))[..., None] - everything.sum(-1)
    false_alarms = of_others / np.maximum(others, 1)
    with np.errstate(invalid="ignore"):
        n_rows = by_label.sum(-1)
        return 100 * right / n_rows, 100 * (by_label * false_alarms).sum(-1) / n_rows


def _interval(drawn: npt.NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(drawn, [2.5, 97.5]).round(1).tolist()
    return low, high


def _scores(confusions: Counts) -> dict[str, npt.NDArray[np.float64]]:
    """Return the scores in percent of confusions of shape (..., gold, guessed)."""
    right = np.diagonal(confusions, axis1=-2, axis2=-1)
    either = confusions.sum(-1) + confusions.sum(-2)
    f1 = 2 * right / np.maximum(either, 1)
    return {
        "accuracy": 100 * right.sum(-1) / confusions.sum((-1, -2)),
        "macro_f1": 100 * f1.mean(-1),
    }


def _resample(confusions: Counts) -> Counts:
    """Resample confusions 1,000 times; equal ones are drawn together, which is far fewer."""
    n_units, *shape = confusions.shape
    kinds, n_of_kind = np.unique(confusions.reshape(n_units, -1), axis=0, return_counts=True)
    rng = np.random.default_rng(_SEED)
    weights = rng.multinomial(n_units, n_of_kind / n_units, size=_N_RESAMPLES)
    return (weights @ kinds).reshape(-1, *shape)
