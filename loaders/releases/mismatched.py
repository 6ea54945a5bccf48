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

from ..errors import Defect, ReleaseError
from . import Oddities
from .layout import Column, Layout

if TYPE_CHECKING:
    import pyarrow as pa

#: Our name of each domain, and its words in the release.
DOMAINS = {
    "psychology": ("psychology",),
    "engineering": ("engineering",),
    "public_health": ("public", "health"),
}
#: The names that a column may have, in lower case.
_NAMES = {
    "sentence1": ("sentence1", "first_sentence"),
    "sentence2": ("sentence2", "second_sentence"),
    "label": ("label", "gold_label"),
    "domain": ("domain",),
}


def _spellings(word: str) -> tuple[str, ...]:
    return word, word.upper(), word.capitalize(), word.title()


_LABELS = {
    spelling: label
    for word, label in {
        "contrasting": "contrasting",
        "reasoning": "reasoning",
        "entailing": "entailment",
        "entailment": "entailment",
        "neutral": "neutral",
    }.items()
    for spelling in _spellings(word)
}
_DOMAINS = {
    spelling: domain
    for domain, words in DOMAINS.items()
    for separator in (" ", "_", "-")
    for spelling in _spellings(separator.join(words))
}


def read_mismatched(
    path: Path, oddities: Oddities | None = None, *, is_known: bool = False
) -> "Iterator[pa.RecordBatch]":
    """Read dev or test of MisMatched; see ``Layout.read``.

    The release has no ids: they are made of the texts, and do not depend on the order of rows.

    Args:
        path: The file, TSV with the quotes of CSV, or JSON lines.
        oddities: Counts to add to; None counts nothing.
        is_known: Whether the file is, by its hash, a published one.

    Yields:
        Batches with the columns ``id``, ``sentence1``, ``sentence2``, ``label`` and ``domain``, all
        strings; labels by SciNLI's names, domains by ours.

    Raises:
        ReleaseError: The file is malformed; lists the defects, with line and value.
    """
    import pyarrow as pa  # takes long to import

    columns = _find_columns(path)
    values = {"label": _LABELS, "domain": _DOMAINS}
    layout = Layout(
        tuple(
            Column(name, frozenset(values[ours]) if ours in values else None)
            for ours, name in columns.items()
        ),
        may_have_others=True,
        delimiter="\t",
    )
    n_of_id: Counter[str] = Counter()

    def make_id(*texts: str) -> str:
        key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
        n_of_id[key] += 1
        return key if n_of_id[key] == 1 else f"{key}-{n_of_id[key]}"

    for batch in layout.read(path, oddities, is_known=is_known):
        found = {ours: batch.column(name) for ours, name in columns.items()}
        for name, known in values.items():
            released = found[name].dictionary_encode()
            ours = {value: known[value] for value in released.dictionary.to_pylist()}
            for value, meant in ours.items():
                if oddities is not None and value != meant:
                    oddities[f"{name} {value!r} read as {meant}"] = 1
            found[name] = pa.array(ours.values(), pa.string()).take(released.indices)
        texts = (found[name].to_pylist() for name in ("sentence1", "sentence2"))
        yield pa.RecordBatch.from_pydict({"id": pa.array(map(make_id, *texts)), **found})


def _find_columns(path: Path) -> dict[str, str]:
    """Return the release's name of each column of ours."""
    from .tables import read_header

    names = read_header(path, Layout((), delimiter="\t"))
    found = {ours: [n for n in names if n.casefold() in known] for ours, known in _NAMES.items()}
    problems = [
        f"expected one column {' or '.join(_NAMES[ours])}, got {' and '.join(known) or 'none'}"
        for ours, known in found.items()
        if len(known) != 1
    ]
    if problems:
        shown = ", ".join(map(repr, names))
        message = f"{'; '.join(problems)}. Its columns are {shown}"
        raise ReleaseError([Defect(str(path), 1, "", message)])
    return {ours: known[0] for ours, known in found.items()}
