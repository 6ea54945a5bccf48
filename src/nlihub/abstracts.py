"""The public function that makes a dataset from annotated abstracts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .api import PathLike
from .builders.core.options import BuildOptions
from .builders.procedures.abstracts.construct import TooFewError, construct
from .builders.procedures.abstracts.declaration import AbstractDeclaration
from .builders.procedures.abstracts.generate.generate import ModelWriter
from .builders.procedures.abstracts.generate.models import PretrainedModel, SmallModel
from .builders.procedures.abstracts.generate.settings import (
    BeamSettings,
    GenerationSettings,
    TrainingSettings,
)
from .builders.procedures.abstracts.generate.similarity import EncoderCosine, Similarity, TokenF1
from .builders.procedures.abstracts.mechanisms.find import MechanismRules
from .builders.procedures.abstracts.mechanisms.mechanism import NoMechanism as Refused
from .builders.procedures.abstracts.mechanisms.phrases import PAPER, ConclusionPhrases
from .builders.procedures.abstracts.negatives import Writer
from .builders.procedures.abstracts.perturb.apply import NAMES
from .builders.procedures.abstracts.recipe import PAPER_SPLIT, Recipe
from .builders.procedures.splits import ByRatio
from .builders.versions.write import build_version, check_target
from .loaders.corpora.abstracts.skipped import Skipped
from .own import check_domain, count_rows, declare, path_of, write_report

__all__ = [
    "BeamSettings",
    "EncoderCosine",
    "GenerationSettings",
    "ModelWriter",
    "PretrainedModel",
    "Similarity",
    "SmallModel",
    "TokenF1",
    "TrainingSettings",
    "build_from_abstracts",
]


@dataclass(frozen=True)
class MadeFromAbstracts:
    """A dataset that was made from abstracts.

    Attributes:
        folder: The folder of the built version.
        report: The file with all counts, and every abstract that is not taken.
        not_taken: Files, abstracts and records that give no mechanism, in the order of the files.
        counts: What was read, kept and dropped of abstracts, and made and refused of negatives.
        rows: Number of rows by config and split.
    """

    folder: Path
    report: Path
    not_taken: Sequence[Skipped | Refused]
    counts: Mapping[str, Any]
    rows: Mapping[str, Mapping[str, int]]


def build_from_abstracts(
    name: str,
    abstracts: PathLike | Sequence[PathLike],
    output: PathLike = "built",
    *,
    phrases: PathLike | None = None,
    phrase_sets: str | Sequence[str] | None = None,
    by_order: bool = False,
    strategies: str | Sequence[str] = NAMES,
    ratio: tuple[float, float, float] | None = None,
    max_per_category: int = 500,
    seed: int = 1,
    domain: str = "biomedical",
    writer: Writer | None = None,
    pretty_name: str | None = None,
    license_id: str = "other",
    copyright_line: str | None = None,
    citation: PathLike | None = None,
    num_proc: int = 1,
) -> MadeFromAbstracts:
    """Builds a dataset by BioNLI's procedure from annotated abstracts, into ``output/NAME``.

    The same abstracts give the same bytes, whatever the number of processes.

    Args:
        name: Name of the dataset, snake_case, and none of this package's.
        abstracts: Files, or folders of files, of abstracts with entities and relations in
            PubTator's format, BioC XML or BioC JSON, or of records of mechanisms in JSON lines;
            plain, compressed or in archives.
        output: The folder to build in.
        phrases: JSON file with other phrases of conclusions, of the form of ``phrases.json``.
        phrase_sets: The sets of phrases to use; ``all`` uses every one, which finds more
            conclusions. None uses ``paper``, or all of a file of yours.
        by_order: Whether the entity mentioned first is taken for the regulator where nothing tells
            the direction; else such abstracts are not taken.
        strategies: The rule-based strategies to use.
        ratio: The shares of train, validation and test; None takes those of BioNLI.
        max_per_category: Rows of a rule-based category in the balanced training set at most.
        seed: Decides every random choice but those of a writer, which has its own.
        domain: The domain of the abstracts.
        writer: Writes GEN and GEN-ND, such as ``nlihub.ModelWriter()``, which needs
            ``nlihub[baselines]``; None has rules alone.
        pretty_name: Its name in prose.
        license_id: Identifier of its licence.
        copyright_line: The line that the licence asks to keep.
        citation: File with its BibTeX.
        num_proc: Processes to use.

    Returns:
        Where the built version is, and what was read, made and refused.

    Raises:
        SourceNotFoundError: There is no file.
        UsageError: The name is none or taken, or the ratio makes no sense.
        UnknownNameError: There is no such strategy, or no such set of phrases.
        CorpusError: A split has no mechanism, or no negative; or a fold nothing to train on.
        MissingExtraError: The writer needs an extra that is not installed.
        OutputError: There is something else at ``output/NAME``.
    """
    declared = declare(
        name,
        pretty_name,
        license_id,
        copyright_line or "Copyright the authors of the abstracts",
        citation,
        "{BioNLI} (Bastan, Surdeanu and Balasubramanian, 2022)",
    )
    check_domain(domain)
    if phrase_sets is None and phrases is None:
        phrase_sets = PAPER
    recipe = Recipe(
        rules=MechanismRules(
            phrases=ConclusionPhrases.read(path_of(phrases), phrase_sets), by_order=by_order
        ),
        strategies=(strategies,) if isinstance(strategies, str) else tuple(strategies),
        splitting=PAPER_SPLIT if ratio is None else ByRatio.of(ratio),
        max_per_category=max_per_category,
        seed=seed,
    )
    # What is wrong with them is said before anything is read.
    AbstractDeclaration(declared, (), domain, recipe.splitting.splits).spec()
    target = Path(output).expanduser()
    check_target(target / name, name)
    report_file = target / f"{name}.report.json"
    paths = [abstracts] if isinstance(abstracts, str | Path) else abstracts
    options = BuildOptions(num_proc=num_proc)
    files = [Path(path).expanduser() for path in paths]
    try:
        made = construct(files, recipe, options, declared, domain, writer)
    except TooFewError as error:
        failed = report_file.with_name(f"{name}.failed.json")  # the report of a version stays
        write_report(failed, error.report.as_json())
        raise TooFewError(f"{error} All that was not taken: {failed}", error.report) from error
    version = build_version(made.builder, target, replace(options, num_proc=1))
    write_report(report_file, made.report.as_json())
    return MadeFromAbstracts(
        folder=version.folder,
        report=report_file,
        not_taken=made.report.not_taken,
        counts=made.report.counts,
        rows=count_rows(version),
    )
