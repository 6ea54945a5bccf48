"""Reads SciNLI's release: pairs of sentences from papers of the ACL Anthology.

Source: the files of SciNLI (ACL 2022) and their readme.txt. The sentences have line breaks and
control characters of the PDFs that they are from; ``dev.csv`` has a column without a name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from . import Oddities
from .layout import Column, Layout

if TYPE_CHECKING:
    import pyarrow as pa

#: The label ids of the authors' code.
LABELS = ("contrasting", "reasoning", "entailment", "neutral")
SENTENCE_COLUMNS = (
    Column("id"),
    Column("sentence1"),
    Column("sentence2"),
    Column("label", frozenset(LABELS)),
)
LAYOUT = Layout(SENTENCE_COLUMNS)


def read_scinli(
    path: Path, oddities: Oddities | None = None, *, is_known: bool = False
) -> "Iterator[pa.RecordBatch]":
    """Read one of train, dev and test, CSV or JSON lines.

    Args:
        path: The file.
        oddities: Counts to add to; None counts nothing.
        is_known: Whether the content of the file is known by its hash, so that nothing is checked
            that the hash vouches for.

    Yields:
        Batches with the columns ``id``, ``sentence1``, ``sentence2`` and ``label``, all strings.

    Raises:
        ReleaseError: The file is malformed; lists what is wrong, with line and value.
    """
    from .tables import read_batches  # pyarrow takes long to import

    yield from read_batches(path, LAYOUT, oddities, is_known=is_known)
