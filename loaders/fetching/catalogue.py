"""The catalogue of source files, ``sources.json``: their formats, addresses and hashes."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..errors import NLIHubError, SourceNotFoundError, UnknownNameError
from ..hashing import FileHash
from ..paths import local_path

#: The environment variable that names another catalogue, as for a mirror inside an organisation.
ENVIRONMENT_VARIABLE = "NLIHUB_SOURCES"


@dataclass(frozen=True)
class Variant:
    """One format in which a source is released.

    Attributes:
        path: Its path in the release.
        locations: Addresses to download it from, the best first; none if a person must get it. A
            file of the Hub is ``https://huggingface.co/datasets/ORG/NAME/resolve/REVISION/PATH``.
        bytes: Its size; None if unknown.
        sha256: Its hash, 64 hexadecimal digits; None if unknown.
        git_blob: Its id in git, 40 hexadecimal digits; None if unknown.
    """

    path: str
    locations: tuple[str, ...] = ()
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

    Raises:
        ValueError: It has no variant, one that nobody can get, or a malformed hash.
    """

    dataset: str
    name: str
    variants: tuple[Variant, ...]
    rows: int | None = None
    instructions: str | None = None

    def __post_init__(self) -> None:
        if not self.variants:
            raise ValueError(f"{self.name} of {self.dataset} has no variant")
        for variant in self.variants:
            if not (variant.locations or self.instructions):
                raise ValueError(f"{variant.path} has neither locations nor instructions")
            for pin, n_digits in ((variant.sha256, 64), (variant.git_blob, 40)):
                if pin is not None and not re.fullmatch(f"[0-9a-f]{{{n_digits}}}", pin):
                    raise ValueError(
                        f"{variant.path} has the hash {pin}, expected {n_digits} digits"
                    )

    @property
    def paths(self) -> list[str]:
        """The path of each variant in the release."""
        return [variant.path for variant in self.variants]

    def how_to_get(self) -> str:
        """Return how a person can get it, in a sentence or two."""
        places = [place for variant in self.variants for place in variant.locations]
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


def _catalogue() -> Mapping[str, Mapping[str, Source]]:
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    return _read(local_path(named) if named else None)


@cache
def _read(path: Path | None) -> Mapping[str, Mapping[str, Source]]:
    if path is not None and not path.is_file():
        raise SourceNotFoundError(f"${ENVIRONMENT_VARIABLE} names {path}, which is not a file.")
    file = path or files(__package__.rpartition(".")[0]) / "sources.json"
    try:
        recorded: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8-sig"))
        return {
            dataset: {name: _source(dataset, name, **s) for name, s in entry["files"].items()}
            for dataset, entry in recorded.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NLIHubError(f"{file} is not a catalogue of sources: {error!r}.") from error


def _source(dataset: str, name: str, variants: list[dict[str, Any]], **fields: Any) -> Source:
    read = (Variant(**{**v, "locations": tuple(v.get("locations", ()))}) for v in variants)
    return Source(dataset, name, tuple(read), **fields)
