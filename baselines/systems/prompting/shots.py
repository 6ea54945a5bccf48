"""Draw exemplars for few-shot prompts, one of each class."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ....loaders.errors import SchemaError, UsageError

_COLUMNS = ("id", "premise", "hypothesis", "label")


@dataclass(frozen=True)
class Shot:
    """An exemplar: a pair that is shown with its label.

    Attributes:
        id: The row's id.
        premise: The premise.
        hypothesis: The hypothesis.
        label: The name of the label.
    """

    id: str
    premise: str
    hypothesis: str
    label: str


def draw_shots(
    rows: pa.Table, labels: Sequence[str], seed: int, exclude_ids: Collection[str] = ()
) -> tuple[Shot, ...]:
    """Draw one exemplar of each class by a keyed hash of its id.

    The draw of a class depends neither on the order of the rows nor on those of other classes.

    Args:
        rows: The pool: ``id``, ``premise`` and ``hypothesis`` (strings), ``label`` (ids).
        labels: The label set in the order of its ids.
        seed: Seed of the draw.
        exclude_ids: Ids of rows that must not be shown, such as those to be judged.

    Returns:
        The exemplars, in the order of the label set.

    Raises:
        SchemaError: A column is missing or holds nulls, an id is repeated, or a label is not in the
            label set.
        UsageError: A class has no rows left.

    Source: MSciNLI, Table 18: four human-annotated exemplars, one of each class. Which ones, and
        how they were drawn, is not known; this draw is our own.
    """
    _check(rows, labels)
    excluded = frozenset(exclude_ids)
    key = str(seed).encode()
    best: dict[int, tuple[bytes, int]] = {}
    pairs = zip(rows["id"].to_pylist(), rows["label"].to_pylist(), strict=True)
    for row, (id_, label) in enumerate(pairs):
        if id_ not in excluded:
            drawn = (hashlib.blake2b(id_.encode(), digest_size=16, key=key).digest(), row)
            best[label] = min(best.get(label, drawn), drawn)
    if missing := [name for label, name in enumerate(labels) if label not in best]:
        raise UsageError(
            f"The pool has no exemplar of {', '.join(missing)}: it has {rows.num_rows:,} rows, and "
            f"{len(excluded):,} ids are excluded. Draw from a larger pool."
        )
    return tuple(
        Shot(
            id=rows["id"][row].as_py(),
            premise=rows["premise"][row].as_py(),
            hypothesis=rows["hypothesis"][row].as_py(),
            label=name,
        )
        for name, (_, row) in zip(labels, (best[label] for label in sorted(best)), strict=True)
    )


def _check(rows: pa.Table, labels: Sequence[str]) -> None:
    if missing := [name for name in _COLUMNS if name not in rows.column_names]:
        raise SchemaError(
            f"The pool of shots lacks the columns {', '.join(missing)}; it has "
            f"{', '.join(rows.column_names)}."
        )
    problems = [
        f"{rows[name].null_count} rows have no {name}" for name in _COLUMNS if rows[name].null_count
    ]
    if len(pc.unique(rows["id"])) < rows.num_rows:
        problems.append("ids occur more than once")
    if not pa.types.is_integer(rows["label"].type):
        problems.append(f"labels are of type {rows['label'].type}; expected ids")
    elif beyond := set(pc.unique(rows["label"].drop_null()).to_pylist()) - set(range(len(labels))):
        problems.append(f"label ids {sorted(beyond)} are not among {', '.join(labels)}")
    if problems:
        raise SchemaError(f"The pool of shots is malformed: {'; '.join(problems)}.")
