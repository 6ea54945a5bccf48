"""Builders of the ``datasets`` library, made from our definitions of datasets on demand.

What is fragile in ``datasets`` is used in this module alone: the hooks of ``ArrowBasedBuilder``
(``_info``, ``_split_generators``, ``_generate_tables``), ``hash``, which names the folder in its
cache, the name ``_patched_for_streaming``, and how a builder is pickled. Seen with 4.0.0 to 5.2.0.
"""

import sys
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import datasets

from ...loaders.errors import DownloadError, SourceNotFoundError
from .base import NLIBuilder
from .options import BuildOptions
from .spec import DatasetSpec

if TYPE_CHECKING:
    import pyarrow as pa


class TableBuilder(datasets.ArrowBasedBuilder):
    """Base of builders that yield Arrow tables by split.

    Parsing happens in other modules than those of its subclasses: ``datasets`` may replace ``open``
    and other names in these.

    Class attributes:
        SPEC: What the dataset declares of itself.
    """

    SPEC: ClassVar[DatasetSpec]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Tells datasets that open, Path and others need not be replaced in a builder's module,
        # which opens no files; looking for what to replace imports scipy.io, 0.1 s.
        for module in (cls.__module__, __name__):
            vars(sys.modules[module])["_patched_for_streaming"] = True

    @abstractmethod
    def splits(self) -> Sequence[str]:
        """Return the names of the splits."""

    @abstractmethod
    def tables(self, split: str) -> "Iterator[pa.Table]":
        """Yield the rows of a split, in order."""

    def _info(self) -> datasets.DatasetInfo:
        spec = self.SPEC
        return datasets.DatasetInfo(
            description=spec.summary,
            citation=spec.citation,
            homepage=spec.homepage or spec.paper,
            license=spec.license,
            features=spec.features,
        )

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator(name=s, gen_kwargs={"split": s}) for s in self.splits()]

    def _generate_tables(self, split: str) -> "Iterator[tuple[int, pa.Table]]":
        yield from enumerate(self.tables(split))


class _DefinedBuilder(TableBuilder):
    """A builder of the dataset that ``DEFINITION`` describes."""

    DEFINITION: ClassVar[type[NLIBuilder]]

    def __init__(self, *args: Any, options: BuildOptions | None = None, **kwargs: Any) -> None:
        self._options = options
        # datasets itself would serve rows of earlier code, or of other sources, from its cache.
        if kwargs.get("hash") is None:
            folder = kwargs.get("data_dir")
            given = options or BuildOptions(Path(folder) if folder else None)
            chosen = kwargs.get("config_name") or self.SPEC.default_config
            try:
                kwargs["hash"] = self.DEFINITION.fingerprint(replace(given, configs=(chosen,)))[:16]
            except (SourceNotFoundError, DownloadError):  # said when it is prepared
                kwargs["hash"] = self.DEFINITION.code_identity()[:16]
        kwargs.setdefault("dataset_name", self.SPEC.name)
        super().__init__(*args, **kwargs)
        self.name = self.info.builder_name = self.SPEC.name

    def splits(self) -> Sequence[str]:
        return self._own_options().wanted(self.SPEC)[self.config.name]

    def tables(self, split: str) -> "Iterator[pa.Table]":
        key = (self.config.name, split)
        rows = self.DEFINITION.make_rows(replace(self._own_options(), splits=(split,)))
        for batch in rows.batches():
            if key in batch.members:
                yield batch.select(key)

    def _own_options(self) -> BuildOptions:
        folder = Path(self.config.data_dir) if self.config.data_dir else None
        return replace(self._options or BuildOptions(folder), configs=(self.config.name,))

    def __reduce__(self) -> tuple[Any, ...]:
        # Its class is made on demand, so that pickle would not find it by name.
        return _restore, (self.DEFINITION, self.__getstate__())


def datasets_builder(definition: type[NLIBuilder]) -> type[datasets.ArrowBasedBuilder]:
    """Return the builder class of ``datasets`` for a dataset.

    Args:
        definition: The dataset, e.g. ``nlihub.builders.scinli.SciNLI``.

    Returns:
        A class that takes what builders of ``datasets`` take: ``config_name``, ``data_dir``,
        ``cache_dir`` and so on; and ``options``, which take the place of ``data_dir``.

    Example:
        >>> from nlihub.builders.scinli import SciNLI
        >>> list(datasets_builder(SciNLI).builder_configs)
        ['default', 'acl_small']
    """
    spec = definition.SPEC
    version = datasets.Version(spec.version)
    return type(
        definition.__name__,
        (_DefinedBuilder,),
        {
            "__module__": __name__,
            "__doc__": definition.__doc__,
            "DEFINITION": definition,
            "SPEC": spec,
            "VERSION": version,
            "DEFAULT_CONFIG_NAME": spec.default_config,
            "BUILDER_CONFIGS": [
                datasets.BuilderConfig(name=name, version=version, description=c.description)
                for name, c in spec.configs.items()
            ],
        },
    )


def _restore(definition: type[NLIBuilder], state: dict[str, Any]) -> datasets.ArrowBasedBuilder:
    made: Any = datasets_builder(definition)
    builder: datasets.ArrowBasedBuilder = made.__new__(made)
    builder.__setstate__(state)
    return builder
