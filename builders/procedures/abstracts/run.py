"""Construct a dataset from files of annotated abstracts: rows, a report and a declaration.

Four passes over the corpus, each by shards and in bounded memory: find mechanisms; make their
negatives; put the rows into configs and splits; arrange them in their order. What depends on the
whole corpus is decided by SQL in between.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ....loaders.corpora.abstracts.abstract import SkippedAbstract
from ....loaders.corpora.abstracts.read import FORMATS, cut_file
from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.progress import Tell
from ...core.identity import code_identity
from ...core.options import BuildOptions, Key
from ...core.sql import Database, DuckDBEngine, open_database
from ..about import Declared
from ..procedure import Construction, ConstructionReport, TooFewError, list_reasons
from ..shards import CorpusShard, Engine, LocalEngine, do_missing, worked_off
from ..splits import list_uneven_splits
from .balance_negation import FLIPPED, UNBALANCED, count_balanced
from .declaration import POSITIVE, AbstractsDeclaration
from .distributions import CONFIGS, FULL, TEST, TRAIN, Distribution, find_rare_kinds
from .extract import FindingJob, read_mechanism
from .mechanisms.mechanism import NO_PHRASE, NoMechanism
from .members import (
    DistributingJob,
    RowGroup,
    RowsShard,
    Threshold,
    count_members,
    find_limits,
    split_number,
)
from .negatives import (
    MechanismShard,
    NegativeCounts,
    Outcomes,
    PerturbingJob,
    Writer,
    category_of_negative,
)
from .perturb.entity_pool import EntityPool, Pool
from .perturb.stored_pool import store_pool
from .recipe import AbstractsRecipe
from .rows import PART_ROWS, AbstractRows, ArrangedShard, ArrangingJob
from .select import SelectedMechanisms, select_mechanisms
from .tables import MEMBERS, ROWS, table_path

#: Files are put together to shards of at least this size, and large ones cut into parts of it.
SHARD_BYTES = 32_000_000
_MAX_FILES_SHOWN = 3
_MAX_SHOWN = 10

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
    """
    rule = recipe.distribution
    # Before the long read: what the maker declares may be wrong.
    AbstractsDeclaration(declared, (), recipe.domain, rule.splits, rule.rule).spec()
    files = [
        part for file in find_paper_files(paths, FORMATS) for part in cut_file(file, SHARD_BYTES)
    ]
    engine = recipe.engine or LocalEngine(options.num_proc)
    job = FindingJob(recipe.mechanism_rules)
    with worked_off(files, job, engine, options.cache_dir, SHARD_BYTES) as corpus:
        writer = recipe.writer(tell)
        parameters = {**recipe.parameters(), "generation": writer.parameters() if writer else None}
        folder = corpus.results / corpus.key(code_identity(__name__), json.dumps(parameters))
        folder.mkdir(parents=True, exist_ok=True)
        yield _Making(recipe, writer, engine, corpus.shards, folder).make(declared, options)


