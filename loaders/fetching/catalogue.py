"""The catalogue of source files, ``sources.json``: their formats, addresses and hashes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import NLIHubError, SourceNotFoundError, UnknownNameError
from ..hashing import FileHash
from ..json_text import parse_json
from ..paths import local_path

#: The environment variable that names another catalogue, as for a mirror inside an organisation.
ENVIRONMENT_VARIABLE = "NLIHUB_SOURCES"


@dataclass(frozen=True)
class WebFile:
    """A file at an address of the web."""

    url: str

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True)
class HubFile:
    """A file of a Hub repository of type dataset.

    Attributes:
        repo: The repository, ``"ORG/NAME"``.
        revision: Branch, tag or full commit.
        path: Its path in the repository.
    """

    repo: str
    revision: str
    path: str

    def __str__(self) -> str:
        return f"https://huggingface.co/datasets/{self.repo}/resolve/{self.revision}/{self.path}"


Location = WebFile | HubFile


@dataclass(frozen=True)
class Variant:
    """One format in which a source is released.

    Attributes:
        path: Its path in the release.
        locations: Where it can be downloaded, the best first; none if a person must get it.
        bytes: Its size; None if unknown.
        sha256: Its hash, 64 hexadecimal digits; None if unknown.
        git_blob: Its id in git, 40 hexadecimal digits; None if unknown.
    """

    path: str
    locations: tuple[Location, ...] = ()
    bytes: int | None = None
    sha256: str | None = None
    git_blob: str | None = None

    @property
    def is_pinned(self) -> bool:
        """Whether its content is known."""
        return self.sha256 is not None or self.git_blob is not None

    @property
    def pin(self) -> str:
        """The known hash, for a message."""
        return f"sha256 {self.sha256}" if self.sha256 else f"git blob {self.git_blob}"

    def is_of(self, found: FileHash) -> bool:
        """Return whether a file has the pinned hash; False if none is pinned."""
        if self.sha256 is not None:
            return found.sha256 == self.sha256
        return self.git_blob is not None and found.git_blob == self.git_blob


@dataclass(frozen=True)
class Source:
    """A file that a dataset is made from, in one or more formats of equal content.

    Attributes:
        dataset: The dataset that it belongs to.
        name: Its role in that dataset, e.g. ``"train"``.
        variants: Its formats; the first is preferred.
        rows: Its number of records, as published; None if records are not counted.
        instructions: How a person gets it, if no program can.
    """

    dataset: str
    name: str
    variants: tuple[Variant, ...]
    rows: int | None = None
    instructions: str | None = None

    def __post_init__(self) -> None:
        problems = []
        if not self.variants:
            problems.append("it has no variant")
        for variant in self.variants:
            if not variant.locations and not self.instructions:
                problems.append(f"{variant.path} has neither locations nor instructions")
            if variant.sha256 is not None and len(variant.sha256) != 64:
                problems.append(f"{variant.path} has a sha256 of {len(variant.sha256)} digits")
            if variant.git_blob is not None and len(variant.git_blob) != 40:
                problems.append(f"{variant.path} has a git blob of {len(variant.git_blob)} digits")
            if variant.bytes is not None and variant.bytes <= 0:
                problems.append(f"{variant.path} has {variant.bytes} bytes")
            for place in variant.locations:
                if isinstance(place, WebFile) and not place.url.startswith(("http:", "https:")):
                    problems.append(f"{variant.path}: {place.url} is not an http address")
        if problems:
            raise NLIHubError(
                f"Source {self.name!r} of {self.dataset} is wrong: {'; '.join(problems)}."
            )

    @property
    def paths(self) -> list[str]:
        """The path of each variant in the release."""
        return [variant.path for variant in self.variants]

    def how_to_get(self) -> str:
        """Return how a person can get it, in a sentence or two."""
        places = [str(place) for variant in self.variants for place in variant.locations]
        words = [self.instructions] if self.instructions else []
        words += [f"Download it from {places[0]}."] if places else []
        return " ".join(words)


def list_sources(dataset: str) -> Mapping[str, Source]:
    """Return the source files of a dataset by name, in the order of the catalogue.

    Raises:
        UnknownNameError: No sources are recorded for the dataset.
    """
    catalogue = _catalogue()
    if dataset not in catalogue:
        raise UnknownNameError.of("dataset with sources", dataset, catalogue)
    return catalogue[dataset]


def find_by_content(found: FileHash) -> tuple[Source, Variant] | None:
    """Return the pinned source that has these hashes, whatever its name; None if none has."""
    every = (source for sources in _catalogue().values() for source in sources.values())
    pairs = ((source, variant) for source in every for variant in source.variants)
    return next((pair for pair in pairs if pair[1].is_of(found)), None)


def _catalogue() -> Mapping[str, Mapping[str, Source]]:
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    return _read(local_path(named) if named else None)


@cache
def _read(path: Path | None) -> Mapping[str, Mapping[str, Source]]:
    if path is not None and not path.is_file():
        raise SourceNotFoundError(f"${ENVIRONMENT_VARIABLE} names {path}, which is not a file.")
    file = path or files(__package__.rpartition(".")[0]) / "sources.json"
    try:
        recorded: Mapping[str, Any] = parse_json(file.read_bytes())
        return {
            dataset: {
                name: Source(
                    dataset,
                    name,
                    tuple(_variant(fields) for fields in source.pop("variants")),
                    **source,
                )
                for name, source in entry["files"].items()
            }
            for dataset, entry in recorded.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NLIHubError(f"{file} is not a catalogue of sources: {error!r}.") from error


def _variant(fields: dict[str, Any]) -> Variant:
    locations: tuple[Location, ...] = tuple(
        WebFile(**place) if "url" in place else HubFile(**{"path": fields["path"], **place})
        for place in fields.pop("locations", ())
    )
    return Variant(locations=locations, **fields)
