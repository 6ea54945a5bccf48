"""Agreement of the predictions within a group, whatever the gold labels."""

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
    """Compute the agreement of the predictions within groups of two or more samples.

    Args:
        predictions: Predicted labels, n integers or strings.
        groups: Ids of the groups, n integers or strings.
        labels: Names of the label set in the order of their ids; None takes the class names of a
            ``Dataset`` column, or the labels that occur.
        data: A ``Dataset``, Arrow table or data frame with the columns, which are then given by
            name; None if they are given themselves.

    Returns:
        ``pairwise``, ``majority`` and ``unanimous``, from 0 to 1, higher is more agreement, and
        ``n_groups``; ``agreement_scores`` defines them.

    Raises:
        MetricInputError: Columns differ in length, are empty or hold values other than integers
            and strings; labels are outside the set.

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
    """Compute agreement from how often each group has each predicted label.

    Args:
        counts: Samples by group and predicted label, ``(groups, L)``, from 0.

    Returns:
        - ``pairwise``: share of the pairs of samples of a group that have the same prediction,
          mean over groups, from 0 to 1;
        - ``majority``: share of a group's samples that have its most frequent prediction, mean
          over groups, from 1/L to 1;
        - ``unanimous``: share of groups with one prediction for all samples, from 0 to 1;
        - ``n_groups``: groups with two samples or more; smaller groups are left out.

        The first three are None if there is no such group.

    Source: Fleiss, Psychological Bulletin 76 (1971), the agreement P_i of a subject.
    """
    n_samples = counts.sum(axis=1)
    counts, n_samples = counts[n_samples > 1], n_samples[n_samples > 1]
    if not len(counts):
        return {"pairwise": None, "majority": None, "unanimous": None, "n_groups": 0}
    same_pairs = (counts * (counts - 1)).sum(axis=1) / (n_samples * (n_samples - 1))
    largest = counts.max(axis=1)
    return {
        # Sum exactly, so that the order of the groups has no effect.
        "pairwise": math.fsum(same_pairs) / len(counts),
        "majority": math.fsum(largest / n_samples) / len(counts),
        "unanimous": float((largest == n_samples).mean()),
        "n_groups": len(counts),
    }
