"""The procedure end to end: from files of papers to a builder of the dataset that they give."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.corpora.papers.paper import Skipped, SplitSentences
from ....loaders.corpora.papers.sentences import split_sentences
from ....loaders.errors import CorpusError, UsageError
from ...base import NLIBuilder
from ...declared.builder import declared_builder
from ...declared.papers import PaperDeclaration
from ...options import BuildOptions
from ...schema import SPLITS
from .combine import Pairs, Papers, skipped_in, take_pairs, take_papers
from .extract import Job
from .procedure import Procedure
from .rows import PaperRows
from .shards import Engine, worked_off
from .splits import ByRatio, Splitting

AUTOMATIC = (
    "**The labels of all splits are automatic**, those of validation and test too: they follow\n"
    "from the linking phrase, or from the way to the neutral pair, and nobody has checked them."
)


@dataclass(frozen=True)
class Recipe:
    """How a dataset is made from papers.

    Attributes:
        procedure: How pairs are taken from a paper.
        splitting: How papers are split.
        quotas: By split, how many pairs of each class and domain it has; a split that is not named
            has as many as its smallest class.
        metadata: Years and domains that files do not tell.
        split_sentences: Cuts paragraphs into sentences where a file does not.
    """

    procedure: Procedure = field(default_factory=Procedure)
    splitting: Splitting = field(default_factory=ByRatio)
    quotas: Mapping[str, int] = field(default_factory=dict)
    metadata: Metadata = field(default_factory=Metadata)
    split_sentences: SplitSentences = split_sentences

    def __post_init__(self) -> None:
        for split, number in self.quotas.items():
            if split not in SPLITS or number < 1:
                raise UsageError(f"{split}={number} is no quota; expected a split and 1 or more.")


@dataclass(frozen=True)
class Construction:
    """A dataset that is being made from papers.

    Attributes:
        builder: Makes it.
        skipped: Files and papers that were not read, by file and line.
        counts: What was read, kept and dropped, as the manifest has it.
    """

    builder: type[NLIBuilder]
    skipped: Sequence[Skipped]
    counts: Mapping[str, Any]


@contextmanager
def construct(
    paths: Sequence[Path],
    recipe: Recipe,
    engine: Engine,
    options: BuildOptions,
    **declared: Any,
) -> Iterator[Construction]:
    """Makes a dataset from papers.

    Args:
        paths: Files and folders with papers.
        recipe: How to make it.
        engine: What works the papers off.
        options: The configs and splits to make, and where working files are kept.
        **declared: What the maker declares: every field of ``PaperDeclaration`` but labels,
            categories and domains.

    Yields:
        What makes the dataset, while the block runs.

    Raises:
        SourceNotFoundError: There is no paper file.
        CorpusError: No paper is taken, a split has no pair of a class, or fewer than its quota.
    """
    files = find_paper_files(paths)
    job = Job(recipe.procedure, recipe.split_sentences, recipe.metadata)
    with worked_off(files, job, engine, options.cache_dir) as folders:
        papers = take_papers(folders, recipe.splitting, recipe.procedure.seed)
        skipped = skipped_in(folders)
        if not (papers.split >= 0).any():
            raise CorpusError(_nothing_taken(len(files), papers, skipped))
        splits = recipe.splitting.splits
        pairs = take_pairs(folders, papers, recipe.procedure, splits, recipe.quotas)
        phrases = recipe.procedure.phrases
        declaration = PaperDeclaration(
            labels=phrases.label_names,
            categories=phrases.categories,
            domains=tuple(papers.domains),
            splits=splits,
            **declared,
        )
        rows = PaperRows(
            folders,
            papers,
            pairs,
            recipe.procedure,
            recipe.splitting,
            recipe.quotas,
            options.keys(declaration.spec()),
        )
        counts = _counts(papers, pairs, skipped)
        yield Construction(declared_builder(declaration.as_json(), rows, counts), skipped, counts)


def _counts(papers: Papers, pairs: Pairs, skipped: Sequence[Skipped]) -> Mapping[str, Any]:
    """What was read, kept and dropped: of papers, and of pairs by category.

    A file that is not read counts as one paper.
    """
    n_taken = int((papers.split >= 0).sum())
    unread = Counter(entry.reason for entry in skipped)
    return {
        "annotation": AUTOMATIC,
        "papers": _kept_and_dropped(n_taken, Counter(papers.dropped) + unread),
        "pairs": {
            category: _kept_and_dropped(kept, Counter(pairs.dropped[category]))
            for category, kept in pairs.kept.items()
        },
    }


def _kept_and_dropped(kept: int, dropped: Counter[str]) -> Mapping[str, Any]:
    return {
        "read": kept + dropped.total(),
        "kept": kept,
        "dropped": dict(sorted(dropped.items())),
    }


def _nothing_taken(n_files: int, papers: Papers, skipped: Sequence[Skipped]) -> str:
    why = Counter(papers.dropped) + Counter(entry.reason for entry in skipped)
    reasons = ", ".join(f"{reason}: {n:,}" for reason, n in why.most_common())
    example = f" The first: {skipped[0].file}: {skipped[0].detail}." if skipped else ""
    return f"No paper of {n_files:,} files is taken ({reasons}).{example}"
