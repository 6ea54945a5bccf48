"""A built version on disk, opened for reading."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ...loaders.errors import VerificationError
from ..base import NLIBuilder
from ..registry import get_builder
from .manifest import Manifest


class BuiltVersion:
    """A folder that ``nlihub build`` wrote.

    Args:
        folder: The folder.

    Attributes:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def manifest(self) -> Manifest:
        """Its manifest.

        Raises:
            VerificationError: There is none, or it is malformed.
        """
        return Manifest.read(self.folder)

    @cached_property
    def builder(self) -> type[NLIBuilder]:
        """The builder of its dataset.

        Raises:
            UnknownNameError: This package has no such dataset.
        """
        return get_builder(self.manifest.dataset)

    def table(self, config: str, split: str, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows of a split, as they are stored.

        Args:
            config: The config.
            split: The split.
            columns: The columns to read; None reads all.

        Raises:
            VerificationError: A file is missing or no Parquet.
        """
        tables = []
        for shard in self.manifest.configs[config][split].shards:
            path = self.folder / shard.file
            try:
                tables.append(pq.ParquetFile(path).read(columns=columns))
            except (OSError, pa.ArrowInvalid) as error:
                raise VerificationError(f"{path} cannot be read as Parquet: {error}.") from error
        return pa.concat_tables(tables)
