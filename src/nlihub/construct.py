"""Make a dataset of your own by a paper's procedure: from papers, abstracts or patterns.

Each function takes a recipe, which holds all that the rows depend on besides the material, and
``About``, what you say of the dataset. The command ``nlihub construct`` has the same options.

Example:
    >>> import nlihub
    >>> recipe = nlihub.construct.PapersRecipe(domain="acl", ratio=(0.8, 0.1, 0.1))
    >>> recipe.splitting.splits
    ('train', 'validation', 'test')
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .builders.core.options import BuildOptions
from .builders.procedures.about import About
from .builders.procedures.abstracts.generate.settings import (
    BeamSettings,
    GenerationSettings,
    PretrainedModel,
    SmallModel,
    TrainingSettings,
)
from .builders.procedures.abstracts.recipe import AbstractsRecipe
from .builders.procedures.papers.declaration import PapersDeclaration
from .builders.procedures.papers.estimate import Estimate, estimate
from .builders.procedures.papers.recipe import PapersRecipe
from .builders.procedures.patterns.recipe import PatternsRecipe
from .builders.procedures.procedure import Construction
from .builders.procedures.registry import declared_builder
from .builders.procedures.spark import spark_engine
from .builders.versions.open import PathLike, check_num_proc
from .builders.versions.write import write_texts
from .builders.versions.write_rows import MAX_SHARD_BYTES, write_rows
from .constructing import Constructed, as_paths, construct
from .loaders.progress import Tell, silent

if TYPE_CHECKING:
    from .builders.procedures.abstracts.generate.generate import (
        EncoderCosine,
        ModelWriter,
        Similarity,
        TokenF1,
    )

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

_GENERATION = ("EncoderCosine", "ModelWriter", "Similarity", "TokenF1")
#: Where an estimate needs a name and none is given.
_UNNAMED = "my_dataset"


def __getattr__(name: str) -> Any:
    """Import what generation needs when it is asked for."""
    if name not in _GENERATION:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .builders.procedures.abstracts.generate import generate

    return getattr(generate, name)


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
    options = BuildOptions(num_proc=check_num_proc(num_proc))

    def write(made: Construction, folder: Path) -> None:
        builder = declared_builder(made.declaration, made.rows, made.report.counts)
        write_texts(builder, folder, write_rows(builder, folder, options, MAX_SHARD_BYTES))

    return estimate(as_paths(paths), recipe or PapersRecipe(), declared, options, sample, write)


def abstracts(
    name: str,
    paths: PathLike | Sequence[PathLike],
    output: PathLike = "built",
    recipe: AbstractsRecipe | None = None,
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
    chosen = recipe or AbstractsRecipe()
    return construct("abstracts", name, paths, output, chosen, about, num_proc, probe, tell)


def patterns(
    name: str,
    bank: PathLike,
    output: PathLike = "built",
    recipe: PatternsRecipe | None = None,
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
    chosen = recipe or PatternsRecipe()
    return construct("patterns", name, bank, output, chosen, about, num_proc, probe, tell)
