"""Logistic regression on features of rows, over all labels of a dataset."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from ...loaders.errors import UsageError

_MAX_ITERATIONS = 1000


def fit_logistic(rows: Any, labels: Any, n_labels: int, c: float) -> dict[str, np.ndarray]:
    """Fit a logistic regression; there is no seed, as the penalty leaves one optimum.

    Args:
        rows: Features, shape ``(n, k)``, dense or sparse.
        labels: n label ids, as ``check_labels`` takes them.
        n_labels: Number of labels; one without rows gets the probability 0.
        c: Inverse of the penalty, above 0: the sum of the rows' losses is multiplied by it.

    Returns:
        ``weights``, shape ``(n_labels, k)``, and ``bias``, shape ``(n_labels,)``.
    """
    model = LogisticRegression(C=c, max_iter=_MAX_ITERATIONS)
    model.fit(rows, labels)
    weights = np.zeros((n_labels, rows.shape[1]))
    bias = np.full(n_labels, -np.inf)
    # Of two labels scikit-learn keeps one row: the score of the second, less that of the first.
    is_single = len(model.classes_) == 2
    weights[model.classes_] = [0 * model.coef_[0], *model.coef_] if is_single else model.coef_
    bias[model.classes_] = [0.0, *model.intercept_] if is_single else model.intercept_
    return {"weights": weights, "bias": bias}


def check_labels(labels: Any, n_rows: int, n_labels: int) -> np.ndarray:
    """Return label ids as an array.

    Raises:
        UsageError: They are not ``n_rows`` ids below ``n_labels``, or all are the same.
    """
    found = np.asarray(labels)
    if found.shape != (n_rows,):
        raise UsageError(f"labels: expected shape ({n_rows},), one a row; got {found.shape}.")
    if found.dtype.kind not in "iu":
        raise UsageError(f"labels: expected ids from 0, got values of type {found.dtype}.")
    if len(bad := np.flatnonzero((found < 0) | (found >= n_labels))):
        raise UsageError(f"labels: row {bad[0]} has {found[bad[0]]}, expected 0 to {n_labels - 1}.")
    if len(np.unique(found)) < 2:
        raise UsageError("labels: expected at least two different labels; all rows have one.")
    return found
