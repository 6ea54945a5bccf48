"""The manifest of a built version: what it holds, what it was made from, and by what."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ...loaders.errors import VerificationError

FILE_NAME = "manifest.json"
#: Number of the form that is written; a new field needs none, a new meaning of one does.
FORMAT = 1


_Made = TypeVar("_Made", "Shard", "Split", "Manifest")


@dataclass(frozen=True)
class Shard:
    """A Parquet file.

    Attributes:
        file: Its path in the version's folder.
        rows: Its number of rows.
        bytes: Its size.
        sha256: Its hash.
    """

    file: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Split:
    """A split of a config.

    Attributes:
        rows: Its number of rows.
        digest: Digest of its rows, whatever their order (see ``digest``).
        order_digest: Digest of its rows in their order.
        arrow_bytes: Its size in memory.
        shards: Its files, in order.
    """

    rows: int
    digest: str
    order_digest: str
    arrow_bytes: int
    shards: tuple[Shard, ...]


@dataclass(frozen=True)
class Manifest:
    """What a built version holds.

    Attributes:
        dataset: Name of the dataset.
        version: Version of the dataset.
        repository: Where it is published, ``ORG/NAME``; empty where it is not.
        labels: The label set; a label's id is its position.
        columns: The Arrow type of each column, by name, in their order.
        configs: For each config its splits by name.
        sources: The source files: url, bytes and sha256 of each.
        parameters: Seeds and numbers that the rows depend on.
        oddities: For each source file, how many of its texts have which oddity.
        made_with: Versions of nlihub, of the dataset's builder and of the Parquet writer.
        files: sha256 of every other file, by path.
        declaration: What a dataset that somebody has made by a procedure of this package declares
            of itself; empty for the datasets of this package.
        construction: Of such a dataset, what was read, kept and dropped.
        format: Number of its form.
    """

    dataset: str
    version: str
    repository: str
    labels: Sequence[str]
    columns: Mapping[str, str]
    configs: Mapping[str, Mapping[str, Split]]
    sources: list[Mapping[str, Any]]
    parameters: Mapping[str, Any]
    oddities: Mapping[str, Mapping[str, int]]
    made_with: Mapping[str, str]
    files: Mapping[str, str]
    declaration: Mapping[str, Any] = field(default_factory=dict)
    construction: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Writes it into the version's folder."""
        (folder / FILE_NAME).write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Its file: JSON in UTF-8."""
        return (json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n").encode()

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Reads it from a version's folder.

        Args:
            folder: The folder.

        Raises:
            VerificationError: There is none, or it is not of this form.
        """
        path = folder / FILE_NAME
        if not path.is_file():
            inside = sorted(folder.glob(f"*/{FILE_NAME}"))
            hint = f"Did you mean {inside[0].parent}?" if inside else "Make one: nlihub build."
            raise VerificationError(
                f"{folder} has no {FILE_NAME}, so it is no built version. {hint}"
            )
        try:
            return cls.parse(path.read_bytes(), str(path))
        except VerificationError as error:
            raise VerificationError(f"{error} Build the version again.") from error

    @classmethod
    def parse(cls, content: bytes, where: str) -> "Manifest":
        """The manifest in a file.

        Args:
            content: What the file holds.
            where: The file, for messages.

        Raises:
            VerificationError: It is not of this form.
        """
        try:
            fields = json.loads(content)
            if fields["format"] > FORMAT:
                raise VerificationError(f"{where} was made by a newer nlihub; update this one.")
            configs = {
                config: {
                    name: _known(
                        Split, {**split, "shards": tuple(_known(Shard, s) for s in split["shards"])}
                    )
                    for name, split in splits.items()
                }
                for config, splits in fields["configs"].items()
            }
            manifest = _known(cls, {**fields, "configs": configs})
            for name in ("files", "columns", "made_with", "declaration", "construction"):
                if not isinstance(getattr(manifest, name), dict):
                    raise TypeError(f"{name} must be an object")
            for name in ("sources", "labels"):
                if not isinstance(getattr(manifest, name), list):
                    raise TypeError(f"{name} must be a list")
            return manifest
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise VerificationError(f"{where} is no manifest of nlihub ({error!r}).") from error

    def hashes(self) -> dict[str, str]:
        """The sha256 of every file of the version but the manifest itself, by path."""
        shards = (
            shard
            for splits in self.configs.values()
            for split in splits.values()
            for shard in split.shards
        )
        return {**self.files, **{shard.file: shard.sha256 for shard in shards}}

    def main_config(self, default: str) -> str:
        """The default config where it was built, otherwise the first that was."""
        return default if default in self.configs else next(iter(self.configs))

    def config_digest(self, config: str) -> str:
        """One digest for all splits of a config, for its entry on the card."""
        splits = self.configs[config]
        return "+".join(f"{name}:{split.digest[:16]}" for name, split in splits.items())


def _known(made: type[_Made], fields: Mapping[str, Any]) -> _Made:
    """One of ours of its fields; those that a later nlihub adds are passed over."""
    names = {each.name for each in dataclasses.fields(made)}
    return made(**{name: value for name, value in fields.items() if name in names})
