"""Reads MSciNLI's release: pairs of sentences from papers of five domains.

Source: the files of MSciNLI (NAACL 2024). Five columns are documented, of which ``id``,
``sentence1``, ``sentence2`` and ``label`` are known by name; the fifth has to be the domain, and is
recognised by its values.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Defect, ReleaseError
from . import Oddities
from .layout import Column, Layout
from .scinli import SENTENCE_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa

#: Our name of each domain, and how its name in the release may begin, in lower-case letters.
DOMAINS = {
    "hardware": ("hardware",),
    "networks": ("network",),
    "software_engineering": ("software", "swe"),
    "security_privacy": ("security",),
    "neurips": ("neurips", "nips"),
}


def read_mscinli(
    path: Path, oddities: Oddities | None = None, *, is_known: bool = False
) -> "Iterator[pa.RecordBatch]":
    """Read train, dev or test of MSciNLI; see ``Layout.read``.

    Args:
        path: The file, CSV or JSON lines.
        oddities: Counts to add to; None counts nothing.
        is_known: Whether the file is, by its hash, a published one.

    Yields:
        Batches with the columns ``id``, ``sentence1``, ``sentence2``, ``label`` and ``domain``, all
        strings; the domain by our name.

    Raises:
        ReleaseError: The file is malformed; lists the defects, with line and value.
    """
    import pyarrow as pa  # takes long to import

    name = _domain_column(path)
    beginnings = tuple(beginning for known in DOMAINS.values() for beginning in known)
    layout = Layout((*SENTENCE_COLUMNS, Column(name, beginnings=beginnings)))
    for batch in layout.read(path, oddities, is_known=is_known):
        released = batch.column(name).dictionary_encode()
        domains = {value: _domain(value) for value in released.dictionary.to_pylist()}
        for value, domain in domains.items():
            if oddities is not None and value != domain:
                oddities[f"domain {value!r} read as {domain}"] = 1
        columns = {column.name: batch.column(column.name) for column in SENTENCE_COLUMNS}
        columns["domain"] = pa.array(domains.values(), pa.string()).take(released.indices)
        yield pa.RecordBatch.from_pydict(columns)


def _domain_column(path: Path) -> str:
    """Return the name of the one column that SciNLI does not have."""
    from .tables import read_header

    known = {column.name for column in SENTENCE_COLUMNS}
    names = read_header(path)
    others = [name for name in names if name and name not in known]
    if len(others) == 1:
        return others[0]
    shown = ", ".join(map(repr, names))
    message = f"expected id, sentence1, sentence2, label and one more, the domain; got {shown}"
    if not others:
        message += ". Without a domain it may be a file of SciNLI"
    raise ReleaseError([Defect(str(path), 1, "", message)])


def _domain(released: str) -> str:
    plain = released.casefold()
    return next(name for name, known in DOMAINS.items() if plain.startswith(known))
