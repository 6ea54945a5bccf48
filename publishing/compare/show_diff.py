"""The difference between two versions as text."""

from collections.abc import Iterator

from .diff import Edit, Move, Names, Relabelling, SplitDiff, VersionDiff


def show_diff(diff: VersionDiff, max_examples: int = 10) -> str:
    """A difference as text: names, a line a config and split, then examples.

    Args:
        diff: The difference.
        max_examples: How many rows of each kind of change to name. A row of several configs is
            named once.

    Returns:
        Lines, without a line break at the end.
    """
    lines = [f"{diff.dataset} {diff.before} -> {diff.after}"]
    for what in ("labels", "columns", "configs", "splits"):
        if shown := "; ".join(_names(getattr(diff, what))):
            lines.append(f"{what}: {shown}")
    splits = {
        f"{config}/{split}": (split, rows)
        for config, splits in diff.rows.items()
        for split, rows in splits.items()
    }
    width = max(map(len, splits), default=0)
    for name, (split, rows) in splits.items():
        counts = ", ".join(_counts(split, rows)) or "no change"
        lines.append(f"  {name:{width}}  {_n_rows(rows)}: {counts}")
    for kind in ("added", "removed", "relabelled", "edited", "moved"):
        changes = (change for _, rows in splits.values() for change in getattr(rows, kind))
        examples = list(dict.fromkeys(map(_example, changes)))
        if examples and max_examples:
            lines += [f"{kind}:", *(f"  {example}" for example in examples[:max_examples])]
            if len(examples) > max_examples:
                lines.append(f"  and {len(examples) - max_examples:,} more")
    return "\n".join(lines)


def _names(names: Names) -> Iterator[str]:
    if names.added:
        yield f"added {', '.join(names.added)}"
    if names.removed:
        yield f"removed {', '.join(names.removed)}"
    yield from (f"{name} was {old}, is {new}" for name, (old, new) in names.changed.items())
    if names.reordered:
        yield "in another order"


def _n_rows(rows: SplitDiff) -> str:
    before = f"{rows.rows_before:,} -> " if rows.rows_before != rows.rows_after else ""
    return f"{before}{rows.rows_after:,} rows"


def _counts(split: str, rows: SplitDiff) -> Iterator[str]:
    n_moved_here = sum(move.after == split for move in rows.moved)
    numbers = {
        "added": len(rows.added),
        "removed": len(rows.removed),
        "relabelled": len(rows.relabelled),
        "edited": len(rows.edited),
        "moved here": n_moved_here,
        "moved away": len(rows.moved) - n_moved_here,
    }
    yield from (f"{number:,} {what}" for what, number in numbers.items() if number)
    if rows.reordered:
        yield "in another order"


def _example(change: str | Relabelling | Edit | Move) -> str:
    match change:
        case Relabelling(row, before, after, columns):
            return f"{row}: {before} -> {after}" + f", also {', '.join(columns)}" * bool(columns)
        case Edit(row, columns):
            return f"{row}: {', '.join(columns)}"
        case Move(row, before, after):
            return f"{row}: {before} -> {after}"
        case _:
            return change
