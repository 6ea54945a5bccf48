"""How far the predictions within a group agree with each other, whatever the gold labels."""

import math
from typing import Any

import numpy as np

from ..confusion import joint_counts
from ..inputs.columns import read_columns
from ..inputs.groups import encode_ids
from ..inputs.labels import encode_labels
from ..inputs.problems import Problems


def agreement(
    predictions: Any, groups: Any, *, labels: Any = None, data: Any = None
) -> dict[str, Any]:
    """Agreement of the predictions within groups of two or more samples.

    Args:
        predictions: Predicted labels, n integers or strings.
        groups: Ids of the groups, n integers or strings.
        labels: Names of the label set; None takes whatever occurs.
        data: A ``Dataset``, Arrow table or data frame; the columns are then given by name.

    Returns:
        As ``agreement_scores`` gives it.

    Raises:
        MetricInputError: Columns differ in length, are empty or hold anything but integers or
            strings; labels are outside the set.

    Example:
        >>> from nlihub.metrics.functional import agreement
        >>> agreement([1, 1, 0, 1], ["a", "a", "b", "b"])["unanimous"]
        0.5
    """
    problems = Problems()
    columns = read_columns({"predictions": predictions, "groups": groups}, {}, data, problems)
    encoded = encode_labels(
        [columns[name] for name in ("predictions",) if name in columns], labels, problems
    )
    problems.check()
    ids = encode_ids(columns["groups"])
    codes = encoded.codes["predictions"]
    return agreement_scores(joint_counts((ids.codes, len(ids)), (codes, len(encoded.names))))


def agreement_scores(counts: np.ndarray) -> dict[str, Any]:
    """Agreement from how often each group has each predicted label.

    Args:
        counts: Shape ``(groups, L)``.

    Returns:
        - ``pairwise``: share of the pairs of samples of a group with the same prediction, mean
          over groups, from 0 to 1;
        - ``majority``: share of a group's samples with its most frequent prediction, mean over
          groups, from 1/L to 1;
        - ``unanimous``: share of groups with one prediction for all samples;
        - ``n_groups``: groups with two or more samples; others cannot agree and are left out.

        The first three are None where there is no such group.

    Source: Fleiss, Psychological Bulletin 76 (1971), the agreement P_i of a subject.
    """
    n_samples = counts.sum(axis=1)
    counts, n_samples = counts[n_samples > 1], n_samples[n_samples > 1]
    if not len(counts):
        return {"pairwise": None, "majority": None, "unanimous": None, "n_groups": 0}
    same_pairs = (counts * (counts - 1)).sum(axis=1) / (n_samples * (n_samples - 1))
    largest = counts.max(axis=1)
    return {
        # Summed exactly, so that the order of the groups does not matter.
        "pairwise": math.fsum(same_pairs) / len(counts),
        "majority": math.fsum(largest / n_samples) / len(counts),
        "unanimous": float((largest == n_samples).mean()),
        "n_groups": len(counts),
    }
