"""Score the probe by accuracy, macro-F1 and recall, with intervals for rows that depend on others.

Units, such as groups of rows, are resampled as wholes, with replacement, 1,000 times.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_N_RESAMPLES = 1_000
_SEED = 0
#: With fewer units, the percentiles of resamples are too close together; see ``docs/metrics.md``.
_MIN_UNITS = 50

Labels = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]
Figures = Any  # a number, or as many as there are resamples


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
    counts = _confusions(gold, guesses, units, n_labels)
    chance = {"accuracy": 100 * float(np.mean(gold == majority)), "macro_f1": 100 / n_labels}
    statistics = {"accuracy": _accuracy, "macro_f1": _macro_f1}
    return {
        name: Score(
            round(float(statistic(counts.sum(0))), 1),
            _interval(counts, statistic),
            round(chance[name], 1),
        )
        for name, statistic in statistics.items()
    }


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
    everything = _confusions(gold, guesses, units, n_labels)
    names = np.array(parts)
    scores = {}
    for name in dict.fromkeys(parts):
        is_in = names == name
        of_part = _confusions(gold, guesses, units, n_labels, is_in.astype(np.int64))
        counts = np.stack([everything, of_part], axis=1)
        recall, chance = _recall(counts.sum(0)), _chance(counts.sum(0))
        above = _interval(counts, lambda drawn: _recall(drawn) - _chance(drawn))
        scores[name] = Recall(round(float(recall), 1), round(float(chance), 1), above)
    return scores


def _confusions(
    gold: Labels, guesses: Labels, units: Sequence[Hashable], n_labels: int, times: Any = 1
) -> Counts:
    """Count the rows of each unit by gold and guessed label."""
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    counts = np.zeros((len(numbers), n_labels, n_labels), np.int64)
    np.add.at(counts, (np.array([numbers[unit] for unit in units]), gold, guesses), times)
    return counts


# Statistics in percent of confusions (..., gold, guessed), or (..., 2, gold, guessed) of all rows
# and a part.


def _accuracy(counts: Counts) -> Figures:
    return 100 * np.trace(counts, axis1=-2, axis2=-1) / counts.sum((-1, -2))


def _macro_f1(counts: Counts) -> Figures:
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    f1 = 2 * right / np.maximum(counts.sum(-1) + counts.sum(-2), 1)
    return 100 * f1.mean(-1)


def _recall(counts: Counts) -> Figures:
    with np.errstate(invalid="ignore"):
        return _accuracy(counts[..., 1, :, :])


def _chance(counts: Counts) -> Figures:
    everything, by_label = counts[..., 0, :, :], counts[..., 1, :, :].sum(-1)
    own = np.diagonal(everything, axis1=-2, axis2=-1)
    of_others = everything.sum(-2) - own  # guesses of a label where another is right
    others = everything.sum((-1, -2))[..., None] - everything.sum(-1)
    with np.errstate(invalid="ignore"):
        share = by_label / by_label.sum(-1, keepdims=True)
        return 100 * (share * of_others / np.maximum(others, 1)).sum(-1)


def _interval(counts: Counts, statistic: Callable[[Counts], Figures]) -> tuple[float, float] | None:
    """Return the 95 % interval of a statistic, from 1,000 resamples of the units."""
    n_units, *shape = counts.shape
    if n_units < _MIN_UNITS:
        return None
    # Equal units are drawn together, which is far fewer.
    kinds, n_of_kind = np.unique(counts.reshape(n_units, -1), axis=0, return_counts=True)
    rng = np.random.default_rng(_SEED)
    weights = rng.multinomial(n_units, n_of_kind / n_units, size=_N_RESAMPLES)
    drawn = statistic((weights @ kinds).reshape(-1, *shape))
    drawn = drawn[np.isfinite(drawn)]  # a rare part may be missing
    if not len(drawn):
        return None
    low, high = np.percentile(drawn, [2.5, 97.5]).round(1).tolist()
    return low, high
