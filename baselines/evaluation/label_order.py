"""The order of labels behind the ids of predictions: name it, and notice another one."""

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import PredictionsError, UsageError

#: Another order is pointed out from so many rows on, where it gains so much accuracy and so many
#: standard errors, and beats the most frequent label by so much.
_LEAST_ROWS = 50
_LEAST_GAIN, _LEAST_ERRORS = 0.1, 3
_LEAST_ABOVE_FREQUENT = 0.1
#: All orders of so many labels are tried.
_MOST_LABELS = 8


def name_ids(
    predictions: pa.Table, labels: Sequence[str], model_labels: Sequence[str], name: str
) -> tuple[pa.Table, list[str]]:
    """Put names for label ids in a system's predictions, and say how they were read.

    Args:
        predictions: A table; nothing is changed unless its column ``prediction`` holds integers.
        labels: The label set in the order of its ids.
        model_labels: The same labels in the order of the system's ids; empty if that is the same.
        name: The name of the predictions in messages.

    Returns:
        The table, and notes.

    Raises:
        UsageError: ``model_labels`` are not the labels in some order.
        PredictionsError: ``model_labels`` are given, and the predictions are no ids.
    """
    if model_labels and sorted(model_labels) != sorted(labels):
        raise UsageError(
            f"The labels of the model are {', '.join(model_labels)}; expected those of the "
            f"dataset, {', '.join(labels)}, in the order of its ids."
        )
    column = predictions["prediction"] if "prediction" in predictions.column_names else None
    if column is None or not pa.types.is_integer(column.type):
        if model_labels and column is not None:
            raise PredictionsError(
                f"{name}: the order of the labels of a model is that of its ids, and these "
                "predictions are no ids."
            )
        return predictions, []
    order = list(model_labels or labels)
    told = ", ".join(f"{number} {label}" for number, label in enumerate(order))
    notes = [f"{name}: the predictions are ids, read as {told}."]
    if not model_labels:
        notes[0] += " Where the model has another order, give it: --model-labels."
    if order == list(labels):
        return predictions, notes
    own = np.array([labels.index(label) for label in order])
    codes = column.fill_null(-1).to_numpy()
    is_known = (codes >= 0) & (codes < len(order))  # what is not is refused where labels are read
    codes = np.where(is_known, own[np.where(is_known, codes, 0)], codes)
    renamed = pc.if_else(pc.is_valid(column), pa.chunked_array([pa.array(codes)]), None)
    place = predictions.column_names.index("prediction")
    return predictions.set_column(place, "prediction", renamed), notes


def find_better_order(
    codes: npt.NDArray[np.intp], references: npt.NDArray[np.intp], labels: Sequence[str]
) -> tuple[list[str], float, float] | None:
    """Find another order of the labels with which predictions are far better, if there is one.

    Args:
        codes: n ids of predicted labels.
        references: n ids of gold labels.
        labels: The label set in the order of its ids.

    Returns:
        The labels that the ids would stand for, and the accuracy as the ids are and as they would
        be; None where no order is far better, the rows are few, or the labels more than eight.
    """
    size = len(labels)
    if len(codes) < _LEAST_ROWS or size > _MOST_LABELS:
        return None
    counts = np.bincount(codes * size + references, minlength=size * size).reshape(size, size)
    orders = np.array(list(permutations(range(size))))
    n_right = counts[np.arange(size), orders].sum(axis=1)
    gold = orders[n_right.argmax()]
    now, then = np.trace(counts) / len(codes), n_right.max() / len(codes)
    frequent = counts.sum(axis=0).max() / len(codes)
    error = math.sqrt((now + then) / len(codes))  # of the difference, at most
    least = max(_LEAST_GAIN, _LEAST_ERRORS * error)
    if then - now < least or then - frequent < _LEAST_ABOVE_FREQUENT:
        return None
    return [labels[number] for number in gold], float(now), float(then)
