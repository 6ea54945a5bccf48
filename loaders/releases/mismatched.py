"""Reads MisMatched's release: pairs of sentences from papers of three domains.

Source: the README.md and the programs of github.com/fshaik8/MisMatched at 2b29e55 (ACL Findings
2025). ``dev.tsv`` and ``test.tsv`` have the columns ``sentence1``, ``sentence2``, ``label`` and
``Domain``, and perhaps more; the programs also take the names of other releases. They read the
label of entailment as ``entailing`` or ``entailment``, the README has capitals. The files
themselves were not at hand: what is read otherwise than it stands there is counted.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .layout import Column, Layout, Oddities, one_of
from .scinli import LABELS

if TYPE_CHECKING:
    import pyarrow as pa

#: Our name of each domain, and its words in the release.
DOMAINS = {
    "psychology": ("psychology",),
    "engineering": ("engineering",),
    "public_health": ("public", "health"),
}


def _spellings(*words: str) -> tuple[str, ...]:
    return tuple(
        spelling
        for word in words
        for spelling in (word, word.upper(), word.capitalize(), word.title())
    )


_LABELS = {
    **{spelling: label for label in LABELS for spelling in _spellings(label)},
    **dict.fromkeys(_spellings("entailing"), "entailment"),
}
_DOMAINS = {
    spelling: domain
    for domain, words in DOMAINS.items()
    for spelling in _spellings(*(separator.join(words) for separator in " _-"))
}
_LAYOUT = Layout(
    (
        Column("sentence1", names=_spellings("sentence1", "first_sentence")),
        Column("sentence2", names=_spellings("sentence2", "second_sentence")),
        Column("label", one_of(_LABELS), _spellings("label", "gold_label")),
        Column("domain", one_of(_DOMAINS), _spellings("domain")),
    ),
    may_have_others=True,
    delimiter="\t",
)


def read_mismatched(path: Path, oddities: Oddities | None = None) -> "Iterator[pa.RecordBatch]":
    """Read dev or test of MisMatched; see ``Layout.read``.

    The release has no ids: they are made of the texts, and do not depend on the order of rows.

    Args:
        path: The file, TSV with the quotes of CSV, or JSON lines.
        oddities: Counts to add to; None counts nothing.

    Yields:
        Batches with the columns ``id``, ``sentence1``, ``sentence2``, ``label`` and ``domain``, all
        strings; labels by SciNLI's names, domains by ours.

    Raises:
        ReleaseError: The file is malformed; lists the defects, with line and value.
    """
    import pyarrow as pa  # takes long to import

    n_of_id: Counter[str] = Counter()

    def make_id(*texts: str) -> str:
        key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
        n_of_id[key] += 1
        return key if n_of_id[key] == 1 else f"{key}-{n_of_id[key]}"

    for batch in _LAYOUT.read(path, oddities):
        texts = (batch[name].to_pylist() for name in ("sentence1", "sentence2"))
        yield batch.add_column(0, "id", pa.array(map(make_id, *texts)))
