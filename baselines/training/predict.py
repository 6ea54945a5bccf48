"""Apply a model to rows, in batches as large as memory allows."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from accelerate.utils import gather_object

from ...loaders.errors import TrainingError
from ...loaders.progress import watch
from .batches import EncodedRows, prediction_batches
from .execution import Execution, is_out_of_memory

_MAX_ROWS = 4_096


def predict_probabilities(
    model: Callable[..., Any],
    rows: EncodedRows,
    n_labels: int,
    execution: Execution,
    what: str = "tested",
) -> np.ndarray:
    """Predict the probability of every label by a model, on as many rows at once as fit.

    Args:
        model: Returns logits, shape ``(b, n_labels)``, for the inputs of the rows; in evaluation
            mode.
        rows: n rows.
        n_labels: Number of labels.
        execution: Device and precision of the computation.
        what: What is done to the rows, in the line of progress.

    Returns:
        Shape ``(n, n_labels)``, float64, from 0 to 1; each row sums to 1.

    Raises:
        TrainingError: Not even one row fits into memory, or a probability is not finite.
    """
    logits = apply_model(model, rows, n_labels, execution, what).astype(np.float64)
    found: np.ndarray = torch.softmax(torch.from_numpy(logits), dim=1).numpy()
    if not np.isfinite(found).all():
        raise TrainingError(
            f"{(~np.isfinite(found).all(axis=1)).sum()} of {len(found)} rows have probabilities "
            "that are not finite. Try --precision fp32, or train again at a lower --learning-rate."
        )
    return found


def apply_model(
    model: Callable[..., Any],
    rows: EncodedRows,
    n_outputs: int,
    execution: Execution,
    what: str,
    unit: str = "rows",
) -> np.ndarray:
    """Apply a model, without gradients, to as many rows at once as fit.

    Args:
        model: Returns shape ``(b, n_outputs)`` for the inputs of the rows; in evaluation mode.
        rows: n rows.
        n_outputs: Number of outputs of a row.
        execution: Device and precision of the computation.
        what: What is done to the rows, in the line of progress.
        unit: What a row is, in that line.

    Returns:
        Shape ``(n, n_outputs)``, float32.

    Raises:
        TrainingError: Not even one row fits into memory.
    """
    accelerator = execution.accelerator
    found = np.zeros((len(rows), n_outputs), np.float32)
    batches = list(
        prediction_batches(rows.lengths, execution.max_prediction_tokens, _MAX_ROWS)
        if not execution.reference
        else np.array_split(np.arange(len(rows)), max(-(-len(rows) // 64), 1))
    )
    length = int(rows.lengths.max()) if execution.reference and len(rows) else None
    todo = batches[accelerator.process_index :: accelerator.num_processes][::-1]
    done: list[tuple[np.ndarray, np.ndarray]] = []
    most = math.inf  # tokens, padding included, of a batch: halved whenever memory runs out
    with torch.inference_mode(), watch(what, len(rows), unit) as progress:
        while todo:
            batch = todo.pop()
            n_tokens = len(batch) * rows.lengths[batch].max()
            if n_tokens > most and len(batch) > 1:
                todo += np.array_split(batch, 2)[::-1]
                continue
            try:
                outputs = _outputs(model, rows, batch, length, execution)
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                if len(batch) == 1:
                    raise TrainingError(
                        f"The model and one row of {rows.lengths[batch[0]]} tokens do not fit into "
                        "memory; choose a smaller model or --max-length."
                    ) from error
                most = n_tokens // 2
                todo.append(batch)
                continue
            progress.update(len(batch))
            done.append((batch, outputs.float().cpu().numpy()))
    if accelerator.num_processes > 1:
        done = gather_object(done)
    for batch, part in done:
        found[batch] = part
    return found


def _outputs(
    model: Callable[..., Any],
    rows: EncodedRows,
    batch: np.ndarray,
    length: int | None,
    execution: Execution,
) -> torch.Tensor:
    device = execution.accelerator.device
    inputs = rows.batch(batch, multiple=execution.length_multiple, length=length)
    inputs = {name: value.to(device, non_blocking=True) for name, value in inputs.items()}
    with execution.autocast():
        outputs: torch.Tensor = model(**inputs)
    return outputs
