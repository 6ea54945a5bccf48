"""Compare rows with the counts that a paper publishes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from .spec import PublishedCounts


def differing_counts(published: PublishedCounts, count: Callable[[str], Any]) -> Iterator[str]:
    """Yield the differences of a split's classes, categories and so on from the published counts.

    Args:
        published: The counts of the paper for the split.
        count: Counts in the split what is published besides ``"rows"``: ``"groups"``, ``"repeated
            texts"``, or by ``count_values`` the values of columns.

    Yields:
        A difference, ``"category SEN: 2,054, published 2,064 (-10)"``.
    """
    for what, expected in published.items():
        if what == "rows":
            continue
        found = count(what)
        if isinstance(expected, int):
            found, expected = {"": found}, {"": expected}
        for value, number in expected.items():
            if (n := found[value]) != number:
                shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
                yield (
                    f"{what} {shown}".rstrip() + f": {n:,}, published {number:,} ({n - number:+,})"
                )


def count_values(what: str, batches: Iterable[pa.Table], labels: Sequence[str]) -> Counter[Any]:
    """Count each value of a column, or each combination of several columns; labels by name.

    Args:
        what: The columns, ``"category, label"``.
        batches: The rows, in one part or several.
        labels: The label set.
    """
    names = what.split(", ")
    counts: Counter[Any] = Counter()
    for batch in batches:
        counted = batch.group_by(names).aggregate([([], "count_all")]).to_pydict()
        if "label" in names:
            counted["label"] = [labels[label] for label in counted["label"]]
        values = zip(*(counted[name] for name in names), strict=True)
        keys = (value if len(names) > 1 else value[0] for value in values)
        counts.update(dict(zip(keys, counted["count_all"], strict=True)))
    return counts
