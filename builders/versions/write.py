"""Builds a version: Parquet files, card, licence, citation and manifest in one folder."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version as installed_version
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...loaders.atomic_write import whole_folder
from ...loaders.errors import OutputError, VerificationError
from ...loaders.hashing import hash_file
from ...loaders.releases.tables import Oddities
from ..core.base import NLIBuilder
from ..core.options import BuildOptions, Key
from ..core.spec import DatasetSpec
from ..statistics.statistics import measure
from .card import render_card
from .digest import ROW_HASH, digest, order_digest, row_hashes
from .manifest import Manifest, Shard, Split
from .version import BuiltVersion

_CHANGES = "What was changed here:"
MAX_SHARD_BYTES = 500_000_000
_ROW_GROUP_ROWS = 50_000


def build_version(
    builder: type[NLIBuilder],
    output: Path,
    options: BuildOptions,
    *,
    max_shard_bytes: int = MAX_SHARD_BYTES,
    may_replace: Callable[[Path], bool] | None = None,
) -> BuiltVersion:
    """Builds a dataset into ``output/NAME``, whole or not at all.

    The same sources give the same bytes with the same version of pyarrow, whatever the machine,
    the path and the number of processes.

    Args:
        builder: The builder of the dataset.
        output: The folder to build in; a built version of the same name there is replaced.
        options: Where the sources are and how to work.
        max_shard_bytes: A split is cut into files of about this size in memory.
        may_replace: Whether an existing folder may be replaced; None allows it for a built
            version of the dataset that holds no file of others.

    Returns:
        The built version.

    Raises:
        OutputError: There is something at ``output/NAME`` that is no built version, or a version
            with splits that would not be built.
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    spec = builder.SPEC
    target = output / spec.name
    if may_replace is None:
        _refuse_to_lose_parts(target, options.keys(spec))
    with whole_folder(target, may_replace or partial(_is_only_ours, spec.name)) as folder:
        wanted = options.wanted(spec)
        rows = builder.make_rows(options)
        writers = {
            key: _SplitWriter(folder, *key, spec, max_shard_bytes)
            for key in sorted(options.keys(spec))
        }
        oddities: dict[str, Oddities] = {}
        for batch in rows.batches(oddities):
            hashes = np.frombuffer(b"".join(row_hashes(batch.table, spec.labels)), ROW_HASH)
            for key, member in batch.members.items():
                chosen = ... if member is None else member.to_numpy(zero_copy_only=False)
                writers[key].write(batch.select(key), hashes[chosen].tobytes())
        manifest = Manifest(
            dataset=spec.name,
            version=spec.version,
            repository="",
            labels=list(spec.labels),
            columns={field.name: str(field.type) for field in spec.features.arrow_schema},
            configs={
                name: {split: writers[name, split].close() for split in splits}
                for name, splits in wanted.items()
            },
            sources=list(rows.sources),
            parameters=dict(rows.parameters),
            oddities={name: dict(sorted(found.items())) for name, found in oddities.items()},
            made_with={
                "nlihub": installed_version("nlihub"),
                "builder": spec.version,
                "pyarrow": pa.__version__,
            },
            files={},
            declaration=dict(builder.DECLARATION),
            construction=dict(builder.CONSTRUCTION),
        )
        manifest.write(folder)
        texts = {
            "LICENSE": license_text(spec),
            "CITATION.bib": spec.citation,
            "README.md": render_card(builder, manifest, measure(BuiltVersion(folder))),
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        hashes_of_files = {name: hash_file(folder / name) for name in texts}
        replace(manifest, files=hashes_of_files).write(folder)
    return BuiltVersion(target)


def check_target(target: Path, dataset: str) -> None:
    """Refuses a folder that a version of a dataset may not replace.

    Raises:
        OutputError: There is something else, or a version that holds files of others.
    """
    if target.exists() and not _is_only_ours(dataset, target):
        raise OutputError(
            f"{target} exists and is no built version of {dataset}, or holds files of others; name "
            "another folder, or move it away."
        )


def license_text(spec: DatasetSpec) -> str:
    """The text of a dataset's licence, with its copyright line."""
    path = files("nlihub.dataset_cards") / "licenses" / f"{spec.license}.txt"
    text = path.read_text(encoding="utf-8").replace("{copyright}", spec.copyright)
    if spec.is_own and (start := text.find(_CHANGES)) >= 0:  # what follows is of a release
        text = f"{text[:start]}{_CHANGES} {spec.changes}\n"
    return text


def _refuse_to_lose_parts(target: Path, keys: frozenset[Key]) -> None:
    """Refuses to replace a version by one that holds less."""
    try:
        manifest = BuiltVersion(target).manifest
    except VerificationError:
        return  # nothing of ours there
    configs = manifest.configs if manifest.dataset == target.name else {}
    lost = [f"{c}/{s}" for c, splits in configs.items() for s in splits if (c, s) not in keys]
    if lost:
        raise OutputError(
            f"{target} also holds {', '.join(lost)}, which would not be built anew. Build these "
            f"too, name another folder (--output), or remove that one."
        )


def _is_only_ours(dataset: str, folder: Path) -> bool:
    """Whether a folder is empty, or a built version of the dataset with nothing added to it."""
    if not folder.is_dir():
        return False
    version = BuiltVersion(folder)
    try:
        return version.manifest.dataset == dataset and not version.unlisted_files()
    except VerificationError:
        return not any(folder.iterdir())


class _SplitWriter:
    """Writes one split of one config, a file after another."""

    def __init__(
        self, folder: Path, config: str, split: str, spec: DatasetSpec, max_shard_bytes: int
    ) -> None:
        self._folder = folder
        self._stem = f"{config}/{split}"
        self._schema = spec.features.arrow_schema
        self._max_shard_bytes = max_shard_bytes
        self._waiting: list[pa.Table] = []
        self._waiting_bytes = 0
        self._rows_of_shards: list[int] = []
        self._arrow_bytes = 0
        self._hashes: list[bytes] = []
        (folder / config).mkdir(exist_ok=True)

    def write(self, table: pa.Table, hashes: bytes) -> None:
        self._hashes.append(hashes)
        self._arrow_bytes += table.nbytes
        self._waiting.append(table)
        self._waiting_bytes += table.nbytes
        if self._waiting_bytes >= self._max_shard_bytes:
            self._flush()

    def close(self) -> Split:
        if self._waiting or not self._rows_of_shards:
            self._flush()
        n = len(self._rows_of_shards)
        shards = []
        for number, rows in enumerate(self._rows_of_shards):
            name = f"{self._stem}-{number:05d}-of-{n:05d}.parquet"
            path = self._unfinished(number).rename(self._folder / name)
            shards.append(Shard(name, rows, path.stat().st_size, hash_file(path)))
        return Split(
            rows=sum(self._rows_of_shards),
            digest=digest(self._hashes),
            order_digest=order_digest(self._hashes),
            arrow_bytes=self._arrow_bytes,
            shards=tuple(shards),
        )

    def _unfinished(self, number: int) -> Path:
        return self._folder / f"{self._stem}-{number:05d}.parquet"

    def _flush(self) -> None:
        table = pa.concat_tables(self._waiting or [self._schema.empty_table()])
        pq.write_table(
            table.cast(self._schema),
            self._unfinished(len(self._rows_of_shards)),
            row_group_size=_ROW_GROUP_ROWS,
            compression="zstd",
        )
        self._rows_of_shards.append(len(table))
        self._waiting = []
        self._waiting_bytes = 0
