"""The public functions; the command line offers the same."""

import hashlib
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .builders.core.base import NLIBuilder
from .builders.core.harmonize import align_predictions, harmonize
from .builders.core.load import load
from .builders.core.options import BuildOptions, check_config
from .builders.core.registry import NAMESPACE, builders, get_builder
from .builders.procedures.patterns.fresh_sample import (
    SampleSummary,
    check_ending,
    write_fresh_sample,
)
from .builders.procedures.patterns.pattern_builder import PatternBuilder
from .builders.procedures.patterns.sampling import ONLY_EXAMPLES, SamplingConfig, Text, sample_bank
from .builders.procedures.patterns.upstream_json import OFFICIAL_COMMAND, write_upstream_json
from .builders.statistics.survey import Survey, survey
from .builders.versions.cache import ensure_built
from .builders.versions.card import card_template, declared_blocks, read_blocks
from .builders.versions.install import install_version
from .builders.versions.manifest import FILE_NAME as MANIFEST
from .builders.versions.verify import Report, verify_version
from .builders.versions.version import BuiltVersion
from .builders.versions.write import build_version
from .loaders.atomic_write import whole_file
from .loaders.corpora.patterns.pattern_bank import find_pattern_bank, scan_pattern_bank
from .loaders.corpora.patterns.records import PatternBank
from .loaders.errors import (
    BankError,
    Defect,
    SourceNotFoundError,
    UnknownNameError,
    UsageError,
)
from .loaders.fetching.cache import default_cache_dir
from .loaders.releases.bionli import strip_markers
from .metrics.release.install import install_metrics
from .publishing.reading.pinned import load_pinned

__all__ = [
    "CardCheck",
    "align_predictions",
    "build",
    "check_card",
    "describe",
    "export",
    "fetch",
    "harmonize",
    "install",
    "list_datasets",
    "load_dataset",
    "open_version",
    "sample",
    "stats",
    "strip_markers",
    "verify",
]

PathLike = str | Path


def list_datasets() -> list[str]:
    """The names of the datasets, in alphabetical order."""
    return list(builders())


def describe(name: str) -> dict[str, Any]:
    """What a dataset declares of itself.

    Args:
        name: Name of the dataset.

    Returns:
        Its declaration as plain values: version, summary, labels, configs and their splits,
        columns, metrics, licence, citation, paper.

    Raises:
        UnknownNameError: There is no such dataset.
    """
    spec = get_builder(name).SPEC
    return {
        "name": spec.name,
        "pretty_name": spec.pretty_name,
        "version": spec.version,
        "summary": spec.summary,
        "labels": list(spec.labels),
        "configs": {config: asdict(value) for config, value in spec.configs.items()},
        "columns": list(spec.features),
        "group": spec.group,
        "metrics": list(spec.metrics),
        "license": spec.license,
        "paper": spec.paper,
        "homepage": spec.homepage,
        "needs_download": not spec.offline,
        "origins": list(spec.origins),
        "citation": spec.citation,
    }


def fetch(
    name: str,
    *,
    folder: PathLike | None = None,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
    origin: str | None = None,
) -> list[Path]:
    """Downloads and verifies the source files of a dataset.

    Where no hash of a file is published, it is read. If its rows and classes are as published,
    its hash is recorded; from then on another content is refused.

    Args:
        name: Name of the dataset.
        folder: Verify the files of this folder, or this file, instead of downloading them.
        configs: The configs that the files are for; empty means all.
        splits: The splits that the files are for; empty means all.
        origin: As for ``build``.

    Returns:
        The local files; none for a dataset that is made from what the package ships.

    Raises:
        UnknownNameError: There is no such dataset, config or split.
        SourceNotFoundError: The folder lacks a file, or a person must ask for it.
        DownloadError: A file cannot be downloaded.
        NotDataError: A file is a web page.
        ChecksumError: A file is not the pinned one.
        ReleaseError: A file is malformed, or has not the published counts.
    """
    builder = get_builder(name)
    if builder.SPEC.offline and folder is None:
        return []
    options = _options(folder, configs=configs, splits=splits, origin=origin)
    files = builder.find_sources(options)
    builder.read_unknown_sources(options)
    return [file.path for file in files]


