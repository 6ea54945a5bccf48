"""Rows of a dataset as the ids that a neural model reads."""

from array import array
from collections.abc import Iterable

import pyarrow as pa

from ...loaders.errors import SchemaError
from ..classical.text import check_view
from .vocabulary import UNKNOWN_ID, Vocabulary

PREMISE_IDS = "premise_ids"
HYPOTHESIS_IDS = "hypothesis_ids"


def encode(table: pa.Table, vocabulary: Vocabulary, view: str = "pair") -> pa.Table:
    """Encodes the pairs of a table.

    Args:
        table: With the string columns ``premise`` and ``hypothesis``; under the view
            ``"hypothesis"`` the premise is not read, and need not be there.
        vocabulary: The stems that the model knows.
        view: ``"pair"``, or ``"hypothesis"``: every premise is then one [UNK], so that the same
            models learn from the hypothesis alone.

    Returns:
        A table of the columns ``premise_ids`` and ``hypothesis_ids``, each ``list<int32>``, row by
        row for the one given. No list is empty, and none is cut or padded.

    Raises:
        SchemaError: A column is missing, holds no strings, or has nulls.
        UnknownNameError: There is no such view.
    """
    check_view(view)
    hypotheses = _encode_texts(_texts(table, "hypothesis"), vocabulary)
    if view == "pair":
        premises = _encode_texts(_texts(table, "premise"), vocabulary)
    else:
        premises = _as_lists([UNKNOWN_ID] for _ in range(len(table)))
    return pa.table({PREMISE_IDS: premises, HYPOTHESIS_IDS: hypotheses})


def _texts(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        listed = ", ".join(table.column_names) or "none"
        raise SchemaError(f"There is no column {name}; the columns are: {listed}.")
    column = table[name]
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise SchemaError(f"{name}: expected strings, got {column.type}.")
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise SchemaError(
            f"{name}: row {row} is null, expected a text ({column.null_count} nulls)."
        )
    return column


def _encode_texts(texts: pa.ChunkedArray, vocabulary: Vocabulary) -> pa.ListArray:
    return _as_lists(vocabulary.encode(text.as_py()) for text in texts)


def _as_lists(rows: Iterable[list[int]]) -> pa.ListArray:
    # Flat buffers: a list of a hundred thousand lists of Python's integers takes ten times as much.
    ends, values = array("i", [0]), array("i")
    for row in rows:
        values.extend(row)
        ends.append(len(values))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values, pa.int32()))
