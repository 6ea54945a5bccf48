"""Make a dataset from files of papers: rows, a report and a declaration."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.corpora.papers.paper import SkippedPaper
from ....loaders.corpora.papers.sentences import split_sentences
from ....loaders.errors import CorpusError
from ....loaders.progress import Tell
from ...core.options import BuildOptions
from ..about import Declared
from ..procedure import Construction, ConstructionReport, TooFewError, list_reasons
from ..shards import local_engine, worked_off
from ..splits import list_uneven_splits
from .declaration import PapersDeclaration
from .extract import Job, ShardReport
from .recipe import PapersRecipe
from .rows import PaperRows
from .select_pairs import select_pairs
from .select_papers import Papers, select_papers

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
    splits = recipe.splitting.splits
    PapersDeclaration(declared, ("a", "b"), (), (), splits).spec()  # before the long read
    metadata = Metadata.read(recipe.metadata, recipe.domain)
    files = find_paper_files(paths)
    job = Job(recipe.rules, recipe.split_sentences, metadata)
    engine = recipe.engine or local_engine(options.num_proc)
    phrases = recipe.rules.phrases
    with worked_off(files, job, engine, options.cache_dir) as shards:
        folders = [shard.folder for shard in shards]
        papers = select_papers(folders, recipe.splitting, recipe.seed)
        unknown = sorted(metadata.ids - set(papers.table["id"].to_pylist()))
        try:
            if not papers.n_taken:
                raise CorpusError(f"No paper of {len(files):,} files is taken.")
            pairs = select_pairs(folders, papers, recipe.rules, splits, recipe.per_class)
        except CorpusError as error:
            report = _report(papers, unknown, {"papers": papers.counts()})
            raise TooFewError(f"{error} {_most_common(folders, papers)}", report) from error
        counts = {
            "annotation": AUTOMATIC,
            "random_sentences": recipe.random_sentences,
            "longer_phrases": recipe.longer_phrases,
            "neutral_distance": recipe.neutral_distance,
            "neutral_overlap": recipe.neutral_overlap,
            "papers": papers.counts(),
            "pairs": pairs.counts,
        }
        report = _report(papers, unknown, counts)
        if not recipe.per_class:
            sizes = {name: pairs.n_balanced(name) for name in splits}
            uneven = list_uneven_splits(recipe.splitting, sizes, "pairs")
            report = replace(report, summary=[*report.summary, *uneven])
        declaration = PapersDeclaration(
            declared, phrases.label_names, phrases.categories, tuple(papers.domains), splits
        )
        keys = options.keys(declaration.spec())
        rows = PaperRows(folders, papers, pairs, recipe.parameters(), phrases, keys)
        yield Construction(rows, report, declaration)


def _report(
    papers: Papers, unknown: Sequence[str], counts: Mapping[str, Any]
) -> ConstructionReport:
    return ConstructionReport(
        counts,
        {"unknown_in_metadata": unknown, "skipped": papers.skipped},
        [*_summary(papers.skipped, unknown), *_summary_of_counts(counts)],
    )


def _summary(skipped: Sequence[SkippedPaper], unknown: Sequence[str]) -> Iterator[str]:
    for entry in skipped[:_MAX_SHOWN]:
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


def _most_common(folders: Sequence[Path], papers: Papers) -> str:
    """Say why most of what was read is not taken."""
    of_pairs: Counter[str] = Counter()
    for folder in folders:
        for dropped in ShardReport.read(folder).dropped.values():
            of_pairs.update(dropped)
    of_papers = Counter(papers.counts()["dropped"])
    found = {"Papers that are not taken": of_papers, "Dropped pairs": of_pairs}
    return " ".join(
        f"{what}: " + ", ".join(f"{n:,} {reason}" for reason, n in why.most_common(4)) + "."
        for what, why in found.items()
        if why
    )
