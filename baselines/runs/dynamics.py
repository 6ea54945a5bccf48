"""Training dynamics: how likely the gold label of each training row was, epoch by epoch."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...loaders.errors import UsageError
from ..evaluation.gold import Gold
from .config import Subset
from .folder import DYNAMICS


def dynamics_table(train: Gold, dynamics: np.ndarray) -> pa.Table:
    """Dynamics as a run keeps them.

    Args:
        train: n rows.
        dynamics: Epochs x n, the gold label's probability.

    Returns:
        The columns ``id``, ``epoch`` (from 1) and ``probability``, epoch by epoch.
    """
    n_epochs, n_rows = dynamics.shape
    ids = train.rows["id"].combine_chunks().cast(pa.string())
    return pa.table(
        {
            "id": pa.chunked_array([ids] * n_epochs),
            "epoch": pa.array(np.repeat(np.arange(1, n_epochs + 1, dtype=np.int32), n_rows)),
            "probability": pa.array(dynamics.ravel()),
        }
    )


def subset_ids(subset: Subset, run: Path, known: pa.ChunkedArray) -> pa.Array:
    """The training rows that a run's dynamics call easy, hard or ambiguous.

    Confidence is the mean, variability the standard deviation (over n) of the gold label's
    probability over the epochs.

    Args:
        subset: Which rows.
        run: The folder of a run that is done.
        known: The ids of the training rows.

    Returns:
        Their ids; of rows that are equally so, the first in the order of the run's rows.

    Raises:
        UsageError: The run has no dynamics, or was trained on other rows.

    Source: MSciNLI, section 5.1 and Table 7: a third by confidence, lowest confidence, or
        variability; or all but the 25 % or 5 % of the lowest confidence.
    """
    path = run / DYNAMICS
    if not path.is_file():
        raise UsageError(f"{run} has no {DYNAMICS}: it is no run that trained a model to its end.")
    table = pq.read_table(path)
    n_epochs = len(set(table["epoch"].to_pylist()))
    probabilities = table["probability"].to_numpy().reshape(n_epochs, -1)
    ids = table["id"].combine_chunks()[: probabilities.shape[1]]
    if set(ids.to_pylist()) != set(known.to_pylist()):
        raise UsageError(
            f"{run} was trained on other rows: it cannot tell which of these are easy."
        )
    confidence, variability = probabilities.mean(axis=0), probabilities.std(axis=0)
    n_rows = round(subset.share * len(ids))
    order = np.argsort(
        {"easy": -confidence, "ambiguous": -variability}.get(subset.kind, confidence),
        kind="stable",
    )
    chosen = order[n_rows:] if subset.kind == "without_hardest" else order[:n_rows]
    return ids.take(pa.array(np.sort(chosen)))
