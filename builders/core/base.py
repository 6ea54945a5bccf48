"""What every builder of this package is: a ``datasets`` builder over a declared spec."""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

import datasets
import pyarrow as pa

from ...loaders.errors import DownloadError, SourceNotFoundError
from ...loaders.fetching import Source, SourceFile, obtain_all
from ...loaders.releases.tables import Oddities
from .identity import code_digest
from .options import BuildOptions, Key
from .spec import DatasetSpec


@dataclass(frozen=True)
class Batch:
    """Some rows of a dataset, and where they belong.

    Attributes:
        table: n rows in the features' Arrow schema.
        members: For a config and split, n booleans, which of the rows it has, or None for all of
            them. A config and split that is not named has none.
    """

    table: pa.Table
    members: Mapping[Key, pa.BooleanArray | None]

    def select(self, key: Key) -> pa.Table:
        """The rows that belong to a split of a config, in order."""
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

    def batches(self, oddities: dict[str, Oddities] | None = None) -> Iterator[Batch]:
        """The rows in order, each exactly once whatever the number of configs that have it.

        Args:
            oddities: For each source file counts of what is odd in it, to fill; None counts
                nothing.

        Raises:
            NLIHubError: A source is malformed, or does not hold what it should.
        """
        ...


class NLIBuilder(datasets.ArrowBasedBuilder):
    """Base of the builders: a subclass declares ``SPEC`` and makes ``Rows``.

    It is an ordinary builder of the ``datasets`` library; ``data_dir`` names a local folder with
    the source files. Parsing happens in ``nlihub.loaders``, never in a module that defines a
    builder: ``datasets`` may replace ``open`` and other names in such modules.

    Attributes:
        SPEC: What the dataset declares of itself.
        DECLARATION: The same for a manifest, where it is a dataset that somebody has made.
        CONSTRUCTION: Of such a dataset, what was read, kept and dropped.
        PROPERTY_COLUMNS: The columns that ``properties`` needs.
    """

    SPEC: ClassVar[DatasetSpec]
    DECLARATION: ClassVar[Mapping[str, Any]] = {}
    CONSTRUCTION: ClassVar[Mapping[str, Any]] = {}
    PROPERTY_COLUMNS: ClassVar[tuple[str, ...]] = ("category", "domain")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Tells datasets that open, Path and others need not be replaced in a builder's module,
        # which opens no files; looking for what to replace imports scipy.io, 0.1 s.
        for module in (cls.__module__, __name__):
            vars(sys.modules[module])["_patched_for_streaming"] = True
        if "SPEC" not in cls.__dict__:
            return
        cls.VERSION = datasets.Version(cls.SPEC.version)
        cls.DEFAULT_CONFIG_NAME = cls.SPEC.default_config
        cls.BUILDER_CONFIGS = [
            datasets.BuilderConfig(name=name, version=cls.VERSION, description=c.description)
            for name, c in cls.SPEC.configs.items()
        ]

    @classmethod
    def make_rows(cls, options: BuildOptions) -> Rows:
        """Opens the sources that the rows asked for are made of.

        Args:
            options: Where the sources are and how to work.

        Returns:
            The rows.

        Raises:
            NLIHubError: A source is missing, not the pinned one, or malformed.
        """
        raise NotImplementedError

    @classmethod
    def wanted_sources(cls, options: BuildOptions) -> list[Source]:
        """The source files that the rows asked for are made of; none where all is shipped.

        Args:
            options: What is asked for.

        Raises:
            NLIHubError: There is nothing of that kind.
        """
        raise NotImplementedError

    @classmethod
    def find_sources(cls, options: BuildOptions) -> list[SourceFile]:
        """Gets the source files for the rows asked for, downloaded where there is no folder.

        Args:
            options: Where the sources are, and what is asked for.

        Returns:
            The files of ``wanted_sources``, verified.

        Raises:
            NLIHubError: A source is missing or not the pinned one.
        """
        sources = cls.wanted_sources(options)
        return obtain_all(sources, place=options.folder, cache_dir=options.cache_dir)

    @classmethod
    def read_unknown_sources(cls, options: BuildOptions) -> None:
        """Reads the sources to the end, and so checks them, where the content of one is unknown.

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
    def fingerprint(cls, options: BuildOptions) -> str:
        """A hash of all that the rows asked for depend on: this package, sources and choice.

        A local folder is verified for it. Where there is none, and the content of what would be
        downloaded is known, nothing is downloaded.

        Args:
            options: Where the sources are, and what is asked for.

        Returns:
            64 hexadecimal digits.

        Raises:
            NLIHubError: A source is missing or not the pinned one.
        """
        downloads = [
            next((v for v in source.variants if v.locations), source.variants[0])
            for source in cls.wanted_sources(options)
        ]
        if options.folder is None and all(variant.is_pinned for variant in downloads):
            identities = [variant.sha256 or variant.git_blob for variant in downloads]
        else:
            identities = [file.identity for file in cls.find_sources(options)]
        choice = {config: list(splits) for config, splits in options.wanted(cls.SPEC).items()}
        text = json.dumps([code_digest(), identities, choice])
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def properties(cls, rows: pa.Table) -> dict[str, list[bool]]:
        """What the card breaks the labels down by: for each property, whether a row has it.

        Args:
            rows: n rows with at least the ``PROPERTY_COLUMNS``.

        Returns:
            For each property n booleans; by default one property a category, and one a domain
            where there are several.
        """
        categories = rows.column("category").to_pylist()
        domains = rows.column("domain").to_pylist()
        properties = {name: [c == name for c in categories] for name in cls.SPEC.categories}
        if len(found := set(domains)) > 1:
            shown = (name for name in cls.SPEC.domains if name in found)
            properties |= {name: [d == name for d in domains] for name in shown}
        return properties

    @classmethod
    def card_blocks(cls) -> dict[str, str]:
        """Further generated blocks of the card, by name; none by default."""
        return {}

    def __init__(self, *args: Any, options: BuildOptions | None = None, **kwargs: Any) -> None:
        self._options = options
        # datasets itself would serve rows of earlier code, or of other sources, from its cache.
        if kwargs.get("hash") is None:
            folder = kwargs.get("data_dir")
            given = options or BuildOptions(Path(folder) if folder else None)
            chosen = kwargs.get("config_name") or self.SPEC.default_config
            try:
                kwargs["hash"] = self.fingerprint(replace(given, configs=(chosen,)))[:16]
            except (SourceNotFoundError, DownloadError):  # said when it is prepared
                kwargs["hash"] = code_digest()[:16]
        super().__init__(*args, **kwargs)

    def _info(self) -> datasets.DatasetInfo:
        return dataset_info(self.SPEC)

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        splits = self._own_options().wanted(self.SPEC)[self.config.name]
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"split": split}) for split in splits
        ]

    def _generate_tables(self, split: str) -> Iterator[tuple[int, pa.Table]]:
        rows = self.make_rows(replace(self._own_options(), splits=(split,)))
        for number, batch in enumerate(rows.batches()):
            if (self.config.name, split) in batch.members:
                yield number, batch.select((self.config.name, split))

    def _own_options(self) -> BuildOptions:
        folder = Path(self.config.data_dir) if self.config.data_dir else None
        return replace(self._options or BuildOptions(folder), configs=(self.config.name,))


def dataset_info(spec: DatasetSpec) -> datasets.DatasetInfo:
    """What ``datasets`` is told of a dataset."""
    return datasets.DatasetInfo(
        description=spec.summary,
        citation=spec.citation,
        homepage=spec.homepage or spec.paper,
        license=spec.license,
        features=spec.features,
    )
