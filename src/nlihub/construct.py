"""Make a dataset of your own by a paper's procedure: from papers, abstracts or patterns.

Each function takes a recipe, which holds all that the rows depend on besides the material, and
``About``, what you say of the dataset. The command ``nlihub construct`` has the same options.

Example:
    >>> import nlihub
    >>> recipe = nlihub.construct.PapersRecipe(domain="acl", ratio=(0.8, 0.1, 0.1))
    >>> recipe.splitting.splits
    ('train', 'validation', 'test')
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .builders.core.options import BuildOptions
from .builders.core.registry import find_builder
from .builders.procedures.about import About
from .builders.procedures.papers.declaration import PapersDeclaration
from .builders.procedures.papers.estimate import Estimate, estimate
from .builders.procedures.papers.recipe import PapersRecipe
from .builders.procedures.procedure import Construction, Recipe, TooFewError
from .builders.procedures.registry import declared_builder, get_procedure
from .builders.procedures.spark import spark_engine
from .builders.versions.manifest import Manifest
from .builders.versions.version import BuiltVersion
from .builders.versions.write import build_version, check_target, write_texts
from .builders.versions.write_rows import MAX_SHARD_BYTES, write_rows
from .loaders.errors import OutputError, UsageError, VerificationError
from .loaders.progress import Tell, silent

if TYPE_CHECKING:
    from .builders.procedures.abstracts.generate.generate import (
        EncoderCosine,
        ModelWriter,
        Similarity,
        TokenF1,
    )
    from .builders.procedures.abstracts.generate.settings import (
        BeamSettings,
        GenerationSettings,
        PretrainedModel,
        SmallModel,
        TrainingSettings,
    )
    from .builders.procedures.abstracts.recipe import AbstractsRecipe
    from .builders.procedures.patterns.recipe import PatternsRecipe

__all__ = [
    "About",
    "AbstractsRecipe",
    "BeamSettings",
    "Constructed",
    "EncoderCosine",
    "Estimate",
    "GenerationSettings",
    "ModelWriter",
    "PapersRecipe",
    "PatternsRecipe",
    "PretrainedModel",
    "Similarity",
    "SmallModel",
    "TokenF1",
    "TrainingSettings",
    "abstracts",
    "estimate_papers",
    "papers",
    "patterns",
    "spark_engine",
]

#: The names of other procedures than that of papers, by their modules.
_OTHERS = {
    "abstracts.generate.generate": ("EncoderCosine", "ModelWriter", "Similarity", "TokenF1"),
    "abstracts.generate.settings": (
        "BeamSettings",
        "GenerationSettings",
        "PretrainedModel",
        "SmallModel",
        "TrainingSettings",
    ),
    "abstracts.recipe": ("AbstractsRecipe",),
    "patterns.recipe": ("PatternsRecipe",),
}
PathLike = str | Path
#: Where an estimate needs a name and none is given.
_UNNAMED = "my_dataset"


def __getattr__(name: str) -> Any:
    """Import what another procedure needs when it is asked for."""
    for module, names in _OTHERS.items():
        if name in names:
            return getattr(import_module(f".builders.procedures.{module}", __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


@dataclass(frozen=True)
class Constructed:
    """A dataset that was made.

    Attributes:
        folder: The folder of the built version.
        report: The file with all counts, and everything that was left out.
        counts: What was read, kept and dropped, as the manifest has it.
        summary: The counts in a few lines, for people.
        rows: Number of rows by config and split.
    """

    folder: Path
    report: Path
    counts: Mapping[str, Any]
    summary: Sequence[str]
    rows: Mapping[str, Mapping[str, int]]

    @property
    def left_out(self) -> Mapping[str, Sequence[Any]]:
        """By kind, the files, records and ids that were not taken, and why, as in the report."""
        text = self.report.read_text(encoding="utf-8", errors="surrogateescape")
        found: dict[str, Sequence[Any]] = json.loads(text)
        return {kind: entries for kind, entries in found.items() if kind not in self.counts}


def papers(
    name: str,
    paths: PathLike | Sequence[PathLike],
    output: PathLike = "built",
    recipe: PapersRecipe | None = None,
    *,
    about: About | None = None,
    num_proc: int = 1,
    probe: bool = False,
    tell: Tell = silent,
) -> Constructed:
    """Make a dataset from papers by SciNLI's and MSciNLI's procedure, into ``output/NAME``.

    Interrupted, the same call goes on at the shard where it was.

    Args:
        name: Name of the dataset, snake_case, and not one of this package's.
        paths: Files and folders with papers: GROBID TEI, S2ORC JSON, JATS, sentence-split XML,
            plain JSON lines or Parquet, plain or compressed. Where a file states no id, its name
            is the paper's.
        output: The folder to build in.
        recipe: How to make it; None takes the defaults.
        about: What you say of it; None says nothing.
        num_proc: Processes of this machine to use, 1 or more; the bytes do not depend on it.
        probe: Whether to train the hypothesis-only probe of ``nlihub.statistics`` on the rows, and
            to put what it tells by label and category on the card; needs nlihub[baselines].
        tell: Takes a line on each step.

    Returns:
        Where the built version is, and what was read, kept and dropped.

    Raises:
        UsageError: The name is not valid or taken, or a quota is for a split that is not there.
        SourceNotFoundError: There is no paper file.
        MetadataError: The table of papers is malformed.
        CorpusError: No paper is taken, a split has no pair of a class, or fewer than its quota.
        OutputError: There is something else at ``output/NAME``, or a version that people annotated.
    """
    chosen = recipe or PapersRecipe()
    return construct("papers", name, paths, output, chosen, about, num_proc, probe, tell)


def estimate_papers(
    paths: PathLike | Sequence[PathLike],
    recipe: PapersRecipe | None = None,
    *,
    sample: float = 0.01,
    num_proc: int = 1,
) -> Estimate:
    """Estimate rows, time, memory and disk of ``papers`` on a whole corpus, from a sample of it.

    Pieces of files are drawn by a hash of their names: small files, and pieces of 8 MB of large
    ones. A dataset is made of them in a temporary folder, which goes. Counts, times and sizes are
    extrapolated by bytes; what does not grow in proportion (papers and texts that are doubled,
    balanced classes, quotas) by its own rule.

    Args:
        paths: Files and folders with papers.
        recipe: How the dataset would be made; None takes the defaults.
        sample: Share of the corpus to read, above 0 to 1.
        num_proc: Processes of this machine to use, now and then.

    Raises:
        SourceNotFoundError: There is no paper file.
        MetadataError: The table of papers is malformed.
        CorpusError: The sample gives no dataset; take a larger one.
        UsageError: The share is not one.
    """
    declared = About().declare(_UNNAMED, PapersDeclaration.MATERIAL, PapersDeclaration.CREDIT)
    options = BuildOptions(num_proc=_checked(num_proc))

    def write(made: Construction, folder: Path) -> None:
        builder = declared_builder(made.declaration, made.rows, made.report.counts)
        write_texts(builder, folder, write_rows(builder, folder, options, MAX_SHARD_BYTES))

    return estimate(_as_paths(paths), recipe or PapersRecipe(), declared, options, sample, write)


def abstracts(
    name: str,
    paths: PathLike | Sequence[PathLike],
    output: PathLike = "built",
    recipe: "AbstractsRecipe | None" = None,
    *,
    about: About | None = None,
    num_proc: int = 1,
    probe: bool = False,
    tell: Tell = silent,
) -> Constructed:
    """Make a dataset from annotated abstracts by BioNLI's procedure, into ``output/NAME``.

    Interrupted, the same call goes on at the shard where it was.

    Args:
        name: Name of the dataset, snake_case, and not one of this package's.
        paths: Files, or folders of files, of abstracts with entities and relations in PubTator's
            format, BioC XML or BioC JSON, or of records of mechanisms in JSON lines; plain,
            compressed or in archives.
        output: The folder to build in.
        recipe: How to make it; None takes the defaults.
        about: What you say of it; None says nothing.
        num_proc: Processes to use, 1 or more; the bytes do not depend on it.
        probe: Whether to train the hypothesis-only probe of ``nlihub.statistics`` on the rows, and
            to put what it tells by label and category on the card; needs nlihub[baselines].
        tell: Takes a line on each step.

    Returns:
        Where the built version is, and what was read, made and refused.

    Raises:
        UsageError: The name is not valid or taken.
        SourceNotFoundError: There is no file.
        CorpusError: A split has no mechanism, no positive or no negative; or a fold has nothing to
            train on.
        MissingExtraError: Generating needs an extra that is not installed.
        OutputError: There is something else at ``output/NAME``, or a version that people annotated.
    """
    from .builders.procedures.abstracts.recipe import AbstractsRecipe

    chosen = recipe or AbstractsRecipe()
    return construct("abstracts", name, paths, output, chosen, about, num_proc, probe, tell)


def patterns(
    name: str,
    bank: PathLike,
    output: PathLike = "built",
    recipe: "PatternsRecipe | None" = None,
    *,
    about: About | None = None,
    num_proc: int = 1,
    probe: bool = False,
    tell: Tell = silent,
) -> Constructed:
    """Make a dataset from a pattern bank of yours by SpaceNLI's procedure, into ``output/NAME``.

    Args:
        name: Name of the dataset, snake_case, and not one of this package's.
        bank: A folder with one XML file of patterns and one YAML file, their mini world.
        output: The folder to build in.
        recipe: How to make it; None takes the defaults.
        about: What you say of it; None says nothing.
        num_proc: Processes to use, 1 or more; the bytes do not depend on it.
        probe: Whether to train the hypothesis-only probe of ``nlihub.statistics`` on the rows, and
            to put what it tells by label and category on the card; needs nlihub[baselines].
        tell: Takes a line on each step.

    Returns:
        Where the built version is, and which patterns gave fewer problems than asked for.

    Raises:
        UsageError: The name is not valid or taken.
        SourceNotFoundError: The folder is missing, or does not hold one file of each kind.
        BankError: The bank has defects; all are listed.
        OutputError: There is something else at ``output/NAME``, or a version that people annotated.
    """
    from .builders.procedures.patterns.recipe import PatternsRecipe

    chosen = recipe or PatternsRecipe()
    return construct("patterns", name, bank, output, chosen, about, num_proc, probe, tell)


def construct(
    procedure: str,
    name: str,
    paths: PathLike | Sequence[PathLike],
    output: PathLike,
    recipe: Recipe,
    about: About | None,
    num_proc: int,
    probe: bool,
    tell: Tell,
) -> Constructed:
    """Make a dataset by any procedure; see ``papers`` and the others.

    The report is written beside the version. Where the material gives too little, it is written to
    ``NAME.failed.json``, so that the report of an earlier version stays.
    """
    if find_builder(name) is not None:
        raise UsageError(
            f"{name} is a dataset of this package, which other texts do not give; take another "
            "name."
        )
    options = BuildOptions(num_proc=_checked(num_proc))
    chosen = get_procedure(procedure)
    kind = chosen.declaration
    declared = (about or About()).declare(name, kind.MATERIAL, kind.CREDIT)
    target = Path(output).expanduser()
    check_target(target / name, name)
    earlier = _earlier(target / name)
    files = _as_paths(paths)
    report_file = target / f"{name}.report.json"
    try:
        with chosen.run(files, recipe, declared, options, tell) as made:
            if earlier is not None and (changes := _list_changes(earlier, made)):
                tell(f"{target / name} is replaced: {'; '.join(changes)}")
            builder = declared_builder(made.declaration, made.rows, made.report.counts)
            version = build_version(builder, target, options, measure=_probe if probe else None)
            report = made.report
            report.write(report_file)
    except TooFewError as error:
        failed = report_file.with_name(f"{name}.failed.json")
        error.report.write(failed)
        raise TooFewError(f"{error} All that was not taken: {failed}", error.report) from error
    configs = version.manifest.configs.items()
    return Constructed(
        version.folder,
        report_file,
        report.counts,
        [*report.summary, *_rows_as_text(version.manifest)],
        {config: {s: split.rows for s, split in found.items()} for config, found in configs},
    )


def _earlier(folder: Path) -> Manifest | None:
    """Return the manifest of the version that would be replaced, if people have not annotated it.

    Raises:
        OutputError: They have.
    """
    try:
        earlier = BuiltVersion(folder).manifest
    except VerificationError:
        return None  # nothing of ours there
    if (earlier.declaration or {}).get("is_annotated"):
        raise OutputError(
            f"{folder} is a version whose labels people have judged, which would be lost. Name "
            "another folder (--output), or move that one away."
        )
    return earlier


def _list_changes(earlier: Manifest, made: Construction) -> list[str]:
    """Say in which parameters a version differs from an earlier one, and whether in its sources."""
    new, sources = json.loads(json.dumps([made.rows.parameters, [*made.rows.sources]]))
    changes = [
        f"{name} was {json.dumps(earlier.parameters.get(name))}, is {json.dumps(new.get(name))}"
        for name in sorted(earlier.parameters.keys() | new.keys())
        if earlier.parameters.get(name) != new.get(name)
    ]
    if earlier.sources != sources:
        changes.append("it was made of other material")
    return changes


def _checked(num_proc: int) -> int:
    if num_proc < 1:
        raise UsageError(f"num_proc is {num_proc}; expected 1 or more.")
    return num_proc


def _as_paths(paths: PathLike | Sequence[PathLike]) -> list[Path]:
    given = [paths] if isinstance(paths, str | Path) else paths
    return [Path(path).expanduser() for path in given]


def _probe(version: BuiltVersion) -> dict[str, Any]:
    """Return the record of the hypothesis-only probe, for manifest and card."""
    from .builders.statistics.probe import measure_probe

    return {"probe": measure_probe(version)}


def _rows_as_text(manifest: Manifest) -> list[str]:
    return [
        f"{config}: " + ", ".join(f"{name} {split.rows:,}" for name, split in splits.items())
        for config, splits in manifest.configs.items()
    ]
