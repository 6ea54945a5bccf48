"""Decide which papers are taken, and into which split: each into one, whatever others there are."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ....loaders.corpora.papers.paper import SkippedPaper
from ....loaders.errors import UnknownNameError
from ...core.schema import SPLITS, is_name
from ..splits import NO_YEARS, OTHER_DOMAINS, OTHER_YEAR, ByDomain, Place, Splitting
from .arrays import Numbers
from .declaration import UNBALANCED
from .extract import PAPERS, ShardReport, read_shard_table

SAME_PAPER = "the same paper again"
SAME_ID = "another paper has its id"
SAME_TEXT = "another paper has its text"
NO_DOMAIN = "the paper has no domain"
NO_NAME = "its domain is no snake_case name, or that of another config"

#: Names of configs that are no domains.
RESERVED = ("default", UNBALANCED)


@dataclass(frozen=True)
class Papers:
    """The papers of a corpus.

    Attributes:
        table: One row a paper, in the order of the shards.
        starts: The first row of each shard, and the end.
        split: For each paper the number of its split in ``SPLITS``, or -1.
        domain: For each paper the number of its domain in ``domains``, or -1.
        domains: The domains of the papers that are taken, in alphabetical order.
        n_unread: Number of files and papers that were not read.
        skipped: These, and the papers that are not taken, by file and line.
    """

    table: pa.Table
    starts: Numbers
    split: Numbers
    domain: Numbers
    domains: Sequence[str]
    n_unread: int
    skipped: Sequence[SkippedPaper]

    @property
    def n_taken(self) -> int:
        """Number of papers that are taken."""
        return int((self.split >= 0).sum())

    def counts(self) -> Mapping[str, Any]:
        """Count the papers read, kept and, by reason, dropped; an unread file counts as one."""
        return {
            "read": len(self.table) + self.n_unread,
            "kept": self.n_taken,
            "splits": {name: int((self.split == n).sum()) for n, name in enumerate(SPLITS)},
            "dropped": dict(sorted(Counter(entry.reason for entry in self.skipped).items())),
        }

    def hash(self) -> str:
        """Return the sha256 of the ids, years, domains and texts of the papers that are taken."""
        digest = sha256()
        for row in sorted(_rows(self.table.filter(pa.array(self.split >= 0)))):
            digest.update(f"{row.id}\n{row.year}\n{row.domain}\n{row.hash.hex()}\n".encode())
        return digest.hexdigest()


class _Row(NamedTuple):
    id: str
    hash: bytes
    year: int
    domain: str


def select_papers(folders: Sequence[Path], splitting: Splitting, seed: int) -> Papers:
    """Decide which papers are taken, and into which split.

    Of several papers with one id, and of several with one text, the first is taken by hash, year,
    domain and id.

    Args:
        folders: The folders of the shards.
        splitting: How papers are split.
        seed: Decides random choices.

    Raises:
        UnknownNameError: A domain has years of its own, and no paper is of it.
    """
    tables = [read_shard_table(folder, PAPERS) for folder in folders]
    table = pa.concat_tables(tables)
    rows = _rows(table)
    if isinstance(splitting, ByDomain):
        known = {row.domain for row in rows if row.domain}
        unknown = sorted(splitting.domains.keys() - known - {OTHER_DOMAINS})
        if known and unknown:  # where no paper has a domain, that is what is wrong
            raise UnknownNameError.of("domain", unknown[0], known)
    split = np.full(len(rows), -1, np.int64)
    reasons: dict[int, str] = {}
    for number, row in enumerate(rows):
        place = _place(row, splitting, seed)
        if place.split is None:
            reasons[number] = place.reason
        else:
            split[number] = SPLITS.index(place.split)
    reasons |= _doubled(rows, [n for n in range(len(rows)) if n not in reasons])
    split[list(reasons)] = -1
    domains = sorted({rows[n].domain for n in np.flatnonzero(split >= 0).tolist()})
    number_of = {name: number for number, name in enumerate(domains)}
    files, lines = table["file"].to_pylist(), table["line"].to_pylist()
    dropped = [
        SkippedPaper(files[n], lines[n], why, _detail(rows[n], why)) for n, why in reasons.items()
    ]
    unread = [entry for folder in folders for entry in ShardReport.read(folder).skipped]
    return Papers(
        table=table,
        starts=np.cumsum([0, *map(len, tables)]),
        split=split,
        domain=np.array(
            [number_of[r.domain] if s >= 0 else -1 for r, s in zip(rows, split, strict=True)],
            np.int64,
        ),
        domains=domains,
        n_unread=len(unread),
        skipped=sorted(
            unread + dropped, key=lambda entry: (entry.file, entry.line, entry.reason, entry.detail)
        ),
    )


def _place(row: _Row, splitting: Splitting, seed: int) -> Place:
    if not row.domain:
        return Place(None, NO_DOMAIN)
    if not is_name(row.domain) or row.domain in RESERVED:
        return Place(None, NO_NAME)
    own = splitting.of_domain(row.domain) if isinstance(splitting, ByDomain) else splitting
    return own.place_of(row.id, row.year or None, seed) if own else Place(None, NO_YEARS)


def _doubled(rows: Sequence[_Row], numbers: Sequence[int]) -> dict[int, str]:
    """Return the papers that have the id or the text of another before them, and which of these."""
    reasons: dict[int, str] = {}
    of_id: dict[str, int] = {}
    of_text: dict[bytes, int] = {}
    for number in sorted(numbers, key=lambda n: (rows[n].hash, rows[n].year, rows[n].domain)):
        first = of_id.setdefault(rows[number].id, number)
        if first != number:
            is_same = rows[number] == rows[first]
            reasons[number] = SAME_PAPER if is_same else SAME_ID
    left = [n for n in numbers if n not in reasons]
    for number in sorted(left, key=lambda n: rows[n]):
        if of_text.setdefault(rows[number].hash, number) != number:
            reasons[number] = SAME_TEXT
    return reasons


def _detail(row: _Row, why: str) -> str:
    """Return what exactly keeps a paper from being taken."""
    hint = {
        NO_NAME: f" has the domain {row.domain!r}; expected small letters, digits and _",
        NO_DOMAIN: "; name one: --domain, or --metadata",
        OTHER_YEAR: f" is of {row.year}",
        NO_YEARS: f" is of the domain {row.domain!r}",
    }
    return f"paper {row.id!r}{hint.get(why, '')}"


def _rows(table: pa.Table) -> list[_Row]:
    columns = (table[name].to_pylist() for name in ("id", "hash", "year", "domain"))
    return [
        _Row(key, hash_, year or 0, domain or "")
        for key, hash_, year, domain in zip(*columns, strict=True)
    ]
