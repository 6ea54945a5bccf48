"""Compare rows with the counts that a paper publishes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .repeats import TEXTS, first_rows
from .spec import PublishedCounts


def differing_rows(published: PublishedCounts, table: pa.Table) -> Iterator[str]:
    """Yield the difference of a split's number of rows from the published one, if there is any."""
    expected = published.get("rows")
    if isinstance(expected, int) and len(table) != expected:
        yield _difference(len(table), expected)


def differing_counts(
    published: PublishedCounts, table: pa.Table, labels: Sequence[str]
) -> Iterator[str]:
    """Yield the differences of a split's classes, categories and so on from the published counts.

    Args:
        published: The counts of the paper for the split.
        table: The rows of the split.
        labels: The label set.

    Yields:
        A difference, ``"category SEN: 2,054, published 2,064 (-10)"``.
    """
    for what, expected in published.items():
        if what == "rows":
            continue
        if isinstance(expected, int):
            found = _count(what, table)
            if found != expected:
                yield f"{what}: {_difference(found, expected)}"
            continue
        counts = _count_values(what, table, labels)
        for value, number in expected.items():
            if counts[value] != number:
                shown = ", ".join(map(str, value)) if isinstance(value, tuple) else value
                yield f"{what} {shown}: {_difference(counts[value], number)}"


def counted_columns(published: Mapping[str, Mapping[str, PublishedCounts]]) -> set[str]:
    """Return the names that published counts, by config and split, are of; columns among them."""
    return {
        name
        for splits in published.values()
        for counts in splits.values()
        for what in counts
        for name in what.split(", ")
    }


def _difference(found: int, expected: int) -> str:
    """Show a count beside the published one."""
    return f"{found:,}, published {expected:,} ({found - expected:+,})"


def _count(what: str, table: pa.Table) -> int:
    if what == "groups":
        return int(pc.count_distinct(table["group"]).as_py())
    return len(table) - len(np.unique(first_rows(table, TEXTS)))  # "repeated texts"


def _count_values(what: str, table: pa.Table, labels: Sequence[str]) -> Counter[Any]:
    """Count each value of a column, or each combination of several columns; labels by name."""
    names = what.split(", ")
    counted = table.group_by(names).aggregate([([], "count_all")]).to_pydict()
    if "label" in names:
        counted["label"] = [labels[label] for label in counted["label"]]
    values = zip(*(counted[name] for name in names), strict=True)
    keys = (value if len(names) > 1 else value[0] for value in values)
    return Counter(dict(zip(keys, counted["count_all"], strict=True)))