@dataclass(frozen=True)
class _Making:
    """The passes that follow on reading.

    Attributes:
        recipe: How to make the dataset.
        writer: Writer of negatives besides those by rule, if any.
        engine: What works off the shards.
        shards: The shards of the corpus, read.
        folder: Where all that is made of them is kept.
    """

    recipe: AbstractsRecipe
    writer: Writer | None
    engine: Engine
    shards: Sequence[CorpusShard]
    folder: Path

    def make(self, declared: Declared, options: BuildOptions) -> Construction:
        """Make negatives, put rows into configs and splits, and count all."""
        recipe, writer, rule = self.recipe, self.writer, self.recipe.distribution
        with open_database(self.folder) as database:
            sql = self.engine.sql or DuckDBEngine(database)
            chosen = select_mechanisms(self.shards, self.folder, database, sql)
            _check_splits(chosen, rule, database)
            pool: Pool = EntityPool({})
            if "SREO" in recipe.strategy_names:
                pool = store_pool(chosen.tables, self.folder, database, sql)
            source = {
                "url": "the abstracts",
                "abstracts": chosen.n_taken,
                "sha256": chosen.hash(database),
            }
            written, kinds = _write(writer, chosen, database) if writer else ({}, [])
        made = self._perturb(chosen, pool, written)
        counts = NegativeCounts.of_shards(made)
        kinds = list(dict.fromkeys([*recipe.strategy_names, *kinds]))
        n_kept, first_left_out = self._balance(made, counts)
        if recipe.preferred is None:
            preferred = find_rare_kinds(counts.with_category, counts.n_mechanisms)
            rule = replace(rule, preferred=preferred)
        arranged = self._distribute(made, DistributingJob(rule, first_left_out))
        members = [table_path(shard.members, MEMBERS) for shard in arranged]
        limits = {}
        if rule.max_per_category is not None:
            with open_database(self.folder) as database:
                limits = find_limits(members, rule.max_per_category, database)
        groups = count_members(members, limits)
        categories = (POSITIVE, *dict.fromkeys(map(category_of_negative, kinds)))
        distributions = {
            config: _count_rows(groups, config, rule.splits, categories) for config in CONFIGS
        }
        sizes = distributions[FULL]["mechanisms"]
        negatives = _negative_counts(counts, kinds, n_kept)
        report = _report(chosen, sizes, {"negatives": negatives, "distributions": distributions})
        forms = [] if n_kept is None else [_show_forms(counts, n_kept)]
        uneven = list_uneven_splits(rule.ratio, sizes, "mechanisms") if rule.ratio else []
        report = replace(report, summary=[*report.summary, *forms, *uneven])
        _check_labels(chosen, distributions, report)
        declaration = AbstractsDeclaration(
            declared, categories, recipe.domain, rule.splits, rule.rule
        )
        keys = options.keys(declaration.spec())
        n_parts = max(1, -(-_count_in(groups, keys) // PART_ROWS))
        rows = AbstractRows(
            arranged,
            ArrangingJob(recipe.seed, limits, keys, n_parts),
            self.engine,
            recipe.domain,
            {
                **recipe.parameters(),
                **rule.as_json(),
                **({"generation": writer.parameters()} if writer else {}),
            },
            [source],
        )
        return Construction(rows, report, declaration)

    def _perturb(
        self, chosen: SelectedMechanisms, pool: Pool, written: Mapping[int, Mapping[int, Outcomes]]
    ) -> list[MechanismShard]:
        """Make the negatives of all shards."""
        found = zip(self.shards, chosen.taken_of_shards(), strict=True)
        made = [
            MechanismShard(
                shard.folder, taken, self._folder("negatives", number), written.get(number, {})
            )
            for number, (shard, taken) in enumerate(found)
        ]
        job = PerturbingJob(self.recipe.strategy_names, self.recipe.seed, pool)
        do_missing(self.engine, job.run, made, "making negatives")
        return made

    def _distribute(
        self, made: Sequence[MechanismShard], job: DistributingJob
    ) -> list[ArrangedShard]:
        """Put the rows of all shards into configs and splits."""
        placed = [
            RowsShard(shard.target, self._folder("members", number))
            for number, shard in enumerate(made)
        ]
        do_missing(self.engine, job.run, placed, "placing rows")
        return [
            ArrangedShard(shard, members.target, self._folder("runs", number))
            for number, (shard, members) in enumerate(zip(made, placed, strict=True))
        ]

    def _balance(
        self, made: Sequence[MechanismShard], counts: NegativeCounts
    ) -> tuple[int | None, Threshold | None]:
        """Return how many negated ``VNeg`` are kept, None for all, and the first that is not."""
        if not self.recipe.balance_negation:
            return None, None
        negated, n_flipped = counts.negated, counts.negated[FLIPPED]
        n_kept = count_balanced(
            counts.n_mechanisms,
            negated["positives"],
            counts.made.total(),
            negated["negatives"],
            n_flipped,
        )
        if n_kept == n_flipped:
            return n_kept, None
        with open_database(self.folder) as database:
            database.add({ROWS: [table_path(shard.target, ROWS) for shard in made]})
            (first,) = database.read(
                f"SELECT balance, pmid FROM {ROWS} WHERE balance IS NOT NULL "
                f"ORDER BY balance, pmid LIMIT 1 OFFSET {n_kept}"
            ).to_pylist()
        return n_kept, (first["balance"], first["pmid"])

    def _folder(self, pass_: str, number: int) -> Path:
        return self.folder / f"{pass_}-{number:05d}"


def _write(
    writer: Writer, chosen: SelectedMechanisms, database: Database
) -> tuple[dict[int, dict[int, Outcomes]], list[str]]:
    """Let a writer write for all mechanisms, which it takes at once.

    Returns:
        What it wrote, by shard, and its kinds.
    """
    mechanisms = [read_mechanism(content) for content in chosen.read_content(database)]
    places = list(chosen.read_places(database))
    written: dict[int, dict[int, Outcomes]] = {}
    kinds: dict[str, None] = {}
    for (number, seq), outcomes in zip(places, writer.write(mechanisms), strict=True):
        written.setdefault(number, {})[seq] = outcomes
        kinds |= dict.fromkeys(outcomes)
    return written, list(kinds)


#: Where mechanisms are that the draw of training rows decides on.
_UNDECIDED = "train or validation"


def _check_splits(chosen: SelectedMechanisms, rule: Distribution, database: Database) -> None:
    """Refuse a corpus with too few mechanisms for its splits, before negatives are made.

    Raises:
        TooFewError: A split has no mechanism.
    """
    found = Counter(rule.split_of(pmid) or _UNDECIDED for pmid in chosen.read_pmids(database))
    for split in rule.splits if rule.ratio else (_UNDECIDED, TEST):
        if not found[split]:
            told = f"No mechanism for {split}. {_say_why(chosen)}"
            raise TooFewError(told, _report(chosen, found))


def _check_labels(
    chosen: SelectedMechanisms,
    distributions: Mapping[str, Any],
    report: ConstructionReport,
) -> None:
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
            told = f"No {lacking} for {split} of {config}. {_say_why(chosen)} {advice}."
            raise TooFewError(told, report)


def _count_rows(
    groups: Mapping[RowGroup, int], config: str, splits: Sequence[str], categories: Sequence[str]
) -> Mapping[str, Any]:
    """Count the mechanisms of a config by split, and its rows by split and category."""
    n_mechanisms: Counter[int] = Counter()
    n_rows: Counter[tuple[int, str]] = Counter()
    for group, n in groups.items():
        split, is_there = group.place(config)
        n_mechanisms[split] += n * group.is_positive
        n_rows[split, group.category] += n * is_there
    numbers = {split: split_number(split) for split in splits}
    return {
        "mechanisms": {split: n_mechanisms[number] for split, number in numbers.items()},
        "in_no_split": n_mechanisms[-1],
        "rows": {
            split: {name: n_rows[number, name] for name in categories if n_rows[number, name]}
            for split, number in numbers.items()
        },
    }


def _count_in(groups: Mapping[RowGroup, int], keys: Collection[Key]) -> int:
    """Count the rows that are in any of some splits of configs."""

    def is_in(group: RowGroup, config: str, split: str) -> bool:
        return group.place(config) == (split_number(split), True)

    return sum(n for group, n in groups.items() if any(is_in(group, *key) for key in keys))


def _show_forms(counts: NegativeCounts, n_kept: int) -> str:
    """Say how many positives and negatives are negated, before and after balancing."""

    def share(n_negated: int, n: int) -> str:
        return f"{100 * n_negated / max(n, 1):.1f} %"

    negated, n_made = counts.negated, counts.made.total()
    n_left_out = negated[FLIPPED] - n_kept
    positives = share(negated["positives"], counts.n_mechanisms)
    then = share(negated["negatives"], n_made)
    now = share(negated["negatives"] - n_left_out, n_made - n_left_out)
    return f"negated: {positives} of the positives, {now} of the negatives ({then} before)"


def _report(
    chosen: SelectedMechanisms,
    splits: Mapping[str, int],
    made: Mapping[str, Any] | None = None,
) -> ConstructionReport:
    counts: dict[str, Any] = {"abstracts": _abstract_counts(chosen, splits)}
    if made is not None:
        counts = {"annotation": AUTOMATIC, **counts, **made}
    shown = list_left_out(chosen.not_taken, "not taken ")
    left_out = {"not_taken": chosen.not_taken, "left_out": chosen.left_out}
    return ConstructionReport(counts, left_out, [*shown, *_summary(counts)])


def list_left_out(left_out: Collection[SkippedAbstract | NoMechanism], prefix: str) -> list[str]:
    """Return a line for each of the first abstracts left out, and one on how many more there are.

    A line has a prefix, file, line, pmid, reason and detail, as far as they are known.
    """
    lines = []
    for one in islice(left_out, _MAX_SHOWN):
        place = f"{one.file}:{one.line}" if one.line else one.file
        pmid = f"(pmid {one.pmid})" if one.pmid else ""
        lines.append(f"{prefix}{f'{place} {pmid}'.strip()}: {one.reason}: {one.detail}")
    n_more = len(left_out) - len(lines)
    return [*lines, f"and {n_more:,} more"] if n_more else lines


def _summary(counts: Mapping[str, Any]) -> Iterator[str]:
    abstracts = counts["abstracts"]
    dropped = list_reasons(abstracts["dropped"])
    yield f"{abstracts['kept']:,} of {abstracts['read']:,} abstracts{dropped}"
    for what, n in abstracts["left_out"].items():
        yield f"{n:,} left out of their abstracts: {what}"
    for kind, made in counts.get("negatives", {}).items():
        dropped = list_reasons(made["dropped"])
        yield f"{kind}: {made['kept']:,} of {made['read']:,} mechanisms{dropped}"


def _abstract_counts(chosen: SelectedMechanisms, splits: Mapping[str, int]) -> Mapping[str, Any]:
    return {
        "read": chosen.n_read,
        "kept": chosen.n_taken,
        "splits": dict(splits),
        "dropped": dict(chosen.dropped),
        "left_out": dict(chosen.left_out_counts),
    }


def _negative_counts(
    counts: NegativeCounts, kinds: Collection[str], n_flipped_kept: int | None
) -> Mapping[str, Any]:
    """Count by kind the mechanisms that were tried, gave a negative, and were refused, and why."""
    found = {}
    for kind in kinds:
        n_made, dropped = counts.made[kind], counts.reasons(kind)
        if kind == FLIPPED and n_flipped_kept is not None:
            n_left_out = counts.negated[FLIPPED] - n_flipped_kept
            n_made -= n_left_out
            dropped = dict(Counter({**dropped, UNBALANCED: n_left_out}).most_common())
        found[kind] = {"read": n_made + sum(dropped.values()), "kept": n_made, "dropped": dropped}
    return found


def _say_why(chosen: SelectedMechanisms) -> str:
    """Say why so few abstracts are taken."""
    dropped = chosen.dropped
    shown = ", ".join(f"{n:,} {reason}" for reason, n in list(dropped.items())[:4])
    text = f"{chosen.n_taken:,} of {chosen.n_read:,} abstracts give a mechanism"
    text += f"; {shown}." if shown else "."
    files = (
        one for one in chosen.not_taken if isinstance(one, SkippedAbstract) and one.unit == "file"
    )
    shown_files = islice(files, _MAX_FILES_SHOWN)
    text += "".join(f" {one.file}: {one.detail}." for one in shown_files)
    if NO_PHRASE in dropped:
        text += " More sets of phrases (--phrase-sets all) find more conclusions."
    return text
