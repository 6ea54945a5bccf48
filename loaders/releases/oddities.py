"""Counts what is odd in the texts of a release, and is kept as it is."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

Oddities = Counter[str]

#: What a text may hold that a reader would not expect, with an example of where it is from.
_KINDS = {
    "line breaks": r"[\r\n]",
    "control characters": r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]",  # U+0002, a hyphen of a PDF
    "replacement characters": "\ufffd",  # an encoding was lost before the release
    "no-break blanks": "\u00a0",
    "blanks at an end": r"^ | $",
}


def count_oddities(batch: "pa.RecordBatch", columns: Sequence[str], oddities: Oddities) -> None:
    """Adds the number of texts that have each kind of oddity.

    Args:
        batch: n rows.
        columns: Its columns of text.
        oddities: The counts, ``"KIND in COLUMN"``, to add to.
    """
    import pyarrow.compute as pc

    for column in columns:
        texts = batch.column(column)
        for kind, pattern in _KINDS.items():
            found = pc.sum(pc.match_substring_regex(texts, pattern)).as_py()
            if found:
                oddities[f"{kind} in {column}"] += found
