"""Scores from a confusion matrix over a fixed label set; an absent class counts 0."""

import numpy as np

ABSENT_CLASS_POLICY = "0"


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """``part / whole``, and 0 where the whole is 0."""
    zeros = np.zeros(np.broadcast(part, whole).shape)
    found: np.ndarray = np.divide(part, whole, out=zeros, where=whole > 0)
    return found


def class_scores(confusion: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision, recall and F1 of every class.

    Args:
        confusion: Shape ``(..., L, L)``: samples by gold label, then by predicted label.

    Returns:
        Three arrays of shape ``(..., L)``, from 0 to 1; 0 where there is nothing to divide by.
    """
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    n_predictions, n_references = confusion.sum(axis=-2), confusion.sum(axis=-1)
    f1 = ratio(2 * right, n_predictions + n_references)
    return ratio(right, n_predictions), ratio(right, n_references), f1


def accuracy(confusion: np.ndarray) -> np.ndarray:
    """Share of samples with the gold label, of shape ``(...)``."""
    return ratio(np.trace(confusion, axis1=-2, axis2=-1), confusion.sum(axis=(-2, -1)))
