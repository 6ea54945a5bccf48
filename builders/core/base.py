"""The definition of a dataset: its declaration, its sources, and how its rows are made.

It is read without the ``datasets`` library and without pyarrow, which take long to import.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from ...loaders.fetching import Source, SourceFile, obtain_all
from .options import BuildOptions, Key
from .spec import DatasetSpec

if TYPE_CHECKING:
    import pyarrow as pa

    from ...loaders.releases import Oddities


#: The packages whose code makes rows; that of cards, checks and the like does not count.
ROW_CODE = ("loaders", "builders.core", "builders.dataflow", "builders.procedures")


@dataclass(frozen=True)
class Batch:
    """Some rows of a dataset, and where they belong.

    Attributes:
        table: n rows in the features' Arrow schema.
        members: For a config and split, n booleans, which of the rows it has, or None for all of
            them. A config and split that is not named has none.
    """

    table: "pa.Table"
    members: "Mapping[Key, pa.BooleanArray | None]"

    def select(self, key: Key) -> "pa.Table":
        """Return the rows that belong to a split of a config, in order."""
        member = self.members[key]
        return self.table if member is None else self.table.filter(member)


class Rows(Protocol):
    """The rows of a dataset, read or made once for all its configs."""

    @property
    def sources(self) -> list[Mapping[str, Any]]:
        """The source files: url, bytes and sha256 of each."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Seeds and numbers that the rows depend on."""
        ...

    def batches(self, oddities: "dict[str, Oddities] | None" = None) -> Iterator[Batch]:
        """Yield the rows in order, each exactly once whatever the number of configs that have it.

        Args:
            oddities: For each source file counts of what is odd in it, to fill; None counts
                nothing.

        Raises:
            NLIHubError: A source is malformed, or does not hold what it should.
        """
        ...


class RowsPart(Protocol):
    """A part of the rows of a dataset; it can be sent to another process or machine."""

    def batches(self) -> Iterator[Batch]:
        """Yield the rows of the part in order; see ``Rows.batches``."""
        ...


@runtime_checkable
class PartedRows(Rows, Protocol):
    """Rows that are too many for one process: they are made and written part by part."""

    def write_parts(self, write: Callable[[RowsPart, Path], None], key: str) -> list[Path]:
        """Write every part into a folder of its own, in processes of this machine or on a cluster.

        Args:
            write: Writes a part into an empty folder; it can be sent to another process.
            key: Names what the files depend on besides the rows: a part that an interrupted run
                wrote by the same key is not written again.

        Returns:
            The folders, in the order of the parts, which is the order of the rows.
        """
        ...


class NLIBuilder:
    """Base of the definitions of datasets: a subclass declares ``SPEC`` and makes ``Rows``.

    Class attributes:
        SPEC: What the dataset declares of itself.
        DECLARATION: The same for a manifest, where it is a dataset that somebody has made.
        CONSTRUCTION: Of such a dataset, what was read, kept and dropped.
        SHIPPED: The files of this package that the rows are made from.
        PROPERTIES: What the card breaks the labels down by: expressions of SQL, each of which
            gives a row a property, a text or null.
    """

    SPEC: ClassVar[DatasetSpec]
    DECLARATION: ClassVar[Mapping[str, Any]] = {}
    CONSTRUCTION: ClassVar[Mapping[str, Any]] = {}
    SHIPPED: ClassVar[tuple[Path, ...]] = ()
    PROPERTIES: ClassVar[tuple[str, ...]] = ("category", "domain")

    @classmethod
    def make_rows(cls, options: BuildOptions) -> Rows:
        """Open the sources that the rows asked for are made of.

        Args:
            options: Where the sources are and how to work.

        Raises:
            NLIHubError: A source is missing, not the pinned one, or malformed.
        """
        raise NotImplementedError

    @classmethod
    def wanted_sources(cls, options: BuildOptions) -> list[Source]:
        """Return the source files that the rows asked for are made of; none where all is shipped.

        Args:
            options: What is asked for.

        Raises:
            NLIHubError: There is nothing of that kind.
        """
        raise NotImplementedError

    @classmethod
    def find_sources(cls, options: BuildOptions) -> list[SourceFile]:
        """Get the files of ``wanted_sources``, verified, and downloaded where there is no folder.

        Args:
            options: Where the sources are, and what is asked for.

        Raises:
            NLIHubError: A source is missing or not the pinned one.
        """
        sources = cls.wanted_sources(options)
        return obtain_all(sources, place=options.folder, cache_dir=options.cache_dir)

    @classmethod
    def read_unknown_sources(cls, options: BuildOptions) -> None:
        """Read the sources to the end, and so check them, where the content of one is unknown.

        Args:
            options: Where the sources are, and what is asked for.

        Raises:
            NLIHubError: A source is missing, or does not hold what it should.
        """
        if all(variant.is_pinned for s in cls.wanted_sources(options) for variant in s.variants):
            return
        if not all(file.is_known for file in cls.find_sources(options)):
            for _ in cls.make_rows(options).batches():
                pass

    @classmethod
    def construction_blocks(cls, construction: Mapping[str, Any]) -> dict[str, str]:
        """Return the generated blocks on how a dataset was made, by name; none by default.

        Args:
            construction: What was read, kept and dropped, as a manifest has it.
        """
        return {}
