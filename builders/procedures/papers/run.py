"""Make a dataset from files of papers: rows, a report and a declaration."""

import inspect
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.corpora.papers.sentences import split_sentences
from ....loaders.errors import CorpusError, UnknownNameError
from ....loaders.progress import Tell
from ...core.options import BuildOptions
from ...core.schema import SPLITS
from ...core.sql import Database, Tables, open_database
from ...dataflow.order import OrderedRows
from ...dataflow.report import ConstructionReport, Entries, TooFewError, list_reasons, show_entries
from ...dataflow.work import LocalEngine, Work, read_corpus
from ..about import Declared
from ..procedure import Construction
from ..splits import OTHER_DOMAINS, ByYear, list_uneven_splits
from .choose import (
    IN_TWO_SPLITS,
    NOT_TAKEN,
    PAIR_STATEMENTS,
    PAPER_STATEMENTS,
    SAME_TEXTS,
    balance_statement,
    class_sizes,
    label_statement,
)
from .declaration import PapersDeclaration
from .read import COUNTS, NO_DOMAIN, PAIRS, PAPERS, ReadPapers
from .recipe import PapersRecipe

_LOGGER = logging.getLogger(__name__)
_MAX_SHOWN = 10

AUTOMATIC = (
    "**The labels of all splits are automatic**, those of validation and test too: they follow\n"
    "from the linking phrase, or from the way to the neutral pair, and nobody has checked them."
)


@contextmanager
def run(
    paths: Sequence[Path],
    recipe: PapersRecipe,
    declared: Declared,
    options: BuildOptions,
    tell: Tell,
) -> Iterator[Construction]:
    """Make a dataset from papers; see ``RunProcedure``.

    Raises:
        SourceNotFoundError: There is no paper file.
        MetadataError: The table of papers is malformed.
        UnknownNameError: Years are given for a domain that no paper is of.
        TooFewError: No paper is taken, a split has no pair of a class, or fewer than its quota.
    """
    if recipe.split_sentences is split_sentences and not declared.language.startswith("en"):
        _LOGGER.warning("Paragraphs that are not split into sentences are split by English rules.")
    # Before the long read: what the maker declares may be wrong.
    PapersDeclaration(declared, ("a", "b"), (), (), recipe.splitting.splits).spec()
    metadata = Metadata.read(recipe.metadata, recipe.domain)
    files = find_paper_files(paths)
    read = ReadPapers(recipe.rules, recipe.split_sentences, metadata, recipe.splitting)
    engine = recipe.engine or LocalEngine(options.num_proc)
    identity = _identity(recipe, metadata)
    with (
        read_corpus(files, read, identity, engine, options) as work,
        open_database(work.folder) as database,
    ):
        yield _Choice(work, database, recipe, metadata).make(declared, options)


def _identity(recipe: PapersRecipe, metadata: Metadata) -> list[Any]:
    """Return all that the rows depend on, besides papers and code, as plain values."""
    splitter = recipe.split_sentences
    return [
        "papers",
        {name: value for name, value in recipe.parameters().items() if name != "per_class"},
        inspect.getsource(splitter) if inspect.isfunction(splitter) else repr(splitter),
        [f"{name} {installed_version(name)}" for name in ("nupunkt", "orjson", "pyarrow")],
        sorted(metadata.years.items()),
        sorted(metadata.domains.items()),
        metadata.domain,
    ]


