"""What every builder of this package is: a ``datasets`` builder over a declared spec."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

import datasets
import pyarrow as pa

from ..loaders.cache import default_cache_dir
from ..loaders.errors import UnknownNameError
from .code_digest import code_digest
from .spec import DatasetSpec


@dataclass(frozen=True)
class BuildOptions:
    """How to get and make the rows.

    Attributes:
        folder: Local folder with the source files; None takes what the package ships or
            downloads it, verified.
        cache_dir: Where downloads are kept.
        num_proc: Processes to use; the rows do not depend on it.
    """

    folder: Path | None = None
    cache_dir: Path = field(default_factory=default_cache_dir)
    num_proc: int = 1


@dataclass(frozen=True)
class Batch:
    """Some rows of a dataset, and where they belong.

    Attributes:
        table: n rows in the features' Arrow schema.
        members: For a config and split, n booleans: which of the rows it has. A config and split
            that is not named has none of them.
    """

    table: pa.Table
    members: Mapping[tuple[str, str], pa.BooleanArray]

    def select(self, config: str, split: str) -> pa.Table:
        """The rows that belong to a split of a config, in order."""
        member = self.members.get((config, split))
        return self.table.slice(0, 0) if member is None else self.table.filter(member)


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

    def batches(self) -> Iterator[Batch]:
        """The rows in order, each exactly once whatever the number of configs that have it."""
        ...


@dataclass
class NLIConfig(datasets.BuilderConfig):
    """A config with its splits.

    Attributes:
        splits: The splits that it has.
    """

    splits: tuple[str, ...] = ()


class NLIBuilder(datasets.ArrowBasedBuilder):
    """Base of the builders: a subclass declares ``SPEC`` and makes ``Rows``.

    It is an ordinary builder of the ``datasets`` library; ``data_dir`` names a local folder with
    the source files. Parsing happens in ``nlihub.loaders``, never in a module that defines a
    builder, because ``datasets`` replaces ``open`` and other names in such modules.
    """

    SPEC: ClassVar[DatasetSpec]
    PROPERTY_COLUMNS: ClassVar[tuple[str, ...]] = ("category",)
    BUILDER_CONFIG_CLASS = NLIConfig

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "SPEC" not in cls.__dict__:
            return
        cls.VERSION = datasets.Version(cls.SPEC.version)
        cls.DEFAULT_CONFIG_NAME = cls.SPEC.default_config
        cls.BUILDER_CONFIGS = [
            NLIConfig(name=name, version=cls.VERSION, description=c.description, splits=c.splits)
            for name, c in cls.SPEC.configs.items()
        ]

    @classmethod
    def make_rows(cls, options: BuildOptions) -> Rows:
        """Reads the sources and makes the rows of every config.

        Args:
            options: Where the sources are and how to work.

        Returns:
            The rows.

        Raises:
            NLIHubError: A source is missing, not the pinned one, or malformed.
        """
        raise NotImplementedError

    @classmethod
    def check_sources(cls, options: BuildOptions) -> None:
        """Checks that the source files are there and are the pinned ones.

        Args:
            options: Where the sources are.

        Raises:
            NLIHubError: A source is missing or not the pinned one.
        """
        raise NotImplementedError

    @classmethod
    def properties(cls, rows: pa.Table) -> dict[str, list[bool]]:
        """What the card breaks the labels down by: for each property, whether a row has it.

        Args:
            rows: n rows with at least the ``PROPERTY_COLUMNS``.

        Returns:
            For each property n booleans; by default one property a category.
        """
        values = rows.column("category").to_pylist()
        return {name: [value == name for value in values] for name in cls.SPEC.categories}

    @classmethod
    def card_blocks(cls) -> dict[str, str]:
        """Further generated blocks of the card, by name; none by default."""
        return {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # datasets itself would serve the rows of earlier code from its cache.
        kwargs.setdefault("hash", code_digest()[:16])
        super().__init__(*args, **kwargs)

    def _info(self) -> datasets.DatasetInfo:
        return dataset_info(self.SPEC)

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"split": split})
            for split in self.config.splits
        ]

    def _generate_tables(self, split: str) -> Iterator[tuple[int, pa.Table]]:
        folder = Path(self.config.data_dir) if self.config.data_dir else None
        rows = self.make_rows(BuildOptions(folder=folder))
        for number, batch in enumerate(rows.batches()):
            yield number, batch.select(self.config.name, split)


def dataset_info(spec: DatasetSpec) -> datasets.DatasetInfo:
    """What ``datasets`` is told of a dataset."""
    return datasets.DatasetInfo(
        description=spec.summary,
        citation=spec.citation,
        homepage=spec.homepage or spec.paper,
        license=spec.license,
        features=spec.features,
    )


def check_config(spec: DatasetSpec, config: str) -> str:
    """The name of a config, if the dataset has it.

    Raises:
        UnknownNameError: It does not; names the closest.
    """
    if config not in spec.configs:
        raise UnknownNameError.of(f"config of {spec.name}", config, spec.configs)
    return config
