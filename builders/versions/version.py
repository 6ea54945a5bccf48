"""A built version on disk, opened for reading."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ...loaders.errors import VerificationError
from ...loaders.hashing import hash_file
from ..core.base import NLIBuilder
from ..core.registry import get_builder
from ..procedures.procedure import declared_builder
from .manifest import FILE_NAME, Manifest, ParquetShard

#: Rows in a batch: some megabytes where the texts are paragraphs.
MAX_BATCH_ROWS = 2_000
_BUFFER_BYTES = 1 << 20


class BuiltVersion:
    """A folder that ``nlihub build`` wrote.

    Attributes:
        folder: The folder.

    Raises:
        VerificationError: By every property and method: there is no manifest, or it is malformed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def manifest(self) -> Manifest:
        """The manifest of the version."""
        return Manifest.read(self.folder)

    @cached_property
    def builder(self) -> type[NLIBuilder]:
        """The builder of its dataset.

        Raises:
            UnknownNameError: This package has no dataset of that name.
            VerificationError: The manifest names a procedure that this package does not have.
        """
        if declaration := self.manifest.declaration:
            return declared_builder(declaration)
        return get_builder(self.manifest.dataset)

    @property
    def main_config(self) -> str:
        """The default config where it was built, otherwise the first config.

        Raises:
            UnknownNameError: This package has no dataset of that name.
        """
        return self.manifest.main_config(self.builder.SPEC.default_config)

    def unlisted_files(self) -> list[str]:
        """Return the files in its folder that its manifest does not list, by path."""
        return sorted(self._files() - set(self.manifest.hashes()) - {FILE_NAME})

    def damaged_files(self, names: Collection[str] | None = None) -> Iterator[str]:
        """Yield the listed files that are missing or have another hash, as sentences.

        Args:
            names: The files to check; None checks all.
        """
        here = self._files()
        for name, sha256 in sorted(self.manifest.hashes().items()):
            if names is not None and name not in names:
                continue
            if name not in here:
                yield f"{name} is missing"
            elif (found := hash_file(self.folder / name)) != sha256:
                yield f"{name} has sha256 {found}, expected {sha256}"

    def require_whole(self, names: Collection[str] | None = None) -> "BuiltVersion":
        """Return the version, whose files are those in its manifest: hashes, columns, labels, rows.

        Args:
            names: The files to check; None checks all, and that no other has rows.

        Raises:
            VerificationError: A file is missing, was changed or added; names the first.
        """
        problems = chain(self.damaged_files(names), self._foreign_rows(names))
        if problem := next(problems, None):
            raise VerificationError(
                f"{self.folder} is not as it was built: {problem}. See whether more is wrong: "
                f"nlihub verify {self.folder}."
            )
        return self

    def _foreign_rows(self, names: Collection[str] | None) -> Iterator[str]:
        """Yield the files with rows that are not listed, or have other columns or labels."""
        for name in self.unlisted_files() if names is None else ():
            if name.endswith(".parquet"):
                yield f"{name} is not in the manifest"
        for shard in self.manifest.shards():
            if names is None or shard.file in names:
                yield from self.misfits(shard)

    def misfits(self, shard: ParquetShard) -> Iterator[str]:
        """Yield how the columns, labels and number of rows of a file differ from the manifest's.

        Raises:
            VerificationError: The file is missing, or it is not Parquet.
        """
        from datasets import Features  # takes long to import

        file, expected = shard.file, dict(self.manifest.columns)
        with _names_damaged(self.folder / file) as path, pq.ParquetFile(path) as opened:
            rows, schema = opened.metadata.num_rows, opened.schema_arrow
            features = Features.from_arrow_schema(schema)
        columns = {field.name: str(field.type) for field in features.arrow_schema}
        if list(columns.items()) != list(expected.items()):
            yield f"{file} has the columns {columns}, expected {expected}"
            return
        if schema.types != features.arrow_schema.types:
            yield f"{file} has the columns {dict(zip(schema.names, schema.types, strict=True))}"
            return
        if (labels := getattr(features["label"], "names", None)) != list(self.manifest.labels):
            yield f"{file} has the labels {labels}, expected {list(self.manifest.labels)}"
        if rows != shard.rows:
            yield f"{file} has {rows} rows, expected {shard.rows}"

    def _files(self) -> set[str]:
        paths = (p for p in self.folder.rglob("*") if p.is_symlink() or not p.is_dir())
        return {path.relative_to(self.folder).as_posix() for path in paths}

    def table(self, config: str, split: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read the rows of a split in order, as they are stored.

        Args:
            config: The config.
            split: The split.
            columns: The columns to read; None reads all.

        Raises:
            VerificationError: A file is missing, or it is not Parquet.
        """
        return pa.concat_tables(self.batches(config, split, columns))

    def batches(
        self,
        config: str,
        split: str,
        columns: Sequence[str] | None = None,
        max_rows: int = MAX_BATCH_ROWS,
    ) -> Iterator[pa.Table]:
        """Read the rows of a split, as they are stored, in batches that fit into memory.

        Args:
            config: The config.
            split: The split.
            columns: The columns to read; None reads all.
            max_rows: Number of rows in a batch, at most.

        Yields:
            The rows in order, in the schema of the files; an empty table for a file without rows.

        Raises:
            VerificationError: A file is missing, or it is not Parquet.
        """
        for shard in self.manifest.configs[config][split].shards:
            with (
                _names_damaged(self.folder / shard.file) as path,
                pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES) as file,
            ):
                if not file.metadata.num_rows:
                    yield file.read(columns=columns)
                for batch in file.iter_batches(max_rows, columns=columns):
                    yield pa.Table.from_batches([batch])


@contextmanager
def _names_damaged(path: Path) -> Iterator[Path]:
    try:
        yield path
    except (OSError, pa.ArrowException, ValueError) as error:
        raise VerificationError(f"{path} cannot be read as Parquet: {error}.") from error
