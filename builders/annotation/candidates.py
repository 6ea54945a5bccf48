"""The pairs that may be annotated, and the cells in which they are balanced."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ...loaders.errors import SchemaError, UsageError

#: What a table of candidates has at least, all strings; ``label`` is the automatic one.
COLUMNS = ("id", "premise", "hypothesis", "label", "domain", "split")
SPLITS = ("validation", "test")
#: The answer of an annotator to whom the two sentences do not tell the relation.
UNCLEAR = "unclear"


class Cell(NamedTuple):
    """What gets the same number of pairs as every other of its split."""

    split: str
    domain: str
    label: str


def check_labels(labels: Sequence[str]) -> None:
    """Checks that annotators can choose among labels.

    Args:
        labels: The label set, without ``unclear``.

    Raises:
        UsageError: There are fewer than two, two differ in case or blanks alone, one is blank or
            ``unclear``.
    """
    plain = [label.strip().casefold() for label in labels]
    if len(set(plain)) < max(len(plain), 2) or not all(plain) or UNCLEAR in plain:
        raise UsageError(
            f"The labels are {list(labels)}; expected two or more, different whatever their case, "
            f"and none of them {UNCLEAR!r}, which every annotator may choose."
        )


def check_candidates(candidates: pa.Table, labels: Sequence[str]) -> None:
    """Checks that a table is one of candidates.

    Args:
        candidates: A table with at least the columns of ``COLUMNS``.
        labels: The label set.

    Raises:
        SchemaError: A column is missing, no string or has a null, an id comes twice, a label is
            not of the label set, or a split is not one for evaluation.
    """
    for name in COLUMNS:
        if name not in candidates.column_names:
            raise SchemaError(f"The candidates have no column {name!r}.")
        column = candidates[name]
        if column.type != pa.string() or column.null_count:
            raise SchemaError(f"Column {name!r} has nulls, or values that are no strings.")
    counts = pc.value_counts(candidates["id"])
    twice = pc.index(pc.greater(counts.field("counts"), 1), True).as_py()
    if twice >= 0:
        raise SchemaError(f"The id {counts.field('values')[twice].as_py()!r} comes twice.")
    for name, known in (("label", labels), ("split", SPLITS)):
        if unknown := set(pc.unique(candidates[name]).to_pylist()) - set(known):
            raise SchemaError(
                f"Column {name!r} has {', '.join(map(repr, sorted(unknown)))}; "
                f"expected {', '.join(known)}."
            )


def cells_of(candidates: pa.Table) -> list[Cell]:
    """The cell of every row.

    Args:
        candidates: A table of n candidates.

    Returns:
        n cells, in the order of the rows.
    """
    columns = (candidates[name].to_pylist() for name in Cell._fields)
    return [Cell(*values) for values in zip(*columns, strict=True)]
