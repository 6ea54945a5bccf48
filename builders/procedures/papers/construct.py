"""The procedure end to end: from files of papers to a builder of the dataset that they give."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from ....loaders.corpora.papers.files import find_paper_files
from ....loaders.corpora.papers.metadata import Metadata
from ....loaders.corpora.papers.paper import Skipped, SplitSentences
from ....loaders.corpora.papers.sentences import split_sentences
from ....loaders.errors import CorpusError, UsageError
from ...core.base import NLIBuilder
from ...core.options import BuildOptions
from ..declared import Declared
from ..declared_builder import declared_builder
from ..splits import ByRatio, Splitting
from .declaration import PaperDeclaration
from .extract import Job, ShardReport
from .procedure import Procedure
from .rows import Corpus, PaperRows
from .select_pairs import Pairs, select_pairs
from .select_papers import Papers, select_papers
from .shards import Engine, worked_off

_LOGGER = logging.getLogger(__name__)

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
            if split not in self.splitting.splits or number < 1:
                raise UsageError(
                    f"{split}={number} is no quota; expected 1 or more for "
                    f"{', '.join(self.splitting.splits)}."
                )

    def parameters(self) -> Mapping[str, Any]:
        """All that the rows depend on, besides the papers."""
        quotas = {"per_class": dict(self.quotas)} if self.quotas else {}
        splitter = f"{self.split_sentences.__module__}.{self.split_sentences.__qualname__}"
        if self.split_sentences is split_sentences:
            splitter = f"nupunkt {installed_version('nupunkt')} with the rules of nlihub"
        return {
            **self.procedure.as_json(),
            "split": self.splitting.as_json(),
            **quotas,
            "sentences": splitter,
        }


@dataclass(frozen=True)
class Report:
    """What was read, kept and dropped.

    Attributes:
        skipped: Files and papers that were not read, and papers that are not taken, by file and
            line.
        counts: Numbers of papers, and of pairs by category, as the manifest has them.
        unknown: The ids in the table of papers that no paper has.
    """

    skipped: Sequence[Skipped]
    counts: Mapping[str, Any]
    unknown: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        """It as plain values."""
        skipped = [asdict(entry) for entry in self.skipped]
        return {**self.counts, "unknown_in_metadata": list(self.unknown), "skipped": skipped}


@dataclass(frozen=True)
class Construction:
    """A dataset that is being made from papers.

    Attributes:
        builder: Makes it.
        report: What was read, kept and dropped.
    """

    builder: type[NLIBuilder]
    report: Report


@contextmanager
def construct(
    paths: Sequence[Path],
    recipe: Recipe,
    engine: Engine,
    options: BuildOptions,
    declared: Declared,
    on_failure: Callable[[Report], None],
) -> Iterator[Construction]:
    """Makes a dataset from papers.

    Args:
        paths: Files and folders with papers.
        recipe: How to make it.
        engine: What works the papers off.
        options: The configs and splits to make, and where working files are kept.
        declared: What the maker declares.
        on_failure: Takes what was read, kept and dropped, where that is too little.

    Yields:
        What makes the dataset, while the block runs.

    Raises:
        SourceNotFoundError: There is no paper file.
        CorpusError: No paper is taken, a split has no pair of a class, or fewer than its quota.
    """
    if recipe.split_sentences is split_sentences and not declared.language.startswith("en"):
        _LOGGER.warning("Paragraphs that are not split into sentences are split by English rules.")
    files = find_paper_files(paths)
    job = Job(recipe.procedure, recipe.split_sentences, recipe.metadata)
    splits = recipe.splitting.splits
    phrases = recipe.procedure.phrases
    with worked_off(files, job, engine, options.cache_dir) as folders:
        papers = select_papers(folders, recipe.splitting, recipe.procedure.seed)
        unknown = sorted(recipe.metadata.ids - set(papers.table["id"].to_pylist()))
        try:
            if not papers.n_taken:
                raise CorpusError(f"No paper of {len(files):,} files is taken.")
            pairs = select_pairs(folders, papers, recipe.procedure, splits, recipe.quotas)
        except CorpusError as error:
            on_failure(Report(papers.skipped, {"papers": _paper_counts(papers)}, unknown))
            raise CorpusError(f"{error} {_most_common(folders, papers)}") from error
        report = Report(papers.skipped, _counts(papers, pairs), unknown)
        declaration = PaperDeclaration(
            declared, phrases.label_names, phrases.categories, tuple(papers.domains), splits
        )
        keys = options.keys(declaration.spec())
        rows = PaperRows(Corpus(folders, papers, pairs), recipe.parameters(), phrases, keys)
        yield Construction(declared_builder(declaration.as_json(), rows, report.counts), report)


def _counts(papers: Papers, pairs: Pairs) -> Mapping[str, Any]:
    """What was read, kept and dropped: of papers, and of pairs by category.

    A file that is not read counts as one paper.
    """
    return {
        "annotation": AUTOMATIC,
        "papers": _paper_counts(papers),
        "pairs": {
            category: {
                "read": pairs.read[category],
                "kept": kept,
                "dropped": pairs.dropped[category],
            }
            for category, kept in pairs.kept.items()
        },
    }


def _paper_counts(papers: Papers) -> Mapping[str, Any]:
    return {
        "read": papers.n_found,
        "kept": papers.n_taken,
        "splits": papers.by_split(),
        "dropped": papers.dropped(),
    }


def _most_common(folders: Sequence[Path], papers: Papers) -> str:
    """Why most of what was read is not taken, in words."""
    of_pairs: Counter[str] = Counter()
    for folder in folders:
        for reasons in ShardReport.read(folder).dropped.values():
            of_pairs.update(reasons)
    found = {"Papers that are not taken": Counter(papers.dropped()), "Dropped pairs": of_pairs}
    return " ".join(
        f"{what}: " + ", ".join(f"{n:,} {reason}" for reason, n in why.most_common(4)) + "."
        for what, why in found.items()
        if why
    )
