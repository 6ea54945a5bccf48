"""The scores of the metrics as ratios over units, for intervals and tests."""

import numpy as np

from .confusion import f1_parts
from .inference import Ratio
from .thresholds import Thresholds


def group_ratios(
    n_correct: np.ndarray, n_samples: np.ndarray, levels: Thresholds
) -> dict[str, Ratio]:
    """Return the scores of groups: ``accuracy``, ``area_under_curve``, and by position of a level.

    Args:
        n_correct: Correct samples of each group, ``(groups,)``.
        n_samples: Samples of each group, ``(groups,)``, from 1.
        levels: The thresholds at which groups count as solved.
    """
    ones = np.ones((len(n_samples), 1))
    accuracy = Ratio(n_correct[:, None], n_samples[:, None])
    area = accuracy  # the same number where all groups are equally large
    if n_samples.min() < n_samples.max():
        area = Ratio((n_correct / n_samples)[:, None], ones)
    solved = enumerate(levels.solved(n_correct, n_samples))
    at_levels = {str(i): Ratio(reached[:, None], ones) for i, reached in solved}
    return {"accuracy": accuracy, "area_under_curve": area, **at_levels}


def class_ratios(units: np.ndarray) -> dict[str, Ratio]:
    """Return ``macro_f1``, ``accuracy`` and the F1 of each class by its position.

    Args:
        units: Samples of each unit by gold label, then by predicted label or no answer,
            ``(units, L, L + 1)``.
    """
    f1 = Ratio(*f1_parts(units))
    n_right = np.trace(units, axis1=1, axis2=2)[:, None]
    by_class = (slice(i, i + 1) for i in range(units.shape[1]))
    return {
        "macro_f1": f1,
        "accuracy": Ratio(n_right, units.sum(axis=(1, 2))[:, None]),
        **{str(i): Ratio(*(part[:, one] for part in f1)) for i, one in enumerate(by_class)},
    }
