"""Tables of predictions: make them, check them, and join them to a dataset by id."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import PredictionsError
from ...metrics.functional import MetricInputError
from ...metrics.inputs.columns import (
    UnreadableError,
    as_arrow,
    column_names,
    name_classes,
    plain,
    read_input_columns,
)
from ...metrics.inputs.files import PROBABILITY, probability_matrix
from ...metrics.inputs.labels import encode_labels
from ...metrics.inputs.probabilities import read_probabilities
from ...metrics.inputs.problems import Problems
from .gold import GoldRows

_N_SHOWN = 5


def prediction_table(rows: GoldRows, probabilities: np.ndarray) -> pa.Table:
    """Make a table of predictions from probabilities.

    Args:
        rows: n rows.
        probabilities: Shape ``(n, n_labels)``, from 0 to 1, in the order of the rows and labels.

    Returns:
        The columns ``id``, ``prediction`` (the name of the most probable label) and
        ``probability_LABEL`` for every label.
    """
    best = pa.array(rows.labels).take(pa.array(probabilities.argmax(axis=1)))
    columns = {"id": rows.rows["id"], "prediction": best}
    for index, label in enumerate(rows.labels):
        columns[f"{PROBABILITY}{label}"] = pa.array(probabilities[:, index])
    return pa.table(columns)


def is_table(given: Any) -> bool:
    """Return whether something has columns: a data frame, Arrow table, ``Dataset`` or mapping."""
    try:
        column_names(given)
    except UnreadableError:
        return False
    return True


def read_in_memory(given: Any, rows: pa.Table, name: str) -> pa.Table:
    """Read predictions that are in memory as a table.

    Args:
        given: A table with the columns ``id`` and ``prediction``, and perhaps ``probability_LABEL``
            for every label; or a column of predictions in the order of the rows.
        rows: The n rows of a split, with the column ``id``.
        name: The name of the predictions in messages.

    Returns:
        The table; columns without a meaning hold nulls.

    Raises:
        PredictionsError: It is neither, or a column does not have one value per row.
    """
    problems = Problems()

    def read(column: Any, data: Any = None) -> pa.Array:
        where = name if data is None else f"{name}: {column}"
        try:
            values, class_names = as_arrow(column, data)
        except UnreadableError as error:
            raise PredictionsError(f"{where}: {error}.") from None
        values = plain(values)
        if class_names is not None:
            values = name_classes(where, values, class_names, problems)
        return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values

    if not is_table(given):
        columns = {"id": rows["id"], "prediction": read(given)}
        if len(columns["prediction"]) != len(rows):
            raise PredictionsError(
                f"{name}: {len(columns['prediction']):,} predictions; expected one for each of the "
                f"{len(rows):,} rows, in the order of the split."
            )
    else:
        named = {str(column): column for column in column_names(given)}
        is_used = {c: c in ("id", "prediction") or c.startswith(PROBABILITY) for c in named}
        columns = {c: read(column, given) for c, column in named.items() if is_used[c]}
        n_rows = max(map(len, columns.values()), default=0)
        columns |= {c: pa.nulls(n_rows) for c in named if not is_used[c]}
    try:
        problems.check()
        return pa.table(columns)
    except (MetricInputError, pa.ArrowInvalid) as error:  # of columns that differ in length
        raise PredictionsError(f"{name}: {error}.") from None


def check_predictions(
    predictions: pa.Table, labels: Sequence[str], name: str, *, may_be_ids: bool = True
) -> list[str]:
    """Check the labels and probabilities of a system's predictions for a dataset.

    Args:
        predictions: A table with the column ``prediction``, in which a null stands for no readable
            answer, and optionally ``probability_LABEL``.
        labels: The label set in the order of its ids.
        name: The name of the predictions in messages.
        may_be_ids: Whether predictions may be label ids; only if the order of the labels is known.

    Returns:
        Warnings about answers that are missing, about unused columns, and about predictions that
        are not the most probable label.

    Raises:
        PredictionsError: The column ``prediction`` is missing, a prediction is not in the label
            set, or a probability is not between 0 and 1; names the rows, counted from 0.
    """
    problems = Problems()
    used = {"id", "prediction"}
    notes = []
    try:
        columns = read_input_columns({"prediction": predictions["prediction"]}, {}, None, problems)
        encoded = encode_labels(list(columns.values()), labels, problems)
        if not may_be_ids and pa.types.is_integer(predictions["prediction"].type):
            problems.add(
                "prediction: holds label ids, but the order of the labels is not known; give names."
            )
        matrix = None
        if has_probabilities(predictions):
            used |= {f"{PROBABILITY}{label}" for label in labels}
            matrix = read_probabilities(probability_matrix(predictions, labels)[0], None, problems)
        problems.check()
    except KeyError:
        listed = ", ".join(predictions.column_names)
        raise PredictionsError(
            f"{name}: the column prediction is missing; the columns are {listed}."
        ) from None
    except MetricInputError as error:
        hint, found = "", predictions["prediction"]
        is_text = pa.types.is_string(found.type) or pa.types.is_large_string(found.type)
        if is_text and "" in found.unique().to_pylist() and "" not in labels:
            hint = " Where there is no answer, write null, in JSONL or Parquet: CSV has none."
        raise PredictionsError(f"{name}: {error}{hint}") from None
    codes = encoded.codes["prediction"].astype(np.intp)
    is_answered = codes < len(labels)
    if n_missing := int((~is_answered).sum()):
        notes.append(
            f"{name}: {n_missing:,} of {len(codes):,} rows have no answer, which counts as wrong."
        )
    if unused := [column for column in predictions.column_names if column not in used]:
        notes.append(f"{name}: these columns are not used: {', '.join(unused)}.")
    if matrix is not None:
        matrix, codes = matrix[is_answered], codes[is_answered]
        own = np.take_along_axis(matrix, codes[:, None], 1)[:, 0]
        n_other = int((own < matrix.max(axis=1)).sum())
        if n_other:
            notes.append(
                f"{name}: in {n_other:,} of {len(own):,} rows another label is more probable than "
                "the predicted one."
            )
    return notes


def has_probabilities(table: pa.Table) -> bool:
    """Return whether a table of predictions has columns ``probability_LABEL``."""
    return any(name.startswith(PROBABILITY) for name in table.column_names)


def join_predictions(rows: pa.Table, predictions: pa.Table, name: str) -> pa.Table:
    """Put predictions in the order of a dataset's rows.

    Args:
        rows: n rows of a split, with the column ``id``.
        predictions: n predictions in any order, with the column ``id``.
        name: The name of the predictions in messages.

    Raises:
        PredictionsError: There are no ids, or an id is missing, unknown or repeated.
    """
    if "id" not in predictions.column_names:
        listed = ", ".join(predictions.column_names)
        raise PredictionsError(f"{name}: the column id is missing; the columns are {listed}.")
    ids = predictions["id"].combine_chunks()
    if not (pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)) or ids.null_count:
        kind = f"{ids.null_count} nulls" if ids.null_count else f"values of type {ids.type}"
        raise PredictionsError(f"{name}: the column id holds {kind}; expected strings.")
    ids, known = ids.cast(pa.large_string()), rows["id"].combine_chunks().cast(pa.large_string())
    counts = ids.value_counts()
    problems = {
        "more than once": counts.field("values").filter(pc.greater(counts.field("counts"), 1)),
        "not in the dataset": ids.filter(pc.invert(pc.is_in(ids, known))),
        "missing": known.filter(pc.invert(pc.is_in(known, ids))),
    }
    found = {what: values for what, values in problems.items() if len(values)}
    if found:
        listed = "; ".join(_listed(values, what) for what, values in found.items())
        is_other = "not in the dataset" in found
        hint = " Are these predictions for another --config or --split?" if is_other else ""
        raise PredictionsError(
            f"{name}: expected one prediction for each of the {len(known):,} rows: {listed}.{hint}"
        )
    return predictions.take(pc.index_in(known, ids))


def _listed(ids: pa.Array, what: str) -> str:
    shown = ", ".join(map(str, ids[:_N_SHOWN].to_pylist()))
    noun = "id" if len(ids) == 1 else "ids"
    return f"{len(ids):,} {noun} {what} ({shown}{', ...' if len(ids) > _N_SHOWN else ''})"