class _Choice:
    """Chooses papers, then pairs, and counts what is dropped."""

    def __init__(
        self, work: Work, database: Database, recipe: PapersRecipe, metadata: Metadata
    ) -> None:
        self._work, self._database = work, database
        self._recipe, self._phrases = recipe, recipe.rules.phrases
        tables = work.tables(PAPERS, PAIRS, COUNTS)
        database.add(tables)
        self._check_domains()
        self._tables = work.select(PAPER_STATEMENTS, tables, database)
        self._domains = self._column("SELECT DISTINCT domain FROM taken_papers ORDER BY domain")
        self._skipped = Entries(self._tables["left_out"], "file, line, reason, detail")
        self._unknown = self._ids_of_no_paper(sorted(metadata.ids))
        self._papers = self._count_papers()

    def make(self, declared: Declared, options: BuildOptions) -> Construction:
        """Choose pairs; return the rows, the report and the declaration.

        Raises:
            TooFewError: No paper is taken, a split has no pair of a class, or fewer than its quota.
        """
        recipe, phrases, splits = self._recipe, self._phrases, self._recipe.splitting.splits
        try:
            tables, sizes = self._choose_pairs()
        except CorpusError as error:
            raise TooFewError(f"{error} {self._say_why()}", self._report({})) from error
        counts = {
            "annotation": AUTOMATIC,
            "random_sentences": recipe.random_sentences,
            "longer_phrases": recipe.longer_phrases,
            "neutral_distance": recipe.neutral_distance,
            "neutral_overlap": recipe.neutral_overlap,
            "papers": self._papers,
            "pairs": self._count_pairs(),
        }
        uneven: Sequence[str] = ()
        if not recipe.per_class:
            by_split: Counter[str] = Counter()
            for (split, _), size in sizes.items():
                by_split[SPLITS[split]] += len(phrases.label_names) * size
            uneven = list(list_uneven_splits(recipe.splitting, by_split, "pairs"))
        declaration = PapersDeclaration(
            declared, phrases.label_names, phrases.categories, tuple(self._domains), splits
        )
        spec = declaration.spec()
        rows = OrderedRows(
            self._work,
            [shard.folder for shard in self._work.shards],
            tables["chosen"],
            spec.features.arrow_schema,
            options.keys(spec),
            [self._source()],
            self._work.parameters(recipe.parameters()),
        )
        report = self._report(counts, uneven)
        return Construction(rows, report, declaration, self._work.share)

    def _check_domains(self) -> None:
        """Refuse years of a domain that no paper is of."""
        splitting = self._recipe.splitting
        if isinstance(splitting, ByYear) and self._work.share == 1:  # a sample may lack some
            known = self._column("SELECT DISTINCT domain FROM papers WHERE domain IS NOT NULL")
            unknown = sorted(splitting.domains.keys() - set(known) - {OTHER_DOMAINS})
            if known and unknown:  # where no paper has a domain, that is what is wrong
                raise UnknownNameError.of("domain", unknown[0], known)

    def _choose_pairs(self) -> tuple[Tables, Mapping[tuple[int, int], int]]:
        """Return the tables of the choice, and the size of the classes of each split and domain."""
        if not self._papers["kept"]:
            n_files = sum(len(shard.files) for shard in self._work.shards)
            raise CorpusError(f"No paper of {n_files:,} files is taken.")
        labels = label_statement(self._phrases, self._domains)
        tables = self._work.select([*PAIR_STATEMENTS, labels], self._tables, self._database)
        query = "SELECT split, domain, label, COUNT(*) FROM taken_pairs GROUP BY ALL"
        classes = {(s, d, label): n for s, d, label, n in self._database.execute(query)}
        names = self._phrases.label_names
        splits, quotas = self._recipe.splitting.splits, self._recipe.per_class
        sizes = class_sizes(classes, splits, self._domains, names, quotas)
        balance = balance_statement(sizes, self._domains)
        return self._work.select([balance], tables, self._database), sizes

    def _count_papers(self) -> Mapping[str, Any]:
        splits = self._numbers("SELECT split, COUNT(*) FROM taken_papers GROUP BY split")
        dropped = self._numbers("SELECT reason, COUNT(*) FROM left_out GROUP BY reason")
        return {
            "read": sum(splits.values()) + sum(dropped.values()),
            "kept": sum(splits.values()),
            "splits": {name: splits.get(number, 0) for number, name in enumerate(SPLITS)},
            "dropped": dict(sorted(dropped.items())),
        }

    def _count_pairs(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the numbers of pairs found, taken and, by reason, dropped, by category."""
        query = "SELECT category, COUNT(*) FROM {} GROUP BY category"
        taken, again, two = (
            self._numbers(query.format(name))
            for name in ("taken_pairs", "pairs_again", "pairs_in_two_splits")
        )
        found = self._dropped_pairs()
        counts = {}
        for number, name in enumerate(self._phrases.categories):
            dropped = dict(found.get(name, {}))
            n_read, n_kept = dropped.pop(None, 0), taken.get(number, 0)
            dropped |= {SAME_TEXTS: again.get(number, 0), IN_TWO_SPLITS: two.get(number, 0)}
            dropped[NOT_TAKEN] = n_read - n_kept - sum(dropped.values())
            dropped = {reason: n for reason, n in sorted(dropped.items()) if n}
            counts[name] = {"read": n_read, "kept": n_kept, "dropped": dropped}
        return counts

    def _dropped_pairs(self) -> dict[str, dict[str | None, int]]:
        """Return how many pairs reading dropped by category and reason, or found (None)."""
        found: dict[str, dict[str | None, int]] = {}
        query = f"SELECT category, reason, CAST(SUM(n) AS BIGINT) FROM {COUNTS} GROUP BY ALL"
        for category, reason, n in self._database.execute(query):
            found.setdefault(category, {})[reason] = n
        return found

    def _source(self) -> Mapping[str, Any]:
        """Return the papers that are taken as one source: how many, and a hash of their content."""
        digest = sha256()
        n_papers = n_sentences = 0
        query = (
            "SELECT id, year, domain, hash_high, hash_low, n_sentences FROM taken_papers "
            "ORDER BY id"
        )
        for batch in self._database.batches(query):
            for key, year, domain, high, low, sentences in zip(
                *(column.to_pylist() for column in batch.columns), strict=True
            ):
                words = f"{high + 2**63:016x}{low + 2**63:016x}"
                digest.update(f"{key}\n{year}\n{domain}\n{words}\n".encode())
                n_papers += 1
                n_sentences += sentences
        return {
            "url": "the papers",
            "papers": n_papers,
            "sentences": n_sentences,
            "sha256": digest.hexdigest(),
        }

    def _ids_of_no_paper(self, listed: Sequence[str]) -> Sequence[str]:
        """Return which ids of the table of papers are of no paper, in alphabetical order."""
        if not listed or self._work.share < 1:
            return []
        path = self._database.folder / "listed.parquet"
        pq.write_table(pa.table({"id": pa.array(listed, pa.string())}), path)
        self._database.add({"listed": [path]})
        return self._column("SELECT id FROM listed ANTI JOIN papers USING (id) ORDER BY id")

    def _report(self, counts: Mapping[str, Any], uneven: Sequence[str] = ()) -> ConstructionReport:
        return ConstructionReport(
            counts or {"papers": self._papers},
            {"unknown_in_metadata": self._unknown, "skipped": self._skipped},
            [*self._summary(counts), *uneven],
        )

    def _summary(self, counts: Mapping[str, Any]) -> Iterator[str]:
        yield from show_entries(self._skipped, len(self._skipped), "skipped ")
        if self._unknown:
            shown = ", ".join(self._unknown[:_MAX_SHOWN])
            yield f"{len(self._unknown):,} ids of the table are of no paper: {shown}"
        papers = self._papers
        yield f"{papers['kept']:,} of {papers['read']:,} papers{list_reasons(papers['dropped'])}"
        if pairs := counts.get("pairs", {}).values():
            kept, read = sum(one["kept"] for one in pairs), sum(one["read"] for one in pairs)
            yield f"{kept:,} of {read:,} pairs"

    def _say_why(self) -> str:
        """Say why most of what was read is not taken."""
        papers = Counter(self._papers["dropped"])
        pairs: Counter[str] = Counter()
        for reasons in self._dropped_pairs().values():
            pairs.update({reason: n for reason, n in reasons.items() if reason is not None})
        told = {"Papers that are not taken": papers, "Dropped pairs": pairs}
        sentences = [
            f"{what}: " + ", ".join(f"{n:,} {reason}" for reason, n in why.most_common(4)) + "."
            for what, why in told.items()
            if why
        ]
        if NO_DOMAIN in papers:
            sentences.append(
                "Name the domain of papers that state none: --domain, or --metadata FILE."
            )
        return " ".join(sentences)

    def _numbers(self, query: str) -> dict[Any, int]:
        return dict(self._database.execute(query))

    def _column(self, query: str) -> list[Any]:
        return [value for (value,) in self._database.execute(query)]
