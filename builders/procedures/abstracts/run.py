"""Make a dataset from files of annotated abstracts: rows, a report and a declaration."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version as installed_version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ....loaders.corpora.abstracts.read import FORMATS, cut_file
from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.errors import UsageError
from ....loaders.progress import Tell
from ...core.options import BuildOptions
from ...core.schema import SPLITS
from ...core.sql import Database, open_database
from ...dataflow.order import OrderedRows
from ...dataflow.report import (
    ConstructionReport,
    Entries,
    TooFewError,
    list_reasons,
    show_entries,
)
from ...dataflow.work import LocalEngine, Work, read_corpus
from ..about import Declared
from ..procedure import Construction
from ..splits import list_uneven_splits
from .assign import CANDIDATES, CONFIGS, FULL, TEST, TRAIN, find_rare_kinds
from .balance_negation import FLIPPED, UNBALANCED, count_balanced
from .choose import STATEMENTS, TAKEN
from .declaration import POSITIVE, AbstractsDeclaration
from .mechanisms.mechanism import NO_PHRASE
from .negatives import (
    REFUSED,
    ChosenShard,
    MakeNegatives,
    Outcomes,
    Writer,
    category_of_negative,
)
from .perturb.apply import NAMES
from .perturb.entity_pool import POOL, EntityPool, store_pool
from .read import SCHEMAS, ReadAbstracts, parse_mechanism
from .recipe import AbstractsRecipe

#: Files are put together to shards of at least this size, and large ones cut into parts of it.
SHARD_BYTES = 32_000_000
_MAX_FILES_SHOWN = 3
_COLUMNS = "file, line, pmid, unit, reason, detail"

AUTOMATIC = (
    "**All labels are automatic.** A positive is the abstract's own conclusion, a negative what\n"
    "a rule or a model made of it; nobody has checked that it does not follow."
)


@contextmanager
def run(
    paths: Sequence[Path],
    recipe: AbstractsRecipe,
    declared: Declared,
    options: BuildOptions,
    tell: Tell,
) -> Iterator[Construction]:
    """Make a dataset from abstracts; see ``RunProcedure``.

    Raises:
        SourceNotFoundError: There is no file.
        TooFewError: A split of a config has no positive, or no negative.
        UsageError: A writer gives the kinds of rules, or not a result for each mechanism.
    """
    rule = recipe.distribution
    # Before the long read: what the maker declares may be wrong.
    AbstractsDeclaration(declared, (), recipe.domain, rule.splits, rule.rule).spec()
    files = [
        part for file in find_paper_files(paths, FORMATS) for part in cut_file(file, SHARD_BYTES)
    ]
    writer = recipe.writer(tell)
    later = ("balance_negation", *rule.as_json())  # decided by SQL
    identity = [
        "abstracts",
        {name: value for name, value in recipe.parameters().items() if name not in later},
        recipe.domain,
        writer.parameters() if writer else None,
        [f"{name} {installed_version(name)}" for name in ("nupunkt", "orjson", "pyarrow")],
    ]
    read = ReadAbstracts(recipe.mechanism_rules)
    engine = recipe.engine or LocalEngine(options.num_proc)
    with (
        read_corpus(files, read, identity, engine, options, SHARD_BYTES) as work,
        open_database(work.folder) as database,
    ):
        yield _Construction(work, database, recipe, writer).make(declared, options)


class _Construction:
    """Chooses mechanisms, makes their negatives, and puts all rows into configs and splits."""

    def __init__(
        self, work: Work, database: Database, recipe: AbstractsRecipe, writer: Writer | None
    ) -> None:
        self._work, self._database = work, database
        self._recipe, self._writer = recipe, writer
        self._rule = recipe.distribution
        self._tables = work.select(STATEMENTS, work.tables(*SCHEMAS), database)
        self._not_taken = Entries(self._tables["not_taken"], _COLUMNS)
        self._left_out = Entries(self._tables["left_out"], _COLUMNS)
        (self._n_taken,) = self._column("SELECT COUNT(*) FROM taken")
        by_reason = "SELECT reason, COUNT(*) AS n FROM not_taken GROUP BY reason"
        self._dropped = self._numbers(f"{by_reason} ORDER BY n DESC, reason")

    def make(self, declared: Declared, options: BuildOptions) -> Construction:
        """Make the rows, the report and the declaration.

        Raises:
            TooFewError: A split of a config has no positive, or no negative.
        """
        recipe, rule = self._recipe, self._rule
        self._check_splits()
        folders, kinds = self._make_negatives()
        candidates = [folder / f"{CANDIDATES}.parquet" for folder in folders]
        refused = [folder / f"{REFUSED}.parquet" for folder in folders]
        self._database.add({CANDIDATES: candidates, REFUSED: refused})
        n_flipped = self._count_flipped()
        if recipe.preferred is None:
            query = f"SELECT category, COUNT(DISTINCT pmid) FROM {CANDIDATES} GROUP BY category"
            rare = find_rare_kinds(self._numbers(query), self._n_taken)
            rule = replace(rule, preferred=rare)
        tables = self._work.select(
            rule.statements(n_flipped), {CANDIDATES: candidates}, self._database
        )
        categories = (POSITIVE, *dict.fromkeys(map(category_of_negative, kinds)))
        distributions = {config: self._count_rows(config, categories) for config in CONFIGS}
        sizes = distributions[FULL]["mechanisms"]
        negatives = self._count_negatives(kinds, n_flipped)
        forms = [] if n_flipped is None else [self._show_forms(n_flipped)]
        uneven = list_uneven_splits(rule.ratio, sizes, "mechanisms") if rule.ratio else []
        report = self._report(sizes, {"negatives": negatives, "distributions": distributions})
        report = replace(report, summary=[*report.summary, *forms, *uneven])
        self._check_labels(distributions, report)
        declaration = AbstractsDeclaration(
            declared, categories, recipe.domain, rule.splits, rule.rule
        )
        spec = declaration.spec()
        generation = {"generation": self._writer.parameters()} if self._writer else {}
        rows = OrderedRows(
            self._work,
            folders,
            tables["chosen"],
            spec.features.arrow_schema,
            options.keys(spec),
            [self._source()],
            self._work.parameters({**recipe.parameters(), **rule.as_json(), **generation}),
        )
        return Construction(rows, report, declaration, self._work.share)

    def _make_negatives(self) -> tuple[list[Path], list[str]]:
        """Make the negatives of all shards; return their folders, and the kinds of negatives."""
        recipe = self._recipe
        pool = EntityPool({})
        if "SREO" in recipe.strategy_names:
            self._work.select([POOL], self._tables, self._database)
            pool = store_pool(self._database, self._work.folder)
        written, kinds = self._write(self._writer) if self._writer else ({}, [])
        taken = self._database.read("SELECT shard, seq FROM taken ORDER BY shard, seq")
        keys, places = taken["shard"].to_numpy(), taken["seq"].to_numpy()
        chosen = []
        for shard in self._work.shards:
            start, end = (np.searchsorted(keys, shard.key, side) for side in ("left", "right"))
            its_written = written.get(shard.key, {})
            chosen.append(ChosenShard(shard.key, shard.folder, places[start:end], its_written))
        job = MakeNegatives(recipe.strategy_names, recipe.seed, pool, recipe.domain)
        folders = self._work.map("negatives", job, chosen)
        return folders, list(dict.fromkeys([*recipe.strategy_names, *kinds]))

    def _write(self, writer: Writer) -> tuple[dict[int, dict[int, Outcomes]], list[str]]:
        """Let a writer write for all mechanisms, which it takes at once.

        Returns:
            What it wrote, by shard and place, and its kinds.
        """
        found = [row for batch in self._database.batches(TAKEN) for row in batch.to_pylist()]
        mechanisms = [parse_mechanism(row["json"]) for row in found]
        written: dict[int, dict[int, Outcomes]] = {}
        kinds: dict[str, None] = {}
        answers = writer.write(mechanisms)
        if len(answers) != len(mechanisms):
            raise UsageError(
                f"The writer gives {len(answers):,} results; expected one for each of "
                f"{len(mechanisms):,} mechanisms."
            )
        for row, outcomes in zip(found, answers, strict=True):
            written.setdefault(row["shard"], {})[row["seq"]] = outcomes
            kinds |= dict.fromkeys(outcomes)
        if taken := sorted(kinds.keys() & {POSITIVE, *NAMES}):
            raise UsageError(
                f"The writer gives the kind {taken[0]!r}, which is that of a rule; expected others."
            )
        return written, list(kinds)

    def _count_flipped(self) -> int | None:
        """Return how many negated ``VNeg`` are kept; None for all."""
        if not self._recipe.balance_negation:
            return None
        return count_balanced(*self._count_forms())

    def _count_forms(self) -> tuple[int, int, int, int, int]:
        """Return the numbers that ``count_balanced`` takes."""
        positive = f"kind = '{POSITIVE}'"
        conditions = (
            positive,
            f"{positive} AND is_negated",
            f"NOT {positive}",
            f"NOT {positive} AND is_negated",
            "balance IS NOT NULL",
        )
        columns = ", ".join(f"COUNT(*) FILTER (WHERE {one})" for one in conditions)
        ((n, n_denied, n_negatives, n_negated, n_flipped),) = self._database.execute(
            f"SELECT {columns} FROM {CANDIDATES}"
        )
        return n, n_denied, n_negatives, n_negated, n_flipped

    def _check_splits(self) -> None:
        """Refuse a corpus with too few mechanisms for its splits, before negatives are made.

        Raises:
            TooFewError: A split has no mechanism.
        """
        undecided = "train or validation"
        batches = self._database.batches("SELECT pmid FROM taken")
        pmids = (pmid for batch in batches for pmid in batch["pmid"].to_pylist())
        found = Counter(self._rule.split_of(pmid) or undecided for pmid in pmids)
        for split in self._rule.splits if self._rule.ratio else (undecided, TEST):
            if not found[split]:
                told = f"No mechanism for {split}. {self._say_why()}"
                raise TooFewError(told, self._report(found))

    def _check_labels(self, distributions: Mapping[str, Any], report: ConstructionReport) -> None:
        """Refuse distributions of which a split has rows of one label alone, or none.

        Raises:
            TooFewError: A split of a config has no positive, or no negative.
        """
        for config, found in distributions.items():
            for split, rows in found["rows"].items():
                if POSITIVE in rows and len(rows) > 1:
                    continue
                lacking = "negative" if POSITIVE in rows else POSITIVE
                advice = "Give more abstracts, or choose the shares of the splits (ratio)"
                if rows and split == TRAIN:
                    advice += " or fewer kinds that are drawn first (preferred)"
                told = f"No {lacking} for {split} of {config}. {self._say_why()} {advice}."
                raise TooFewError(told, report)

    def _count_rows(self, config: str, categories: Sequence[str]) -> Mapping[str, Any]:
        """Count the mechanisms of a config by split, and its rows by split and category."""
        query = f"SELECT {config}_split, COUNT(*) FROM assigned WHERE is_positive GROUP BY ALL"
        mechanisms = self._numbers(query)
        query = f"SELECT in_{config}, category, COUNT(*) FROM assigned GROUP BY ALL"
        rows = {(split, category): n for split, category, n in self._database.execute(query)}
        numbers = {split: SPLITS.index(split) for split in self._rule.splits}
        return {
            "mechanisms": {split: mechanisms.get(number, 0) for split, number in numbers.items()},
            "in_no_split": mechanisms.get(-1, 0),
            "rows": {
                split: {name: rows[number, name] for name in categories if (number, name) in rows}
                for split, number in numbers.items()
            },
        }

    def _count_negatives(self, kinds: Sequence[str], n_flipped: int | None) -> Mapping[str, Any]:
        """Count by kind the mechanisms that were tried, gave a negative, and were refused."""
        made = self._numbers(f"SELECT kind, COUNT(*) FROM {CANDIDATES} GROUP BY kind")
        refused: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
        query = f"SELECT kind, reason, CAST(SUM(n) AS BIGINT) FROM {REFUSED} GROUP BY ALL"
        for kind, reason, n in self._database.execute(query):
            refused[kind][reason] = n
        if n_flipped is not None and FLIPPED in kinds:
            n_left_out = self._count_forms()[-1] - n_flipped
            refused[FLIPPED][UNBALANCED] = n_left_out
            made[FLIPPED] = made.get(FLIPPED, 0) - n_left_out
        counts = {}
        for kind in kinds:
            dropped = dict(sorted(refused[kind].items(), key=lambda item: (-item[1], item[0])))
            n_made = made.get(kind, 0)
            n_read = n_made + sum(dropped.values())
            counts[kind] = {"read": n_read, "kept": n_made, "dropped": dropped}
        return counts

    def _show_forms(self, n_kept: int) -> str:
        """Say how many positives and negatives are negated, before and after balancing."""
        n_positives, n_denied, n_negatives, n_negated, n_flipped = self._count_forms()

        def share(part: int, whole: int) -> str:
            return f"{100 * part / max(whole, 1):.1f} %"

        n_left_out = n_flipped - n_kept
        now = share(n_negated - n_left_out, n_negatives - n_left_out)
        return (
            f"negated: {share(n_denied, n_positives)} of the positives, {now} of the negatives "
            f"({share(n_negated, n_negatives)} before)"
        )

    def _source(self) -> Mapping[str, Any]:
        """Return the mechanisms that are taken as one source: how many, and a hash of them."""
        digest = hashlib.sha256()
        for batch in self._database.batches(TAKEN):
            for content in batch["json"].to_pylist():
                digest.update(content)
        return {"url": "the abstracts", "abstracts": self._n_taken, "sha256": digest.hexdigest()}

    def _report(
        self, splits: Mapping[str, int], made: Mapping[str, Any] | None = None
    ) -> ConstructionReport:
        query = (
            "SELECT CONCAT(unit, ': ', reason) AS what, COUNT(*) FROM left_out "
            "GROUP BY ALL ORDER BY what"
        )
        counts: dict[str, Any] = {
            "abstracts": {
                "read": self._n_taken + sum(self._dropped.values()),
                "kept": self._n_taken,
                "splits": dict(splits),
                "dropped": self._dropped,
                "left_out": self._numbers(query),
            }
        }
        if made is not None:
            counts = {"annotation": AUTOMATIC, **counts, **made}
        left_out = {"not_taken": self._not_taken, "left_out": self._left_out}
        shown = show_entries(self._not_taken, len(self._not_taken), "not taken ")
        return ConstructionReport(counts, left_out, [*shown, *_summary(counts)])

    def _say_why(self) -> str:
        """Say why so few abstracts are taken."""
        dropped = self._dropped
        shown = ", ".join(f"{n:,} {reason}" for reason, n in list(dropped.items())[:4])
        n_read = self._n_taken + sum(dropped.values())
        text = f"{self._n_taken:,} of {n_read:,} abstracts give a mechanism"
        text += f"; {shown}." if shown else "."
        files = (one for one in self._not_taken if one["unit"] == "file")
        shown_files = islice(files, _MAX_FILES_SHOWN)
        text += "".join(f" {one['file']}: {one['detail']}." for one in shown_files)
        if NO_PHRASE in dropped:
            text += " More sets of phrases (--phrase-sets all) find more conclusions."
        return text

    def _numbers(self, query: str) -> dict[Any, int]:
        return dict(self._database.execute(query))

    def _column(self, query: str) -> list[Any]:
        return [value for (value,) in self._database.execute(query)]


def _summary(counts: Mapping[str, Any]) -> Iterator[str]:
    abstracts = counts["abstracts"]
    dropped = list_reasons(abstracts["dropped"])
    yield f"{abstracts['kept']:,} of {abstracts['read']:,} abstracts{dropped}"
    for what, n in abstracts["left_out"].items():
        yield f"{n:,} left out of their abstracts: {what}"
    for kind, made in counts.get("negatives", {}).items():
        dropped = list_reasons(made["dropped"])
        yield f"{kind}: {made['kept']:,} of {made['read']:,} mechanisms{dropped}"
