"""Choose the papers and pairs of a corpus that has been read, and count what is dropped."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ....loaders.atomic_write import whole_file
from ....loaders.corpora.papers.paper import SkippedPaper
from ....loaders.errors import UnknownNameError
from ...core.schema import SPLITS
from ...core.sql import Database, SQLEngine, Tables, run_statements
from ..splits import OTHER_DOMAINS, ByDomain, Splitting
from .balance import class_sizes
from .extract import PAIRS, PAPERS, ShardReport
from .phrases import LinkingPhrases
from .place_papers import UNREAD, UNREAD_FILE, ShardGroup
from .statements import (
    IN_TWO_SPLITS,
    NOT_TAKEN,
    PAPER_STATEMENTS,
    SAME_TEXTS,
    pair_statements,
)

_SKIPPED = """
    SELECT file, line, reason, detail FROM unread
    UNION ALL SELECT file, line, reason, detail FROM papers WHERE split < 0
    UNION ALL SELECT papers.file, papers.line, doubled.reason, papers.detail
    FROM papers JOIN doubled_papers AS doubled
    ON papers.shard = doubled.shard AND papers.paper = doubled.paper
"""
_SKIPPED_BY_REASON = f"SELECT reason, COUNT(*) FROM ({_SKIPPED}) AS s GROUP BY reason"


@dataclass(frozen=True)
class SkippedPapers:
    """The files and papers that are not taken, by file and line; they stay on disk."""

    path: Path

    def __len__(self) -> int:
        return int(pq.read_metadata(self.path).num_rows)

    def __iter__(self) -> Iterator[SkippedPaper]:
        with pq.ParquetFile(self.path, pre_buffer=False) as file:
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    yield SkippedPaper(**row)


@dataclass(frozen=True)
class Papers:
    """The papers of a corpus that are taken.

    Attributes:
        tables: All papers and what was decided on them, as SQL has them.
        domains: The domains of the papers that are taken, in alphabetical order.
        counts: The numbers of papers read, kept and, by reason, dropped; an unread file counts as
            one.
        source: How many are taken, and a hash of their ids, years, domains and texts.
        skipped: What is not taken.
    """

    tables: Tables
    domains: Sequence[str]
    counts: Mapping[str, Any]
    source: Mapping[str, Any]
    skipped: SkippedPapers


@dataclass(frozen=True)
class Pairs:
    """The pairs of a corpus that are taken.

    Attributes:
        files: The pairs: ``shard``, ``pair``, ``split``, ``domain``, ``label`` and whether each
            ``is_balanced``, that is, left when the larger classes are cut; by shard and pair in
            each file.
        classes: Their number by the numbers of split, domain and label.
        sizes: The size of the classes of each split and domain, by their numbers, when cut.
        n_labels: The number of classes.
        counts: By category the numbers of pairs found (``read``), taken (``kept``) and, by reason,
            ``dropped``.
    """

    files: Sequence[Path]
    classes: Mapping[tuple[int, int, int], int]
    sizes: Mapping[tuple[int, int], int]
    n_labels: int
    counts: Mapping[str, Mapping[str, Any]]

    @property
    def n_rows(self) -> int:
        """The number of pairs."""
        return sum(self.classes.values())

    def n_balanced(self, split: str) -> int:
        """Return how many pairs of a split are left when the larger classes are cut."""
        number = SPLITS.index(split)
        return sum(self.n_labels * size for (its, _), size in self.sizes.items() if its == number)


@dataclass(frozen=True)
class Selector:
    """Chooses papers, then pairs.

    Attributes:
        groups: The shards of the corpus, whose papers are placed.
        folder: Results are kept here; its name names the content of the shards and how papers are
            placed.
        database: Reads the results.
        engine: Runs the statements.
    """

    groups: Sequence[ShardGroup]
    folder: Path
    database: Database
    engine: SQLEngine

    def select_papers(self, splitting: Splitting) -> Papers:
        """Decide which papers are taken, each into the split where it was placed.

        Args:
            splitting: How papers were placed.

        Raises:
            UnknownNameError: A domain has years of its own, and no paper is of it.
            OutputError: Memory or the disk is full.
        """
        given = {
            "papers": [group.target / PAPERS for group in self.groups],
            "unread": [group.target / UNREAD_FILE for group in self.groups],
        }
        self.database.add(given)
        if isinstance(splitting, ByDomain):
            known = self._column("SELECT DISTINCT domain FROM papers WHERE domain <> ''")
            unknown = sorted(splitting.domains.keys() - set(known) - {OTHER_DOMAINS})
            if known and unknown:  # where no paper has a domain, that is what is wrong
                raise UnknownNameError.of("domain", unknown[0], known)
        tables = run_statements(PAPER_STATEMENTS, given, self.folder, self.folder.name, self.engine)
        self.database.add(tables)
        splits = self._numbers("SELECT split, COUNT(*) FROM taken_papers GROUP BY split")
        dropped = self._numbers(_SKIPPED_BY_REASON)
        (n_papers,) = self._column("SELECT COUNT(*) FROM papers")
        (n_unread,) = self._column("SELECT COUNT(*) FROM unread")
        return Papers(
            tables=tables,
            domains=self._column("SELECT DISTINCT domain FROM taken_papers ORDER BY domain"),
            counts={
                "read": n_papers + n_unread,
                "kept": sum(splits.values()),
                "splits": {name: splits.get(number, 0) for number, name in enumerate(SPLITS)},
                "dropped": dict(sorted(dropped.items())),
            },
            source=self._source(),
            skipped=self._skipped(),
        )

    def select_pairs(
        self,
        papers: Papers,
        phrases: LinkingPhrases,
        splits: Sequence[str],
        quotas: Mapping[str, int],
    ) -> Pairs:
        """Decide which pairs are taken, and which are left when classes are balanced.

        Args:
            papers: The papers.
            phrases: The phrases by which pairs were found.
            splits: The splits that have pairs.
            quotas: By split, pairs of each class and domain; without one, those of its smallest.

        Raises:
            CorpusError: A split and domain has no pair of a class, or fewer than its quota.
            OutputError: Memory or the disk is full.
        """
        folders = [folder for group in self.groups for folder in group.folders]
        tables = {**papers.tables, "pairs": [folder / PAIRS for folder in folders]}
        statements = pair_statements(phrases, quotas)
        made = run_statements(statements, tables, self.folder, self.folder.name, self.engine)
        self.database.add(made)
        classes = {
            (split, domain, label): n
            for split, domain, label, n in self._rows(
                "SELECT split, domain, label, CAST(SUM(n) AS BIGINT) FROM buckets "
                "GROUP BY split, domain, label"
            )
        }
        return Pairs(
            files=made["chosen"],
            classes=classes,
            sizes=class_sizes(classes, splits, papers.domains, phrases.label_names, quotas),
            n_labels=len(phrases.label_names),
            counts=self._count_pairs(phrases),
        )

    def dropped_pairs(self) -> ShardReport:
        """Return how many pairs were found, and dropped when they were read."""
        found: Counter[str] = Counter()
        dropped: dict[str, Counter[str]] = {}
        for group in self.groups:
            report = ShardReport.read(group.target)
            found.update(report.found)
            for category, reasons in report.dropped.items():
                dropped.setdefault(category, Counter()).update(reasons)
        return ShardReport((), dict(found), {name: dict(n) for name, n in dropped.items()})

    def _count_pairs(self, phrases: LinkingPhrases) -> Mapping[str, Mapping[str, Any]]:
        query = "SELECT category, COUNT(*) FROM {} GROUP BY category"
        kept, again, two = (
            self._numbers(query.format(name))
            for name in ("taken_pairs", "pairs_again", "pairs_in_two_splits")
        )
        read = self.dropped_pairs()
        counts = {}
        for number, name in enumerate(phrases.categories):
            n_read = read.found.get(name, 0)
            dropped = dict(read.dropped.get(name, {}))
            dropped |= {SAME_TEXTS: again.get(number, 0), IN_TWO_SPLITS: two.get(number, 0)}
            n_kept = kept.get(number, 0)
            dropped[NOT_TAKEN] = n_read - n_kept - sum(dropped.values())
            counts[name] = {
                "read": n_read,
                "kept": n_kept,
                "dropped": {reason: n for reason, n in sorted(dropped.items()) if n},
            }
        return counts

    def _source(self) -> Mapping[str, Any]:
        digest = sha256()
        n_papers = n_sentences = 0
        for batch in self.database.batches(
            "SELECT id, year, domain, hash_high, hash_low, n_sentences FROM taken_papers "
            "ORDER BY id"
        ):
            *columns, sentences = (column.to_pylist() for column in batch.columns)
            for key, year, domain, high, low in zip(*columns, strict=True):
                digest.update(f"{key}\n{year}\n{domain}\n{_hex(high)}{_hex(low)}\n".encode())
            n_papers += len(batch)
            n_sentences += sum(sentences)
        return {
            "url": "the papers",
            "papers": n_papers,
            "sentences": n_sentences,
            "sha256": digest.hexdigest(),
        }

    def _skipped(self) -> SkippedPapers:
        target = self.folder / "skipped.parquet"
        query = f"{_SKIPPED} ORDER BY file, line, reason, detail"
        with whole_file(target) as partial, pq.ParquetWriter(partial, UNREAD) as writer:
            for batch in self.database.batches(query):
                writer.write_batch(batch.cast(UNREAD))
        return SkippedPapers(target)

    def unknown_ids(self, listed: Sequence[str]) -> Sequence[str]:
        """Return which ids are of no paper, in alphabetical order."""
        if not listed:
            return []
        path = self.folder / "listed.parquet"
        pq.write_table(pa.table({"id": pa.array(listed, pa.string())}), path)
        self.database.add({"listed": [path]})
        return self._column(
            "SELECT id FROM listed WHERE NOT EXISTS "
            "(SELECT 1 FROM papers WHERE papers.id = listed.id) ORDER BY id"
        )

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        columns = self.database.read(query).columns
        return zip(*(column.to_pylist() for column in columns), strict=True)

    def _numbers(self, query: str) -> dict[Any, int]:
        return dict(self._rows(query))

    def _column(self, query: str) -> list[Any]:
        found: list[Any] = self.database.read(query).column(0).to_pylist()
        return found


def _hex(word: int) -> str:
    """Return a half of a hash, which SQL has as a signed number in the same order."""
    return f"{word + 2**63:016x}"
