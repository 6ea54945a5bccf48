"""Make a dataset from files of papers: rows, a report and a declaration."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.corpora.papers.sentences import split_sentences
from ....loaders.errors import CorpusError
from ....loaders.progress import Tell
from ...core.identity import code_identity
from ...core.options import BuildOptions
from ...core.sql import DuckDBEngine, open_database
from ..about import Declared
from ..procedure import Construction, ConstructionReport, TooFewError, list_reasons
from ..shards import Corpus, Engine, LocalEngine, do_missing, worked_off
from ..splits import list_uneven_splits
from .declaration import PapersDeclaration
from .extract import Job
from .place_papers import NO_DOMAIN, PlaceJob, group_shards
from .recipe import PapersRecipe
from .rows import PaperRows
from .select import Pairs, Papers, Selector, SkippedPapers

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
    job = Job(recipe.rules, recipe.split_sentences, metadata)
    engine = recipe.engine or LocalEngine(options.num_proc)
    with worked_off(files, job, engine, options.cache_dir) as corpus:
        yield make_construction(corpus, recipe, metadata, declared, engine, options)


def make_construction(
    corpus: Corpus,
    recipe: PapersRecipe,
    metadata: Metadata,
    declared: Declared,
    engine: Engine,
    options: BuildOptions,
) -> Construction:
    """Make a dataset from papers that have been read; see ``run``."""
    splits = recipe.splitting.splits
    papers, unknown, pairs, results = _select(corpus, recipe, metadata, engine)
    counts = {
        "annotation": AUTOMATIC,
        "random_sentences": recipe.random_sentences,
        "longer_phrases": recipe.longer_phrases,
        "neutral_distance": recipe.neutral_distance,
        "neutral_overlap": recipe.neutral_overlap,
        "papers": papers.counts,
        "pairs": pairs.counts,
    }
    report = _report(papers, unknown, counts)
    if not recipe.per_class:
        sizes = {name: pairs.n_balanced(name) for name in splits}
        uneven = list_uneven_splits(recipe.splitting, sizes, "pairs")
        report = replace(report, summary=[*report.summary, *uneven])
    phrases = recipe.rules.phrases
    declaration = PapersDeclaration(
        declared, phrases.label_names, phrases.categories, tuple(papers.domains), splits
    )
    rows = PaperRows(
        corpus,
        results,
        papers.source,
        papers.domains,
        pairs,
        recipe.parameters(),
        phrases,
        options.keys(declaration.spec()),
        recipe.engine,
    )
    return Construction(rows, report, declaration)


def _select(
    corpus: Corpus, recipe: PapersRecipe, metadata: Metadata, engine: Engine
) -> tuple[Papers, Sequence[str], Pairs, Path]:
    """Choose papers and pairs.

    Returns:
        The papers, the ids of the table that are of no paper, the pairs, and the folder of results.
    """
    place = PlaceJob(recipe.splitting, recipe.seed)
    code = code_identity(PlaceJob.__module__)
    results = corpus.results / corpus.key(code, recipe.splitting.as_json(), recipe.seed)
    groups = group_shards(corpus, results / "placed")
    do_missing(engine, place.run, groups, "placing papers")
    with open_database(results) as database:
        sql = engine.sql or DuckDBEngine(database)
        selector = Selector(groups, results, database, sql)
        papers = selector.select_papers(recipe.splitting)
        unknown = selector.unknown_ids(sorted(metadata.ids))
        try:
            if not papers.counts["kept"]:
                n_files = sum(len(shard.files) for shard in corpus.shards)
                raise CorpusError(f"No paper of {n_files:,} files is taken.")
            pairs = selector.select_pairs(
                papers, recipe.rules.phrases, recipe.splitting.splits, recipe.per_class
            )
        except CorpusError as error:
            report = _report(papers, unknown, {"papers": papers.counts})
            dropped = papers.counts["dropped"]
            most = _most_common(dropped, selector.dropped_pairs().dropped)
            if NO_DOMAIN in dropped:
                most += " Name the domain of papers that state none: --domain, or --metadata FILE."
            raise TooFewError(f"{error} {most}", report) from error
    return papers, unknown, pairs, results


def _report(
    papers: Papers, unknown: Sequence[str], counts: Mapping[str, Any]
) -> ConstructionReport:
    return ConstructionReport(
        counts,
        {"unknown_in_metadata": unknown, "skipped": papers.skipped},
        [*_summary(papers.skipped, unknown), *_summary_of_counts(counts)],
    )


def _summary(skipped: SkippedPapers, unknown: Sequence[str]) -> Iterator[str]:
    for entry in islice(skipped, _MAX_SHOWN):
        place = f"{entry.file}:{entry.line}" if entry.line else entry.file
        yield f"skipped {place}: {entry.reason}: {entry.detail}"
    if len(skipped) > _MAX_SHOWN:
        yield f"and {len(skipped) - _MAX_SHOWN:,} more"
    if unknown:
        shown = ", ".join(unknown[:_MAX_SHOWN])
        yield f"{len(unknown):,} ids of the table are of no paper: {shown}"


def _summary_of_counts(counts: Mapping[str, Any]) -> Iterator[str]:
    papers = counts["papers"]
    yield f"{papers['kept']:,} of {papers['read']:,} papers{list_reasons(papers['dropped'])}"
    if pairs := counts.get("pairs", {}).values():
        kept, read = sum(one["kept"] for one in pairs), sum(one["read"] for one in pairs)
        yield f"{kept:,} of {read:,} pairs"


def _most_common(papers: Mapping[str, int], dropped_pairs: Mapping[str, Mapping[str, int]]) -> str:
    """Say why most of what was read is not taken."""
    pairs: Counter[str] = Counter()
    for dropped in dropped_pairs.values():
        pairs.update(dropped)
    found = {"Papers that are not taken": Counter(papers), "Dropped pairs": pairs}
    return " ".join(
        f"{what}: " + ", ".join(f"{n:,} {reason}" for reason, n in why.most_common(4)) + "."
        for what, why in found.items()
        if why
    )
