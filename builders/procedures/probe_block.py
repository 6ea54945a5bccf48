"""Show on a card how much of the labels the hypotheses alone give away."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..core.markdown import markdown_table


def probe_block(found: Mapping[str, Any]) -> str:
    """Return the card's section on the hypothesis-only probe; empty where it was not asked for.

    Args:
        found: The record of the probe, as a manifest has it.
    """
    return "\n\n".join(_show(found)) if found else ""


def _show(found: Mapping[str, Any]) -> Iterator[str]:
    yield "## Is the label in the hypothesis?"
    if "unmeasured" in found:
        yield f"Not measured on `{found['config']}`: {found['unmeasured']}."
        return
    value, interval, chance = found["macro_f1"]
    between = f" ({interval[0]} to {interval[1]})" if interval else ""
    yield (
        f"A linear classifier that sees the words of the hypothesis alone comes to a macro-F1 of\n"
        f"{value}{between} on {found['rows']:,} rows of `{found['config']}`; guessing gives "
        f"{chance}. By label and\ncategory, the share that it gets right, and how often it guesses "
        "the same of rows of other labels:"
    )
    rows = [
        [f"`{part}`", f"{n_rows:,}", f"{right}", f"{of_others}"]
        for kind in ("labels", "categories")
        for part, (n_rows, right, of_others) in found[kind].items()
    ]
    yield markdown_table(["rows of", "number", "right %", "of others %"], rows)
