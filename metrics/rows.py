"""Results as rows of tables, for people: the first row of a table is its head."""

from collections.abc import Mapping, Sequence
from typing import Any

Rows = list[list[Any]]

_DIGITS = 4


def score_rows(result: Mapping[str, Any], names: Mapping[str, str]) -> Rows:
    """Scores, with their intervals and the comparison with another system where there are any.

    Args:
        result: What a metric returned.
        names: Shown name of each score; a score that is a list gives a row a threshold.

    Returns:
        A head and a row for each score.
    """
    entries = [entry for key, name in names.items() for entry in _entries(result, key, name)]
    compared = [found for *_, found in entries if found is not None]
    has_intervals = "confidence_intervals" in result
    has_mcnemar = any("mcnemar" in found for found in compared)
    low = f"{100 * result.get('confidence_level', 0.95):g} % from"
    head = ["score", "value", *([low, "to"] if has_intervals else [])]
    if compared:
        head += ["other", "difference", low, "to", "p", *(["p (McNemar)"] if has_mcnemar else [])]
    rows: Rows = [head]
    for label, value, interval, found in entries:
        row = [label, shorten(value), *(_ends(interval) if has_intervals else [])]
        if compared:
            row += _compared_cells(found or {})[: len(head) - len(row)]
        rows.append(row)
    return rows


def _entries(result: Mapping[str, Any], key: str, name: str) -> list[tuple[str, Any, Any, Any]]:
    """Name, value, interval and comparison of a score, one a threshold where it is a list."""
    value = result[key]
    interval = result.get("confidence_intervals", {}).get(key)
    compared = result.get("comparison", {}).get(key)
    if not isinstance(value, list):
        return [(name, value, interval, compared)]
    nothing = [None] * len(value)
    labels = [f"{name} {threshold}" for threshold in result["thresholds"]]
    return list(zip(labels, value, interval or nothing, compared or nothing, strict=True))


def _ends(interval: Sequence[float] | None) -> list[Any]:
    return [shorten(end) for end in interval] if interval else ["", ""]


def _compared_cells(found: Mapping[str, Any]) -> list[Any]:
    return [
        shorten(found.get("other", "")),
        shorten(found.get("difference", "")),
        *_ends(found.get("interval")),
        show_p_value(found.get("p_value")),
        show_p_value(found.get("mcnemar", {}).get("p_value")),
    ]


def count_rows(rows: Rows, counts: Mapping[str, int]) -> Rows:
    """Adds counts to rows of scores."""
    blank = [""] * (len(rows[0]) - 2)
    return rows + [[name, count, *blank] for name, count in counts.items()]


def column_rows(columns: Mapping[str, Sequence[Any]]) -> Rows:
    """A table given by columns of the same length."""
    values = zip(*columns.values(), strict=True)
    return [list(columns), *([shorten(value) for value in row] for row in values)]


def breakdown_rows(
    name: str, parts: Mapping[Any, Mapping[str, Any]], scores: Mapping[str, str]
) -> Rows:
    """Scores of each part of the data.

    Args:
        name: What the parts are.
        parts: Scores of each part.
        scores: Shown name of each score; a score that is a list gives a column a threshold.
    """
    first = next(iter(parts.values()))
    head = [name]
    for key, shown in scores.items():
        head += shown.split("|") if isinstance(first[key], list) else [shown]
    rows: Rows = [head]
    for part, found in parts.items():
        row: list[Any] = [part]
        for key in scores:
            row += (
                [shorten(v) for v in found[key]]
                if isinstance(found[key], list)
                else [shorten(found[key])]
            )
        rows.append(row)
    return rows


def show_p_value(p_value: float | None) -> str:
    """A p-value as text; empty where nothing could be tested."""
    if p_value is None:
        return ""
    return f"{p_value:.4f}" if p_value >= 10**-_DIGITS else f"<{10**-_DIGITS:.4f}"


def shorten(value: Any) -> Any:
    """A number as it is shown."""
    return round(value, _DIGITS) if isinstance(value, float) else value


def show_rows_as_text(rows: Rows) -> str:
    """A table as lines of text: the first column to the left, the others to the right."""
    cells = [[f"{v:.4f}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in cells
    )
