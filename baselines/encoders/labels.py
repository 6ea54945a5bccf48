"""A classifier's labels, put in the order of a dataset's by name."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...builders.core.harmonize import SCHEMES
from ...loaders.errors import ModelError


def named_labels(config: Any, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The labels of a classifier, in lower-case letters, in the order of its ids.

    Args:
        config: Its configuration, from ``transformers``.
        given: The labels, where its own configuration does not name them.

    Raises:
        ModelError: They are not named, or not as many as the classifier has.
    """
    id2label = {int(index): str(label) for index, label in (config.id2label or {}).items()}
    own = [id2label[index] for index in sorted(id2label)]
    if given:
        if len(given) != len(own):
            raise ModelError(
                f"The model has {len(own)} labels; {len(given)} were given: {', '.join(given)}."
            )
        return tuple(_plain(label) for label in given)
    if all(re.fullmatch(r"LABEL_\d+", label) for label in own):
        raise ModelError(
            f"The model does not name its {len(own)} labels ({', '.join(own)}). Name them in the "
            "order of its ids, as its card says, with --model-labels."
        )
    return tuple(_plain(label) for label in own)


def _plain(label: str) -> str:
    return re.sub(r"[\s-]+", "_", label.strip().lower())


def label_weights(model: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    """What each label of a model means for each label of a dataset.

    The labels are either the same, in some order, or the dataset tells entailment from the rest,
    and every label of the model is entailment or not; then the probabilities of those that are not
    add up.

    Args:
        model: m labels, in the order of the model's ids.
        labels: n labels, in the order of the dataset's ids.

    Returns:
        m x n zeros and ones, by which the model's probabilities are multiplied.

    Raises:
        ModelError: The labels cannot be aligned.
    """
    wanted = [_plain(label) for label in labels]
    if len(set(model)) == len(model) and set(model) == set(wanted):
        meant = list(model)
    else:
        scheme = SCHEMES["entailment"]
        if set(wanted) != set(scheme.labels) or not set(model) <= set(scheme.names):
            raise ModelError(
                f"The model's labels ({', '.join(model)}) cannot be aligned with the dataset's "
                f"({', '.join(labels)})."
            )
        meant = [scheme.names[label] for label in model]
    return np.array([[float(name == own) for name in wanted] for own in meant])
