"""Files of predictions as tables."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from .problems import MetricInputError

#: Columns of a file of predictions, by the argument of a metric that each is.
FILE_COLUMNS = {
    "predictions": "prediction",
    "references": "reference",
    "groups": "group",
    "categories": "category",
    "domains": "domain",
    "other_predictions": "other_prediction",
}

#: Before a label, the name of the column with that label's probability.
PROBABILITY = "probability_"

#: Columns of texts, which stay strings whatever they look like.
_TEXT_COLUMNS = ("id", "group", "category", "domain", "premise", "hypothesis")


def read_table(path: str | Path) -> pa.Table:
    """Reads a file of rows.

    Args:
        path: A file that ends in ``.csv``, ``.jsonl`` or ``.parquet``. In CSV, an empty field is
            an empty string, and a column of nothing but whole numbers holds integers, except
            ``id``, ``group``, ``category`` and ``domain``.

    Returns:
        Its rows.

    Raises:
        MetricInputError: The file ends otherwise, is malformed, or repeats a column.
        OSError: It cannot be read.
    """
    path = Path(path)
    readers = {".csv": _read_csv, ".jsonl": _read_jsonl, ".parquet": _read_parquet}
    if path.suffix.lower() not in readers:
        raise MetricInputError([f"{path} ends in none of {', '.join(readers)}."])
    try:
        table = readers[path.suffix.lower()](path)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise MetricInputError([f"{path}: {error}"]) from None
    names = table.column_names
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise MetricInputError([f"{path}: repeats the columns {', '.join(repeated)}."])
    if not table.num_rows:
        raise MetricInputError([f"{path} has no rows."])
    return table


def _read_csv(path: Path) -> pa.Table:
    # Labels such as "true" and groups such as 2020-01-01 are texts, and so is an empty field.
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(_TEXT_COLUMNS, pa.string()),
        null_values=[],
        true_values=[],
        false_values=[],
        timestamp_parsers=[],
        auto_dict_encode=False,
    )
    parse = pa.csv.ParseOptions(newlines_in_values=True)
    return pa.csv.read_csv(path, convert_options=convert, parse_options=parse)


def _read_jsonl(path: Path) -> pa.Table:
    # Texts are named, or Arrow would make times of "2020-01-01".
    with path.open(encoding="utf-8") as file:
        first = next((line for line in file if line.strip()), "{}")
    try:
        row = json.loads(first)
    except (json.JSONDecodeError, RecursionError) as error:
        raise MetricInputError([f"{path}: its first line is no JSON: {error}."]) from None
    if not isinstance(row, dict):
        raise MetricInputError([f"{path}: its first line is no JSON object."])
    texts = [(name, pa.string()) for name, value in row.items() if isinstance(value, str)]
    parse = pa.json.ParseOptions(explicit_schema=pa.schema(texts))
    return pa.json.read_json(path, parse_options=parse)


def _read_parquet(path: Path) -> pa.Table:
    return pa.parquet.ParquetFile(path).read()


def select_columns(
    table: pa.Table, required: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, Any]:
    """The columns of a file as arguments of a metric.

    Args:
        table: The rows of the file.
        required: Arguments that the file has to have the columns of; see ``FILE_COLUMNS``.
        optional: Arguments that are left out where the file has no such column.

    Returns:
        The columns by argument.

    Raises:
        MetricInputError: A column is missing.
    """
    names = table.column_names
    missing = [FILE_COLUMNS[a] for a in required if FILE_COLUMNS[a] not in names]
    if missing:
        raise MetricInputError(
            [f"There is no column {', '.join(missing)}; the file has {', '.join(names)}."]
        )
    arguments = [a for a in (*required, *optional) if FILE_COLUMNS[a] in names]
    return {argument: table[FILE_COLUMNS[argument]] for argument in arguments}


def probability_matrix(
    table: pa.Table, labels: Sequence[str] | None = None
) -> tuple[np.ndarray, list[str]]:
    """Probabilities in columns such as ``probability_entailment``.

    Args:
        table: The rows of a file.
        labels: The label set; None takes the labels that have a column.

    Returns:
        Numbers of shape ``(n, L)``, and the L labels in the order of the matrix.

    Raises:
        MetricInputError: There are no such columns, not those of the label set, or they hold
            anything but numbers.
    """
    found = [n.removeprefix(PROBABILITY) for n in table.column_names if n.startswith(PROBABILITY)]
    expected = list(labels) if labels is not None else found
    if not found or sorted(found) != sorted(expected):
        listed = ", ".join(expected) or "LABEL, one a label"
        raise MetricInputError(
            [f"Probabilities of {', '.join(found) or 'nothing'}; expected {PROBABILITY}{listed}."]
        )
    columns = [table[f"{PROBABILITY}{label}"] for label in expected]
    for label, column in zip(expected, columns, strict=True):
        is_number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
        if column.null_count or not is_number:
            kind = "nulls" if column.null_count else f"values of type {column.type}"
            raise MetricInputError([f"{PROBABILITY}{label} holds {kind}; expected numbers."])
    return np.column_stack([column.to_numpy().astype(float) for column in columns]), expected
