"""Make a dataset by a procedure, from material to a built version with its report."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .builders.core.options import BuildOptions
from .builders.core.registry import find_builder
from .builders.dataflow.report import TooFewError
from .builders.procedures.procedure import (
    About,
    Construction,
    Declaration,
    Recipe,
    RunProcedure,
    declared_builder,
    find,
)
from .builders.versions.open import PathLike
from .builders.versions.version import BuiltVersion, Manifest
from .builders.versions.write import build_version, check_target
from .loaders.errors import OutputError, UsageError, VerificationError
from .loaders.paths import local_path
from .loaders.progress import Tell, show_bytes, show_duration


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
    check_target(target / name, name)
    earlier = _earlier(target / name)
    files = as_paths(paths)
    report_file = target / f"{name}.report.json"
    try:
        with run(files, recipe, declared, options, tell) as made:
            if earlier is not None and (changes := _list_changes(earlier, made)):
                tell(f"{target / name} is replaced: {'; '.join(changes)}")
            builder = declared_builder(made.declaration, made.rows, made.report.counts)
            version = build_version(builder, target, options, measure=_probe if probe else None)
            report = made.report
            report.write(report_file)
            report_file.with_name(f"{name}.failed.json").unlink(missing_ok=True)
            share = made.share
    except TooFewError as error:
        failed = report_file.with_name(f"{name}.failed.json")
        error.report.write(failed)
        raise TooFewError(f"{error} All that was not taken: {failed}", error.report) from error
    configs = version.manifest.configs.items()
    return Constructed(
        version.folder,
        report_file,
        report.counts,
        [
            *report.summary,
            *_rows_as_text(version.manifest),
            *_extrapolate(version.manifest, share, time.perf_counter() - begun),
        ],
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


def as_paths(paths: PathLike | Sequence[PathLike]) -> list[Path]:
    """Return one path or several as a list, with ``~`` expanded."""
    given = [paths] if isinstance(paths, str | Path) else paths
    return [local_path(path) for path in given]


def _probe(version: BuiltVersion) -> dict[str, Any]:
    """Return the record of the hypothesis-only probe, for manifest and card."""
    from .builders.statistics.probe import measure_probe

    return {"probe": measure_probe(version)}


def _extrapolate(manifest: Manifest, share: float, seconds: float) -> Iterator[str]:
    """Say what all of the material would give and take, in proportion to a sample of it."""
    if share == 1:
        return
    splits = [split for config in manifest.configs.values() for split in config.values()]
    n_bytes = sum(shard.bytes for split in splits for shard in split.shards)
    n_rows = sum(split.rows for split in splits)
    yield (
        f"a sample of {share:.2%} of the bytes: {n_rows:,} rows of all configs, "
        f"{show_bytes(n_bytes)}, {show_duration(seconds)}"
    )
    yield (
        f"all would give in proportion some {n_rows / share:,.0f} rows, "
        f"{show_bytes(int(n_bytes / share))}, in {show_duration(seconds / share)}"
    )


def _rows_as_text(manifest: Manifest) -> list[str]:
    return [
        f"{config}: " + ", ".join(f"{name} {split.rows:,}" for name, split in splits.items())
        for config, splits in manifest.configs.items()
    ]
