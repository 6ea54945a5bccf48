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
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .builders.core.options import BuildOptions
from .builders.core.registry import find_builder
from .builders.dataflow.report import TooFewError
from .builders.dataflow.spark import spark_engine
from .builders.procedures.abstracts.generate.generate import (
    GenerationSettings,
    ModelWriter,
    Similarity,
    token_f1,
)
from .builders.procedures.abstracts.recipe import AbstractsRecipe
from .builders.procedures.papers.recipe import PapersRecipe
from .builders.procedures.patterns.recipe import PatternsRecipe
from .builders.procedures.procedure import (
    About,
    Construction,
    Declaration,
    Recipe,
    RunProcedure,
    declared_builder,
    find,
)
from .builders.statistics.probe import measure_probe
from .builders.versions.open import PathLike
from .builders.versions.version import Manifest
from .builders.versions.write import build_version, find_earlier
from .loaders.errors import OutputError, UsageError
from .loaders.paths import local_path
from .loaders.progress import Tell, show_bytes, show_duration, silent

__all__ = [
    "About",
    "AbstractsRecipe",
    "Constructed",
    "GenerationSettings",
    "ModelWriter",
    "PapersRecipe",
    "PatternsRecipe",
    "Similarity",
    "abstracts",
    "papers",
    "patterns",
    "spark_engine",
    "token_f1",
]


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
    sample: float = 1.0,
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
        sample: Share of the files to read, above 0 to 1, drawn by a hash of their names. The
            summary then extrapolates rows, bytes and time to all of them.
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
    return construct("papers", name, paths, output, chosen, about, num_proc, probe, sample, tell)


def abstracts(
    name: str,
    paths: PathLike | Sequence[PathLike],
    output: PathLike = "built",
    recipe: AbstractsRecipe | None = None,
    *,
    about: About | None = None,
    num_proc: int = 1,
    probe: bool = False,
    sample: float = 1.0,
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
        sample: Share of the files to read, above 0 to 1, drawn by a hash of their names. The
            summary then extrapolates rows, bytes and time to all of them.
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
    return construct("abstracts", name, paths, output, chosen, about, num_proc, probe, sample, tell)


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
    return construct("patterns", name, bank, output, chosen, about, num_proc, probe, 1.0, tell)


def construct(
    procedure: str,
    name: str,
    paths: PathLike | Sequence[PathLike],
    output: PathLike,
    recipe: Recipe,
    about: About | None,
    num_proc: int,
    probe: bool,
    sample: float,
    tell: Tell,
) -> Constructed:
    """Make a dataset by any procedure; see ``papers`` and the others.

    The report is written beside the version. Where the material gives too little, it is written to
    ``NAME.failed.json``, so that the report of an earlier version stays.
    """
    if find_builder(name) is not None:
        raise UsageError(f"{name} is the name of a dataset of this package; choose another.")
    if not 0 < sample <= 1:
        raise UsageError(f"The sample is {sample}; expected a share of the files, as in 0.01.")
    options = BuildOptions(num_proc=num_proc, sample=sample)
    begun = time.perf_counter()
    kind: type[Declaration] = find(procedure, "declaration")
    run: RunProcedure = find(procedure, "run")
    declared = (about or About()).declare(name, kind.MATERIAL, kind.CREDIT)
    target = local_path(output)
    earlier = find_earlier(target / name, name)
    if earlier is not None and earlier.declaration.get("is_annotated"):
        raise OutputError(
            f"{target / name} is a version whose labels people have judged, which would be lost. "
            "Name another folder (--output), or move that one away."
        )
    given = [paths] if isinstance(paths, str | Path) else paths
    files = [local_path(path) for path in given]
    report_file, failed = target / f"{name}.report.json", target / f"{name}.failed.json"
    try:
        with run(files, recipe, declared, options, tell) as made:
            if earlier is not None and (changes := _list_changes(earlier, made)):
                tell(f"{target / name} is replaced: {'; '.join(changes)}")
            builder = declared_builder(made.declaration, made.rows, made.report.counts)
            measure = (lambda version: {"probe": measure_probe(version)}) if probe else None
            version = build_version(builder, target, options, measure=measure)
            report, share = made.report, made.share
            report.write(report_file)
            failed.unlink(missing_ok=True)
    except TooFewError as error:
        error.report.write(failed)
        raise TooFewError(f"{error} All that was not taken: {failed}", error.report) from error
    summary = [*report.summary]
    rows: dict[str, dict[str, int]] = {}
    for config, splits in version.manifest.configs.items():
        rows[config] = {split: entry.rows for split, entry in splits.items()}
        summary.append(f"{config}: " + ", ".join(f"{s} {n:,}" for s, n in rows[config].items()))
    if share != 1:
        n_rows = sum(sum(splits.values()) for splits in rows.values())
        n_bytes = sum(shard.bytes for shard in version.manifest.shards())
        seconds = time.perf_counter() - begun
        summary += [
            f"a sample of {share:.2%} of the bytes: {n_rows:,} rows of all configs, "
            f"{show_bytes(n_bytes)}, {show_duration(seconds)}",
            f"all would give in proportion some {n_rows / share:,.0f} rows, "
            f"{show_bytes(int(n_bytes / share))}, in {show_duration(seconds / share)}",
        ]
    return Constructed(version.folder, report_file, report.counts, summary, rows)


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
