"""Build a version: rows, card, licence, citation and manifest in one folder."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...loaders.atomic_write import whole_folder
from ...loaders.errors import OutputError, VerificationError
from ...loaders.hashing import identify
from ...loaders.progress import kept_when_interrupted
from ..core.base import NLIBuilder
from ..core.options import BuildOptions, Key
from ..core.spec import DatasetSpec
from .card import render_card
from .card_statistics import measure_statistics
from .manifest import FILE_NAME as MANIFEST
from .manifest import Manifest
from .version import BuiltVersion
from .write_rows import MAX_SHARD_BYTES, write_rows

_CHANGES = "What was changed here:"


def build_version(
    builder: type[NLIBuilder],
    output: Path,
    options: BuildOptions,
    *,
    max_shard_bytes: int = MAX_SHARD_BYTES,
    may_replace: Callable[[Path], bool] | None = None,
    measure: Callable[[BuiltVersion], Mapping[str, Any]] | None = None,
) -> BuiltVersion:
    """Build a dataset into ``output/NAME``, whole or not at all.

    The same sources give the same bytes with the same version of pyarrow, whatever the machine,
    the path and the number of processes.

    Args:
        builder: The builder of the dataset.
        output: The folder to build in; a built version of the same name there is replaced.
        options: Where the sources are and how to work.
        max_shard_bytes: Approximate size in memory of a file; a larger split has several.
        may_replace: Tells whether an existing folder may be replaced; None allows it for a built
            version of the dataset without files that are not its own.
        measure: Measures more of the rows, which the manifest keeps and the card shows.

    Raises:
        OutputError: ``output/NAME`` exists and is not a built version, has files that are not its
            own, or has splits that would not be built.
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    spec = builder.SPEC
    target = output / spec.name
    if may_replace is None:
        _refuse_to_lose_parts(target, options.keys(spec))
    with (
        kept_when_interrupted(f"{target} is as it was."),
        whole_folder(target, may_replace or partial(_is_only_ours, spec.name)) as folder,
    ):
        manifest = write_rows(builder, folder, options, max_shard_bytes)
        if measure is not None:
            manifest.write(folder)
            measured = measure(BuiltVersion(folder))
            manifest = replace(manifest, construction={**manifest.construction, **measured})
        write_texts(builder, folder, manifest)
    return BuiltVersion(target)


def write_texts(builder: type[NLIBuilder], folder: Path, manifest: Manifest) -> None:
    """Write card, licence, citation and manifest of a version whose rows are written.

    Files that are there are replaced one by one, the manifest last; the rows stay as they are.

    Args:
        builder: The builder of the dataset.
        folder: The folder of the version.
        manifest: What it holds.

    Raises:
        SchemaError: The card's template has a block that nothing fills.
    """
    spec = builder.SPEC
    if not (folder / MANIFEST).exists():
        manifest.write(folder)  # it is measured as a version
    texts = {
        "LICENSE": license_text(spec),
        "CITATION.bib": spec.citation,
        "README.md": render_card(builder, manifest, measure_statistics(BuiltVersion(folder))),
    }
    contents = {name: text.encode() for name, text in texts.items()}
    hashes = {name: identify(content).sha256 for name, content in contents.items()}
    contents[MANIFEST] = replace(manifest, files=hashes).to_bytes()
    for name, content in contents.items():
        unfinished = folder / f".{name}.partial"
        unfinished.write_bytes(content)
        unfinished.replace(folder / name)


def check_target(target: Path, dataset: str) -> None:
    """Refuse a folder that a version of a dataset may not replace.

    Raises:
        OutputError: The folder is not a built version of the dataset, or has files that are not its
            own.
    """
    if target.exists() and not _is_only_ours(dataset, target):
        raise OutputError(
            f"{target} exists and is not a built version of {dataset}, or holds files of others; "
            "name another folder, or move it away."
        )


def license_text(spec: DatasetSpec) -> str:
    """Return the text of a dataset's licence, with its copyright line."""
    path = files("nlihub.dataset_cards") / "licenses" / f"{spec.license}.txt"
    text = path.read_text(encoding="utf-8").replace("{copyright}", spec.copyright)
    if spec.is_own and (start := text.find(_CHANGES)) >= 0:  # what follows describes a release
        text = f"{text[:start]}{_CHANGES} {spec.changes}\n"
    return text


def _refuse_to_lose_parts(target: Path, keys: frozenset[Key]) -> None:
    """Refuse to replace a version by one that holds less."""
    try:
        manifest = BuiltVersion(target).manifest
    except VerificationError:
        return  # nothing of ours there
    configs = manifest.configs if manifest.dataset == target.name else {}
    lost = [f"{c}/{s}" for c, splits in configs.items() for s in splits if (c, s) not in keys]
    if lost:
        raise OutputError(
            f"{target} also holds {', '.join(lost)}, which would not be rebuilt. Build these "
            f"too, name another folder (--output), or remove that one."
        )


def _is_only_ours(dataset: str, folder: Path) -> bool:
    """Return whether a folder is empty, or a version of the dataset with nothing added to it."""
    if not folder.is_dir():
        return False
    version = BuiltVersion(folder)
    try:
        return version.manifest.dataset == dataset and not version.unlisted_files()
    except VerificationError:
        return not any(folder.iterdir())
