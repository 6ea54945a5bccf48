"""Place the papers of some shards: into which split each goes, whatever others there are.

This needs no other paper, so workers do it; what does is left to SQL (see ``select``).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ....loaders.atomic_write import whole_folder
from ...core.keyed import order_preserving
from ...core.schema import SPLITS, is_name
from ..shards import Corpus
from ..splits import NO_YEARS, OTHER_YEAR, ByDomain, Place, Splitting
from .declaration import UNBALANCED
from .extract import PAIRS, PAPERS, ShardReport, shard_key
from .pairs import by_category

NO_DOMAIN = "the paper has no domain"
NO_NAME = "its domain is no snake_case name, or that of another config"

#: Names of configs that are no domains.
RESERVED = ("default", UNBALANCED)

#: Papers as SQL reads them.
PLACED = pa.schema(
    {
        "shard_key": pa.int64(),
        "shard": pa.int32(),  # its number among those of the corpus
        "paper": pa.int32(),  # row of the shard's papers
        "id": pa.string(),
        "hash_high": pa.int64(),
        "hash_low": pa.int64(),
        "year": pa.int16(),  # 0 where it has none
        "domain": pa.string(),  # empty where it has none
        "n_sentences": pa.int32(),
        "split": pa.int8(),  # its number in SPLITS, or -1
        "reason": pa.string(),  # why it is in none
        "detail": pa.string(),
        "file": pa.string(),
        "line": pa.int64(),
    }
)
#: Files and papers that were not read.
UNREAD = pa.schema(
    {"file": pa.string(), "line": pa.int64(), "reason": pa.string(), "detail": pa.string()}
)
UNREAD_FILE = "unread.parquet"
#: Shards are put together to groups with number columns of at least this size, 300,000 pairs.
_GROUP_BYTES = 16_000_000


@dataclass(frozen=True)
class ShardGroup:
    """Some shards of a corpus that a worker takes at once.

    Attributes:
        first: The number of the first among those of the corpus.
        folders: The folders of the shards.
        target: The folder for what becomes of them.
    """

    first: int
    folders: Sequence[Path]
    target: Path


def group_shards(corpus: Corpus, results: Path) -> list[ShardGroup]:
    """Put shards together that a worker takes at once, each group with a folder for results."""
    groups: list[ShardGroup] = []
    start = size = 0
    for number, folder in enumerate(corpus.folders, 1):
        size += (folder / PAIRS).stat().st_size
        if size >= _GROUP_BYTES or number == len(corpus.folders):
            some = corpus.folders[start:number]
            names = "\n".join(folder.name for folder in some)
            name = f"{start:07d}-{sha256(names.encode()).hexdigest()[:16]}"
            groups.append(ShardGroup(start, some, results / name))
            start, size = number, 0
    return groups


@dataclass(frozen=True)
class PlaceJob:
    """Places the papers of shards; it can be sent to another process or machine."""

    splitting: Splitting
    seed: int

    def run(self, group: ShardGroup) -> None:
        """Write the placed papers of some shards and the sum of their reports, or nothing.

        Raises:
            OutputError: The folder cannot be written.
        """
        reports = [ShardReport.read(folder) for folder in group.folders]
        unread = [entry for report in reports for entry in report.skipped]
        found: Counter[str] = Counter()
        dropped: Counter[tuple[str, str]] = Counter()
        for report in reports:
            found.update(report.found)
            for category, reasons in report.dropped.items():
                dropped.update({(category, reason): n for reason, n in reasons.items()})
        with whole_folder(group.target, lambda _: True) as work:
            with pq.ParquetWriter(work / PAPERS, PLACED, compression="zstd") as writer:
                for number, folder in enumerate(group.folders, group.first):
                    writer.write_table(self._place(number, folder))
            columns = {
                name: [_encodable(getattr(one, name)) for one in unread] for name in UNREAD.names
            }
            pq.write_table(pa.Table.from_pydict(columns, UNREAD), work / UNREAD_FILE)
            ShardReport((), dict(sorted(found.items())), by_category(dropped)).write(work)

    def _place(self, number: int, folder: Path) -> pa.Table:
        table = pq.read_table(folder / PAPERS)
        hashes = np.frombuffer(b"".join(table["hash"].to_pylist()), ">u8").reshape(-1, 2)
        high, low = hashes.astype(np.uint64).T
        years = [year or 0 for year in table["year"].to_pylist()]
        domains = [domain or "" for domain in table["domain"].to_pylist()]
        known = zip(table["id"].to_pylist(), years, domains, strict=True)
        places = [(*one, self.place(*one)) for one in known]
        return pa.Table.from_pydict(
            {
                "shard_key": np.full(len(table), shard_key(folder)),
                "shard": np.full(len(table), number),
                "paper": np.arange(len(table)),
                "id": table["id"],
                "hash_high": order_preserving(high),
                "hash_low": order_preserving(low),
                "year": years,
                "domain": domains,
                "n_sentences": table["n_sentences"],
                "split": [SPLITS.index(p.split) if p.split else -1 for *_, p in places],
                "reason": [p.reason for *_, p in places],
                "detail": [_detail(*one) for one in places],
                "file": table["file"],
                "line": table["line"],
            },
            PLACED,
        )

    def place(self, paper: str, year: int, domain: str) -> Place:
        """Return the split of a paper, or why it is in none.

        Args:
            paper: Its id.
            year: Its year, or 0.
            domain: Its domain, or nothing.
        """
        if not domain:
            return Place(None, NO_DOMAIN)
        if not is_name(domain) or domain in RESERVED:
            return Place(None, NO_NAME)
        splitting = self.splitting
        own = splitting.of_domain(domain) if isinstance(splitting, ByDomain) else splitting
        return own.place_of(paper, year or None, self.seed) if own else Place(None, NO_YEARS)


def _detail(paper: str, year: int, domain: str, place: Place) -> str:
    """Return which paper it is, and what exactly keeps it from being taken."""
    hint = {
        NO_NAME: f" has the domain {domain!r}; expected small letters, digits and _",
        NO_DOMAIN: "; name one: --domain, or --metadata",
        OTHER_YEAR: f" is of {year}",
        NO_YEARS: f" is of the domain {domain!r}",
    }
    return f"paper {paper!r}{hint.get(place.reason, '')}"


def _encodable(value: str | int) -> str | int:
    """Return a value of a report with ``?`` for what no table can hold, halves of a character."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
