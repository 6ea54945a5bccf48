"""The public function that makes a dataset from papers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .api import PathLike
from .builders.core.options import BuildOptions
from .builders.procedures.papers.construct import Recipe, Report, construct
from .builders.procedures.papers.declaration import PaperDeclaration
from .builders.procedures.papers.phrases import LinkingPhrases
from .builders.procedures.papers.procedure import Procedure
from .builders.procedures.papers.shards import Engine, local_engine
from .builders.procedures.papers.spark import spark_engine
from .builders.procedures.splits import ByRatio, ByYear, Splitting
from .builders.versions.write import build_version, check_target
from .loaders.corpora.papers.metadata import Metadata
from .loaders.corpora.papers.paper import Skipped, SplitSentences
from .loaders.corpora.papers.sentences import split_sentences
from .loaders.errors import UsageError
from .own import check_domain, count_rows, declare, path_of, write_report

__all__ = ["build_from_papers", "spark_engine"]


@dataclass(frozen=True)
class MadeFromPapers:
    """A dataset that was made from papers.

    Attributes:
        folder: The folder of the built version.
        report: The file with all counts, and every file and paper that is not taken.
        skipped: Files and papers that were not read or are not taken, by file and line.
        unknown: The ids in the table of papers that no paper has.
        counts: What was read, kept and dropped of papers, and of pairs by category.
        rows: Number of rows by config and split.
    """

    folder: Path
    report: Path
    skipped: Sequence[Skipped]
    unknown: Sequence[str]
    counts: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, int]]


def build_from_papers(
    name: str,
    papers: PathLike | Sequence[PathLike],
    output: PathLike = "built",
    *,
    domain: str | None = None,
    metadata: PathLike | None = None,
    phrases: PathLike | None = None,
    train_years: tuple[int, int] | None = None,
    evaluation_years: tuple[int, int] | None = None,
    ratio: tuple[float, float, float] | None = None,
    per_class: Mapping[str, int] | None = None,
    within: str = "paragraph",
    seed: int = 1,
    pretty_name: str | None = None,
    license_id: str = "other",
    copyright_line: str | None = None,
    citation: PathLike | None = None,
    language: str = "en",
    split_sentences: SplitSentences = split_sentences,
    num_proc: int = 1,
    engine: Engine | None = None,
) -> MadeFromPapers:
    """Builds a dataset by SciNLI's and MSciNLI's procedure from papers, into ``output/NAME``.

    The same papers give the same bytes, whatever the order of their files, how these are packed,
    and the engine; where a file tells no id, its name is the paper's. Interrupted, the same call
    goes on at the shard where it was.

    Args:
        name: Name of the dataset, snake_case, and none of this package's.
        papers: Files and folders with papers: GROBID TEI, S2ORC JSON, JATS, sentence-split XML,
            plain JSON lines or Parquet, plain or compressed.
        output: The folder to build in.
        domain: The domain of papers whose files tell none.
        metadata: CSV file with ``id``, ``year`` and ``domain`` of papers.
        phrases: JSON file with other linking phrases, of the form of ``phrases.json``.
        train_years: First and last year of the training papers.
        evaluation_years: First and last year of the others, of which 36 % are for validation.
        ratio: Instead of years, the shares of train, validation and test.
        per_class: By split, how many pairs of each class and domain; default as many as the
            smallest class has.
        within: What two adjacent sentences must share, ``paragraph`` or ``section``.
        seed: Decides every random choice.
        pretty_name: Its name in prose.
        license_id: Identifier of its licence.
        copyright_line: The line that the licence asks to keep.
        citation: File with its BibTeX.
        language: Code of the papers' language.
        split_sentences: Cuts paragraphs into sentences where files do not; a function of a module,
            so that other processes can import it. The default is for English.
        num_proc: Processes of this machine to use.
        engine: What works the papers off instead of them.

    Returns:
        Where the built version is, and what was read, kept and dropped.

    Raises:
        UsageError: The name is none or taken, or years and ratio do not make sense.
        SourceNotFoundError: There is no paper file.
        MetadataError: The table of papers is malformed.
        CorpusError: No paper is taken, a split has no pair of a class, or fewer than asked for.
        OutputError: There is something else at ``output/NAME``.
    """
    declared = declare(
        name,
        pretty_name,
        license_id,
        copyright_line or "Copyright the authors of the papers",
        citation,
        "{SciNLI} (Sadat and Caragea, 2022)",
        language,
    )
    if domain is not None:
        check_domain(domain)
    paths = [papers] if isinstance(papers, str | Path) else papers
    recipe = Recipe(
        procedure=Procedure(
            phrases=LinkingPhrases.read(path_of(phrases)), within=within, seed=seed
        ),
        splitting=_splitting(train_years, evaluation_years, ratio),
        quotas=per_class or {},
        metadata=Metadata.read(path_of(metadata), domain),
        split_sentences=split_sentences,
    )
    target = Path(output).expanduser()
    options = BuildOptions(num_proc=num_proc)
    # What is wrong with them is said before days of reading.
    PaperDeclaration(declared, ("a", "b"), (), (), recipe.splitting.splits).spec()
    check_target(target / name, name)
    report_file = target / f"{name}.report.json"

    def write(report: Report) -> None:
        write_report(report_file, report.as_json())

    with construct(
        [Path(path).expanduser() for path in paths],
        recipe,
        engine or local_engine(num_proc),
        options,
        declared,
        write,
    ) as made:
        version = build_version(made.builder, target, options)
        write(made.report)
    return MadeFromPapers(
        folder=version.folder,
        report=report_file,
        skipped=made.report.skipped,
        unknown=made.report.unknown,
        counts=made.report.counts,
        rows=count_rows(version),
    )


def _splitting(
    train: tuple[int, int] | None,
    evaluation: tuple[int, int] | None,
    ratio: tuple[float, float, float] | None,
) -> Splitting:
    if ratio is not None:
        if train or evaluation:
            raise UsageError("Split by years or by ratio, not both.")
        return ByRatio.of(ratio)
    if train is None and evaluation is None:
        return ByRatio()
    if train is None or evaluation is None:
        raise UsageError("A split by years needs those of training and of evaluation.")
    return ByYear(train, evaluation)