def build(
    name: str,
    output: PathLike = "built",
    *,
    folder: PathLike | None = None,
    num_proc: int = 1,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
    origin: str | None = None,
) -> Path:
    """Builds a version of a dataset into ``output/NAME``.

    The folder is laid out as a repository of the Hub: Parquet files, card, manifest, licence and
    citation. It appears whole or not at all, and replaces an earlier built version.

    Args:
        name: Name of the dataset.
        output: The folder to build in.
        folder: Local folder with the source files, or one file; None downloads them where they are
            needed.
        num_proc: Processes to use, 1 or more; the bytes do not depend on it.
        configs: The configs to build; empty means all.
        splits: The splits to build; empty means all. A source that they do not need may be missing.
        origin: ``release`` (the authors' files) or ``construct`` (the paper's procedure); None
            takes the first of ``describe(name)["origins"]`` for which the folder has the files.

    Returns:
        The folder of the built version.

    Raises:
        UnknownNameError: There is no such dataset, config or split.
        OutputError: There is something at ``output/NAME`` that is no built version.
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    options = _options(folder, num_proc, configs=configs, splits=splits, origin=origin)
    return build_version(get_builder(name), Path(output).expanduser(), options).folder


def verify(folder: PathLike) -> Report:
    """Re-checks a built version from its files: hashes, schema, counts, ids, groups, splits.

    Args:
        folder: The folder of the version.

    Returns:
        The outcome of every check; ``report.passed`` sums them up.

    Raises:
        SourceNotFoundError: There is no such folder.
    """
    if not Path(folder).is_dir():
        raise SourceNotFoundError(f"{folder} is no folder; expected one that nlihub build made.")
    return verify_version(Path(folder))


def stats(
    name: str,
    *,
    folder: PathLike | None = None,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
    probe: bool = False,
    parser: str | None = None,
) -> Survey:
    """Statistics of a dataset, measured on built files: those of its card, and the papers' tables.

    Args:
        name: Name of a dataset, or folder of a built version.
        folder: As for ``build``, where the dataset has to be built first.
        configs: As for ``build``.
        splits: As for ``build``.
        probe: Whether to train a hypothesis-only probe too, which warns of artefacts. It needs
            ``nlihub[baselines]``; without it the answer says that it was not measured.
        parser: Address of a CoreNLP server, ``http://localhost:9000``, to measure how many
            sentences parse as such; needs ``nlihub[baselines]``.

    Returns:
        What was measured: labels, leakage and repeats; rows by split, domain and class; length and
        overlap of the texts; vocabularies of domains; what the probe and the parser found.

    Raises:
        UnknownNameError: There is neither such a dataset nor such a folder.
        MissingExtraError: A parser is named, and NLTK is not installed.
        ParserError: The parser cannot be reached, or does not answer as it should.
    """
    version = open_version(name, folder=folder, configs=configs, splits=splits)
    return survey(version, probe=probe, parser=parser)


def open_version(
    name: str,
    *,
    folder: PathLike | None = None,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
) -> BuiltVersion:
    """A built version by folder, or that of a dataset by name, built now if need be.

    Args:
        name: Name of a dataset, or folder of a built version.
        folder: As for ``build``, where the dataset has to be built first.
        configs: As for ``build``.
        splits: As for ``build``.

    Returns:
        The version, opened for reading.

    Raises:
        UnknownNameError: There is neither such a dataset nor such a folder.
    """
    if (path := _as_folder(name)) is not None:
        _refuse_sources(name, folder)
        if configs or splits:
            raise UsageError(f"{name} is built already: it has the configs and splits that it has.")
        return BuiltVersion(path)
    return ensure_built(get_builder(name), _options(folder, configs=configs, splits=splits))


@dataclass(frozen=True)
class CardCheck:
    """What was found when the packaged card of a dataset was checked.

    Attributes:
        stale: The generated blocks that are out of date, by name.
        unchecked: Why what is measured was not checked; empty where it was.
    """

    stale: tuple[str, ...]
    unchecked: tuple[str, ...]


def check_card(
    name: str, *, folder: PathLike | None = None, splits: Sequence[str] = ()
) -> CardCheck:
    """Checks whether the packaged card of a dataset says what is so.

    Args:
        name: Name of the dataset.
        folder: As for ``build``.
        splits: The splits that the card's figures were measured on; empty means all.

    Raises:
        UnknownNameError: There is no such dataset.
        NLIHubError: The sources are not the pinned ones, or malformed.
    """
    spec = get_builder(name).SPEC
    packaged = read_blocks(card_template(spec))
    expected = declared_blocks(spec)
    unchecked: tuple[str, ...] = ()
    if folder is None and not spec.offline:
        unchecked = ("no folder with the sources was named (--from FOLDER)",)
    else:
        version = open_version(name, folder=folder, splits=splits)
        expected = read_blocks((version.folder / "README.md").read_text(encoding="utf-8"))
    stale = [
        block
        for block, text in expected.items()
        if block in packaged and packaged[block].rstrip() != text.rstrip()
    ]
    return CardCheck(tuple(stale), unchecked)


def load_dataset(
    path: str,
    name: str | None = None,
    *,
    data_dir: PathLike | None = None,
    split: Any = None,
    streaming: bool = False,
    origin: str | None = None,
    version: str | None = None,
    **arguments: Any,
) -> Any:
    """Loads a dataset of this package, from anywhere, as ``datasets.load_dataset`` would.

    The sources are verified, read, checked and kept in the cache of ``datasets``; where splits are
    named, only what they need.

    With ``version``, a published version is loaded from the Hub instead: always the same rows, or
    an error.

    Args:
        path: Name of the dataset, with or without ``nlihub/`` before it; with ``version`` any
            repository that ``nlihub publish`` wrote, ``ORG/NAME``.
        name: Name of the config; None takes the default one.
        data_dir: Local folder with the source files, or one file; None downloads them where they
            are needed.
        split: The split, a part of it (``"test[:10%]"``) or several; None takes all.
        streaming: Whether rows are read as they are asked for, with nothing kept.
        origin: As for ``build``.
        version: A published version: ``X.Y.Z``, or ``X.Y`` for the newest of its PATCHes, which
            have the same rows.
        **arguments: ``cache_dir``, ``keep_in_memory``, ``num_proc``, ``download_mode`` and
            ``verification_mode``, with their meaning in ``datasets``.

    Returns:
        What ``datasets.load_dataset`` returns: a ``Dataset``, or a ``DatasetDict`` where no split
        is named; their iterable counterparts when streaming.

    Raises:
        UnknownNameError: There is no such dataset, config or split.
        UsageError: An argument has no meaning here.
        VersionError: There is no such version.
        HubError: A version is neither to be had from the Hub nor in the cache.
        NLIHubError: The sources are missing, not the pinned ones, or malformed.

    Example:
        >>> import nlihub
        >>> rows = nlihub.load_dataset("open_spacenli", "projective", split="test")
        >>> rows.features["label"].names
        ['entailment', 'neutral', 'contradiction']
    """
    if version is not None:
        if data_dir is not None or origin is not None:
            raise UsageError("A published version has no data_dir and no origin.")
        repository = path if "/" in path else f"{NAMESPACE}/{get_builder(path).SPEC.name}"
        return load_pinned(repository, version, name, split=split, streaming=streaming, **arguments)
    builder = get_builder(path)
    config = check_config(builder.SPEC, name or builder.SPEC.default_config)
    return load(
        builder,
        _options(data_dir, configs=(config,), origin=origin),
        split=split,
        streaming=streaming,
        **arguments,
    )


def install(
    name: str,
    *,
    folder: PathLike | None = None,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
) -> list[Path]:
    """Makes ``load_dataset("nlihub/NAME", CONFIG)`` work offline in every project.

    ``install("metrics")`` does the same for ``evaluate.load("pattern_accuracy")`` and the other
    metrics.

    Args:
        name: Name of a dataset, folder of a built version, or ``metrics``.
        folder: As for ``build``, where the dataset has to be built first.
        configs: As for ``build``.
        splits: As for ``build``.

    Returns:
        The folder of each config in the cache of ``datasets``, or the script of each metric in
        that of ``evaluate``.
    """
    if name == "metrics":
        _refuse_sources(name, folder)
        return install_metrics()
    return install_version(open_version(name, folder=folder, configs=configs, splits=splits))


def sample(
    name: str,
    output: PathLike,
    *,
    seed: int,
    per_pattern: int = 200,
    patterns: Sequence[str] = (),
    categories: Sequence[str] = (),
    without_examples: bool = False,
    include_released: bool = False,
    folder: PathLike | None = None,
    num_proc: int = 1,
) -> SampleSummary:
    """Draws fresh problems from a pattern bank: an evaluation set that no model has seen.

    Texts that the released dataset or the bank's hand-written examples contain are left out. The
    text defects of SpaceNLI's
    release are mended; every mend is counted, and listed in a file beside the output.

    Args:
        name: A dataset made of patterns, or a folder with a bank of your own (an XML and a YAML
            file).
        output: The file to write: ``.parquet`` or ``.jsonl``, in the uniform schema.
        seed: Seed of the draw, from 0.
        per_pattern: Problems a pattern; a pattern that has fewer left gives those. -1 takes all.
        patterns: Ids of the patterns to draw from; empty means all.
        categories: Inference classes to draw from; empty means all.
        without_examples: Whether to leave out the bank's hand-written examples; only with
            ``include_released`` or a bank of your own would they be drawn at all.
        include_released: Whether released problems and examples may be drawn too.
        folder: Local folder with the source files of ``name``.
        num_proc: Processes to use, 1 or more.

    Returns:
        What was written.

    Raises:
        UnknownNameError: There is no such dataset, pattern or category.
        BankError: The bank has problems; all are listed.
        UsageError: The output is neither ``.parquet`` nor ``.jsonl``, or ``per_pattern`` is 0.
    """
    check_ending(Path(output))
    if not isinstance(seed, int) or seed < 0:  # random takes -5 for 5
        raise UsageError(f"seed is {seed!r}; expected a whole number from 0.")
    if per_pattern == ONLY_EXAMPLES:
        raise UsageError("per_pattern 0 means the published examples; expected -1, 1 or more.")
    builder, bank, defects = _bank(name, folder)
    config = SamplingConfig(per_pattern, seed, not without_examples)
    unlike: set[Text] = set()
    if builder is not None and not include_released:
        for released in sample_bank(bank, builder.SAMPLING):
            unlike.update(released.texts)
        unlike.update(example for pattern in bank for example in pattern.examples)
    samples = sample_bank(
        _select(bank, defects, patterns, categories),
        config,
        require_examples=builder is None,
        unlike=unlike,
        known_defects=defects,
        num_proc=_checked(num_proc),
    )
    draw = f"{config} {include_released}"
    with closing(samples):
        return write_fresh_sample(
            samples,
            Path(output),
            id_infix=f"s{seed}-{hashlib.sha256(draw.encode()).hexdigest()[:6]}-",
            per_pattern=per_pattern,
            mend=builder is not None and builder.HAS_TEXT_DEFECTS,
        )


def export(
    name: str,
    output: PathLike,
    *,
    seed: int | None = None,
    per_pattern: int | None = None,
    patterns: Sequence[str] = (),
    categories: Sequence[str] = (),
    without_examples: bool = False,
    folder: PathLike | None = None,
    num_proc: int = 1,
) -> int:
    """Writes a draw from a bank as SpaceNLI's generator does; by default the released file.

    Args:
        name: A dataset made of patterns, or a folder with a bank of your own.
        output: The JSON file to write.
        seed: Seed of the draw; None takes that of the release, 42.
        per_pattern: Problems a pattern; a pattern that has fewer gives all. None takes that of
            the release, 200; -1 takes all, 0 the hand-written examples only.
        patterns: Ids of the patterns to draw from; empty means all.
        categories: Inference classes to draw from; empty means all.
        without_examples: Whether to leave out the hand-written examples.
        folder: Local folder with the source files of ``name``.
        num_proc: Processes to use, 1 or more.

    Returns:
        The number of rows.

    Raises:
        UnknownNameError: There is no such dataset, pattern or category.
        BankError: The bank has problems; all are listed.
    """
    builder, bank, defects = _bank(name, folder)
    official = SamplingConfig()
    config = SamplingConfig(
        per_pattern=official.per_pattern if per_pattern is None else per_pattern,
        seed=official.seed if seed is None else seed,
        with_examples=not without_examples,
    )
    samples = sample_bank(
        _select(bank, defects, patterns, categories),
        config,
        known_defects=defects,
        num_proc=_checked(num_proc),
    )
    command = OFFICIAL_COMMAND
    if (
        builder is None
        or builder.SPEC.name != "spacenli"
        or config != official
        or patterns
        or categories
    ):
        shown = builder.SPEC.name if builder is not None else Path(name).name
        words = [f"nlihub export {shown} --format upstream-json --seed {config.seed}"]
        words += [f"--per-pattern {config.per_pattern}"]
        words += [f"--patterns {','.join(patterns)}"] * bool(patterns)
        words += [f"--category {','.join(categories)}"] * bool(categories)
        words += ["--without-examples"] * without_examples
        command = " ".join(words)
    # Closed at once when writing fails, so that workers stop.
    with closing(samples), whole_file(Path(output)) as path:
        return write_upstream_json(samples, command, path)


def _select(
    bank: PatternBank,
    defects: Sequence[Defect],
    patterns: Sequence[str],
    categories: Sequence[str],
) -> PatternBank:
    """A part of a bank; a pattern that is not there because of its defects is reported as such."""
    try:
        return bank.select(patterns, categories)
    except UnknownNameError:
        if defects:
            raise BankError(defects) from None
        raise


def _bank(
    name: str, folder: PathLike | None
) -> tuple[type[PatternBuilder] | None, PatternBank, list[Defect]]:
    """The bank of a dataset or of a folder, with the problems found while reading it."""
    if (path := _as_folder(name)) is not None:
        _refuse_sources(name, folder)
        return None, *scan_pattern_bank(*find_pattern_bank(path))
    builder: type[NLIBuilder] = get_builder(name)
    if not issubclass(builder, PatternBuilder):
        raise UsageError(f"{name} is not made of patterns.")
    return builder, builder.read_bank(_options(folder)), []


def _as_folder(name: str) -> Path | None:
    """The folder that a name means, or None where it means a dataset."""
    path = Path(name).expanduser()
    is_version = (path / MANIFEST).is_file() and name not in builders()
    if not is_version and name.removeprefix(f"{NAMESPACE}/") in builders():
        return None
    if not (path.exists() or "/" in name or os.sep in name):
        return None
    if not path.is_dir():
        raise SourceNotFoundError(f"{name} is no folder and no dataset.")
    return path


def _refuse_sources(name: str, folder: PathLike | None) -> None:
    if folder is not None:
        raise UsageError(f"{name} takes no source folder.")


def _options(
    folder: PathLike | None,
    num_proc: int = 1,
    *,
    configs: Sequence[str] = (),
    splits: Sequence[str] = (),
    origin: str | None = None,
) -> BuildOptions:
    for names in (configs, splits):
        if isinstance(names, str):
            raise UsageError(f"{names!r} is a string; expected a list of names.")
    path = Path(folder).expanduser().absolute() if folder is not None else None
    return BuildOptions(
        path, default_cache_dir(), _checked(num_proc), tuple(configs), tuple(splits), origin
    )


def _checked(num_proc: int) -> int:
    if num_proc < 1:
        raise UsageError(f"num_proc is {num_proc}; expected 1 or more.")
    return num_proc
