"""Probabilities of rows, in large batches."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from accelerate.utils import gather_object

from ...metrics.inputs.files import PROBABILITY
from ..gold import Gold
from .batches import prediction_batches
from .encoded import EncodedRows
from .execution import Execution

_MAX_ROWS = 4_096


def predict(
    model: Callable[..., Any], rows: EncodedRows, n_labels: int, execution: Execution
) -> np.ndarray:
    """The probability of every label.

    Args:
        model: Gives logits, b x labels, for the inputs that the rows have; set to evaluate.
        rows: n rows.
        n_labels: Number of labels.
        execution: How to compute.

    Returns:
        float64, n x labels; each row adds up to 1.

    Raises:
        TrainingError: Memory ran out.
    """
    accelerator = execution.accelerator
    found = np.zeros((len(rows), n_labels))
    batches = list(
        prediction_batches(rows.lengths, execution.max_prediction_tokens, _MAX_ROWS)
        if not execution.reference
        else np.array_split(np.arange(len(rows)), max(-(-len(rows) // 64), 1))
    )
    length = int(rows.lengths.max()) if execution.reference and len(rows) else None
    mine = batches[accelerator.process_index :: accelerator.num_processes]
    done: list[tuple[np.ndarray, np.ndarray]] = []
    with torch.inference_mode():
        for batch in mine:
            with execution.out_of_memory_explained(len(batch), "Nothing was lost."):
                inputs = rows.batch(batch, multiple=execution.length_multiple, length=length)
                inputs = {
                    name: value.to(accelerator.device, non_blocking=True)
                    for name, value in inputs.items()
                }
                with execution.autocast():
                    logits = model(**inputs)
            done.append((batch, torch.softmax(logits.cpu().double(), dim=1).numpy()))
    if accelerator.num_processes > 1:
        done = gather_object(done)
    for batch, probabilities in done:
        found[batch] = probabilities
    return found


def prediction_table(rows: Gold, probabilities: np.ndarray) -> pa.Table:
    """Predictions as a run keeps them.

    Args:
        rows: n rows.
        probabilities: n x labels.

    Returns:
        The columns ``id``, ``prediction`` (the name of the most probable label) and
        ``probability_LABEL`` for every label.
    """
    best = pa.array(rows.labels).take(pa.array(probabilities.argmax(axis=1)))
    columns = {"id": rows.rows["id"], "prediction": best}
    for index, label in enumerate(rows.labels):
        columns[f"{PROBABILITY}{label}"] = pa.array(probabilities[:, index])
    return pa.table(columns)
