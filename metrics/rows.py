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
    intervals, comparison = result.get("confidence_intervals"), result.get("comparison")
    head = ["score", "value"]
    head += ["from", "to"] if intervals else []
    head += ["other", "difference", "from", "to", "p", "p (McNemar)"] if comparison else []
    rows: Rows = [head]
    for key, name in names.items():
        values, labels = result[key], [name]
        parts: list[Any] = [(intervals or {}).get(key), (comparison or {}).get(key)]
        if isinstance(values, list):
            labels = [f"{name} {threshold}" for threshold in result["thresholds"]]
            parts = [part or [None] * len(values) for part in parts]
        else:
            values, parts = [values], [[part] for part in parts]
        for label, value, interval, compared in zip(
            labels, values, parts[0], parts[1], strict=True
        ):
            row = [label, shorten(value)]
            if intervals:
                row += _ends(interval)
            if comparison:
                row += _compared(compared)
            rows.append(row)
    return rows


def _ends(interval: Sequence[float] | None) -> list[Any]:
    return [shorten(end) for end in interval] if interval else ["", ""]


def _compared(found: Mapping[str, Any] | None) -> list[Any]:
    if found is None:
        return [""] * 6
    p_value = found["p_value"]
    return [
        shorten(found["other"]),
        shorten(found["difference"]),
        *_ends(found["interval"]),
        "" if p_value is None else shorten(p_value),
        shorten(found["mcnemar"]["p_value"]) if "mcnemar" in found else "",
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
