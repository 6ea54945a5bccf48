"""What a dataset declares of itself, frozen and checked when its builder is imported."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from datasets import Features, Version

from ..loaders.errors import SchemaError
from .schema import COLUMNS, DOMAINS, SPLITS, is_name, uniform_features

#: Licences, by their identifier on the Hub, with the name a reader knows.
LICENSES = {
    "apache-2.0": "Apache License 2.0",
    "mit": "MIT License",
    "cc-by-4.0": "Creative Commons Attribution 4.0",
    "cc-by-sa-4.0": "Creative Commons Attribution-ShareAlike 4.0",
}


@dataclass(frozen=True)
class ConfigSpec:
    """One config of a dataset.

    Attributes:
        description: What it holds, in a line.
        splits: Its splits, of ``train``, ``validation`` and ``test``.
    """

    description: str
    splits: tuple[str, ...]


@dataclass(frozen=True)
class DatasetSpec:
    """A dataset of this package.

    Attributes:
        name: snake_case name, also that of its module, its card and its sources.
        pretty_name: Its name in prose.
        version: Version of the built dataset: MAJOR when records, labels or their order change,
            MINOR when columns are added, PATCH when only bytes do.
        summary: What it is, in a line.
        labels: The label set; a label's id is its position.
        domains: The values of ``domain``.
        categories: The values of ``category``.
        group: What a group is (``pattern``), or None where there is none.
        metrics: The metrics of this package that apply, by name.
        configs: Its configs by name; the first is the default.
        extra: Features of the columns after the uniform ones.
        meanings: The meaning of each of those, in a line, and of uniform columns where the
            dataset can say more than the schema does.
        license: Identifier, one of ``LICENSES``.
        copyright: The line that the licence asks to keep.
        citation: BibTeX.
        paper: Address of the paper.
        homepage: Address of the authors' release, or None.
        offline: Whether it is built from what the package ships, with nothing downloaded.
        published: Counts that its paper publishes, by what is counted (see
            ``builders.release.verify``).
    """

    name: str
    pretty_name: str
    version: str
    summary: str
    labels: tuple[str, ...]
    domains: tuple[str, ...]
    categories: tuple[str, ...]
    group: str | None
    metrics: tuple[str, ...]
    configs: Mapping[str, ConfigSpec]
    extra: Mapping[str, Any]
    meanings: Mapping[str, str]
    license: str
    copyright: str
    citation: str
    paper: str
    homepage: str | None
    offline: bool
    published: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Version(self.version)  # raises ValueError unless it is X.Y.Z
        problems = [
            f"{n!r} is no snake_case name" for n in (self.name, *self.configs) if not is_name(n)
        ]
        if self.license not in LICENSES:
            problems.append(f"license {self.license!r} is none of {', '.join(LICENSES)}")
        problems += [f"unknown domain {d!r}" for d in self.domains if d not in DOMAINS]
        problems += [
            f"config {name!r} has the unknown split {split!r}"
            for name, config in self.configs.items()
            for split in config.splits
            if split not in SPLITS
        ]
        if set(self.meanings) - set(COLUMNS) != set(self.extra):
            problems.append("extra and meanings name different columns")
        problems += [f"column {name!r} is a uniform one" for name in self.extra if name in COLUMNS]
        if len(set(self.labels)) != len(self.labels) or len(self.labels) < 2:
            problems.append("labels must be two or more, all different")
        if not self.configs or not self.citation.lstrip().startswith("@"):
            problems.append("configs and a BibTeX citation are required")
        if problems:
            raise SchemaError(f"The declaration of {self.name!r} is wrong: {'; '.join(problems)}.")

    @property
    def default_config(self) -> str:
        """The config that is loaded when none is named."""
        return next(iter(self.configs))

    @property
    def features(self) -> Features:
        """Its features: the uniform columns, then its own."""
        return uniform_features(self.labels, self.extra)
