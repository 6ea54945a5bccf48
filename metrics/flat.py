"""Results as numbers by name, as trainers and trackers take them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

#: Parts whose pairs are the low and the high end of an interval.
_INTERVALS = frozenset({"confidence_intervals", "interval"})


def flatten(result: Mapping[str, Any]) -> dict[str, int | float]:
    """Return the numbers of a metric's result by path, such as ``per_class/neutral/f1``.

    Args:
        result: The result of a metric.

    Returns:
        Integers and floats by path, in the order of the result. Scores at several thresholds end
        in the threshold (``pattern_accuracy/0.95``), intervals in ``low`` and ``high``. In a name,
        a character other than a letter, a digit, ``_``, ``-``, ``.`` and space becomes ``_``; if
        two names are then equal, the second ends in ``_2``, and so on. Texts, nulls, the
        thresholds, curves, matrices and tables of groups are left out.

    Example:
        >>> flatten({"accuracy": 0.5, "per_class": {"neutral": {"f1": 0.4}}, "signature": "x"})
        {'accuracy': 0.5, 'per_class/neutral/f1': 0.4}
    """
    thresholds = result.get("thresholds")
    steps = thresholds if isinstance(thresholds, list) else []
    scores = {name: part for name, part in result.items() if name != "thresholds"}
    return {"/".join(path): number for path, number in _numbers_by_path(scores, (), steps)}


def _numbers_by_path(
    found: Any, path: tuple[str, ...], thresholds: Sequence[float]
) -> Iterator[tuple[tuple[str, ...], int | float]]:
    """Yield the path and value of each number in a part of a result."""
    if isinstance(found, int | float):
        yield path, found
    for name, part in _named_parts(found, not _INTERVALS.isdisjoint(path), thresholds):
        yield from _numbers_by_path(part, (*path, name), thresholds)


def _named_parts(
    found: Any, in_interval: bool, thresholds: Sequence[float]
) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a part of a result by unique name; none of a table or a matrix."""
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(found, Mapping):
        is_table = not in_interval and all(isinstance(part, list) for part in found.values())
        parts = () if is_table else found.items()
    elif isinstance(found, list):
        if in_interval and len(found) == 2 and not any(isinstance(end, list) for end in found):
            parts = zip(("low", "high"), found, strict=True)
        elif len(found) == len(thresholds):
            parts = zip(thresholds, found, strict=True)
    taken: set[str] = set()
    for name, part in parts:
        plain = unique = re.sub(r"[^\w. -]", "_", str(name))
        n_equal = 1
        while unique in taken:
            n_equal += 1
            unique = f"{plain}_{n_equal}"
        taken.add(unique)
        yield unique, part
