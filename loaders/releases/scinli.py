"""The layouts of the releases of SciNLI, MSciNLI and MisMatched: pairs of sentences from papers.

Source: the files of SciNLI (ACL 2022), from the ACL Anthology, and their readme.txt. The sentences
have line breaks and control characters of the PDFs that they are from; ``dev.csv`` has a column
without a name. The training rows that people labelled are in ``data/`` of
github.com/msadat3/weighted_cotraining (ACL 2024): TSV with the quotes of CSV, whose lines end in CR
and LF.

The files of MSciNLI (NAACL 2024), from five domains. Five columns are documented, of which ``id``,
``sentence1``, ``sentence2`` and ``label`` are known by name; the fifth has to be the domain, and is
recognised by its values.

The files of MisMatched (ACL Findings 2025), from three domains: the README.md and the programs of
github.com/fshaik8/MisMatched at 2b29e55. ``dev.tsv`` and ``test.tsv`` have the columns
``sentence1``, ``sentence2``, ``label`` and ``Domain``, and perhaps more. The programs read the
label of entailment as ``entailing`` or ``entailment``, the README has capitals. The files
themselves were not at hand: what is read otherwise than it stands there is counted.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .layout import Column, Layout, Oddities, one_of, read_text

if TYPE_CHECKING:
    import pyarrow as pa

#: The label ids of the authors' code.
LABELS = ("contrasting", "reasoning", "entailment", "neutral")
SENTENCE_COLUMNS = (
    Column("id"),
    Column("sentence1"),
    Column("sentence2"),
    Column("label", one_of(LABELS)),
)
LAYOUT = Layout(SENTENCE_COLUMNS)
HUMAN_LAYOUT = Layout(SENTENCE_COLUMNS, delimiter="\t")

#: Our name of each domain, and how its name in the release may begin, in lower-case letters.
MSCINLI_DOMAINS = {
    "hardware": ("hardware",),
    "networks": ("network",),
    "software_engineering": ("software", "swe"),
    "security_privacy": ("security",),
    "neurips": ("neurips", "nips"),
}


def _read_domain(value: object) -> str:
    released = read_text(value).casefold()
    for name, beginnings in MSCINLI_DOMAINS.items():
        if released.startswith(beginnings):
            return name
    known = ", ".join(
        beginning for beginnings in MSCINLI_DOMAINS.values() for beginning in beginnings
    )
    raise ValueError(f"{value!r} begins with none of {known}")


MSCINLI_LAYOUT = Layout((*SENTENCE_COLUMNS, Column("domain", _read_domain, names=())))

#: Our name of each domain.
MISMATCHED_DOMAINS = ("psychology", "engineering", "public_health")


def _fold_domain(released: str) -> str:
    return re.sub("[ -]", "_", released.casefold())


_MISMATCHED_LABELS = {**{label: label for label in LABELS}, "entailing": "entailment"}
_MISMATCHED_LAYOUT = Layout(
    (
        Column("sentence1"),
        Column("sentence2"),
        Column("label", one_of(_MISMATCHED_LABELS, str.casefold)),
        Column("domain", one_of(MISMATCHED_DOMAINS, _fold_domain), names=("Domain", "domain")),
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

    for batch in _MISMATCHED_LAYOUT.read(path, oddities):
        texts = (batch[name].to_pylist() for name in ("sentence1", "sentence2"))
        yield batch.add_column(0, "id", pa.array(map(make_id, *texts)))
