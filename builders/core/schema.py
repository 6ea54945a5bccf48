"""The uniform schema: the same columns, types and order in every config of every dataset."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from datasets import Features

#: The only names of splits.
SPLITS = ("train", "validation", "test")
#: Where tables number the splits, no split.
IN_NO_SPLIT = -1

#: The uniform columns in order, with their meaning.
COLUMNS = {
    "id": "unique in the dataset across splits, stable across versions",
    "premise": "the text that is given",
    "hypothesis": "the text to judge",
    "label": "the gold label",
    "group": "the unit of consistency (pattern, mechanism); null where there is none",
    "category": "how the pair came to be; null where that is not recorded",
    "domain": "the field that the text is from",
    "source": "provenance: paper, abstract or citation; null where that is not recorded",
}
NULLABLE = ("group", "category", "source")
#: The columns that hold a value in every row, which is no empty text.
REQUIRED = tuple(name for name in COLUMNS if name not in NULLABLE)
#: The columns with the texts of a row.
TEXTS = ("premise", "hypothesis")

#: The type of a column in plain values: the name of a scalar type (``"string"``), a list with the
#: type of its items (``["string"]``), or a mapping with that of each field.
ColumnType: TypeAlias = "str | Sequence[ColumnType] | Mapping[str, ColumnType]"
SCALARS = ("bool", "float32", "float64", "int8", "int16", "int32", "int64", "string")

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def is_name(text: str) -> bool:
    """Return whether a text is a snake_case name, as configs, splits and domains need."""
    return _NAME.fullmatch(text) is not None


def is_column_type(found: Any) -> bool:
    """Return whether a value describes the type of a column; see ``ColumnType``."""
    if isinstance(found, Mapping):
        return bool(found) and all(map(is_column_type, found.values()))
    if isinstance(found, list | tuple):
        return len(found) == 1 and is_column_type(found[0])
    return isinstance(found, str) and found in SCALARS


def uniform_features(labels: Sequence[str], extra: Mapping[str, ColumnType]) -> "Features":
    """Return the features of a dataset: the uniform columns, then its own.

    Args:
        labels: The label set; a label's id is its position.
        extra: Types of the dataset's own columns, in order.
    """
    from datasets import ClassLabel, Features, Value  # takes long to import

    uniform = {
        name: ClassLabel(names=list(labels)) if name == "label" else Value("string")
        for name in COLUMNS
    }
    return Features(uniform | {name: _feature(kind) for name, kind in extra.items()})


def _feature(kind: ColumnType) -> Any:
    from datasets import List, Value

    if isinstance(kind, str):
        return Value(kind)
    if isinstance(kind, Mapping):
        return {name: _feature(field) for name, field in kind.items()}
    return List(_feature(kind[0]))
