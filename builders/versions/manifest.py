"""The manifest of a built version: its content, its sources, and the software that made it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import orjson

from ...loaders.errors import VerificationError

FILE_NAME = "manifest.json"
#: The files of every version besides the manifest and those with rows.
TEXT_FILES = ("README.md", "LICENSE", "CITATION.bib")
#: Files that a published version may have, too.
OPTIONAL_FILES = ("eval.yaml",)
#: Number of the format; any change of the fields raises it.
FORMAT = 1


@dataclass(frozen=True)
class ParquetShard:
    """A Parquet file of a built version.

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
    """A split of a config of a built version.

    Attributes:
        rows: Its number of rows.
        digest: Digest of its rows in any order (see ``core.row_digests``).
        order_digest: Digest of its rows in their order.
        arrow_bytes: Its size in memory.
        shards: Its files, in order.
    """

    rows: int
    digest: str
    order_digest: str
    arrow_bytes: int
    shards: tuple[ParquetShard, ...]


@dataclass(frozen=True)
class Manifest:
    """The content of a built version.

    Attributes:
        dataset: Name of the dataset.
        version: Version of the dataset.
        repository: Where it is published, ``ORG/NAME``; empty where it is unpublished.
        labels: The label set; a label's id is its position.
        columns: The Arrow type of each column, by name, in their order.
        configs: For each config its splits by name.
        sources: The source files: url, bytes and sha256 of each.
        parameters: Seeds and numbers that the rows depend on.
        oddities: For each source file, the number of texts with each oddity.
        made_with: Versions of nlihub, of the dataset's builder and of the Parquet writer.
        files: sha256 of every other file, by path.
        declaration: The declaration of a dataset that somebody constructed by a procedure of this
            package; empty for the datasets of this package.
        construction: Of such a dataset, the counts of what was read, kept and dropped.
        format: Number of the format.
    """

    dataset: str
    version: str
    repository: str
    labels: Sequence[str]
    columns: Mapping[str, str]
    configs: Mapping[str, Mapping[str, Split]]
    sources: Sequence[Mapping[str, Any]]
    parameters: Mapping[str, Any]
    oddities: Mapping[str, Mapping[str, int]]
    made_with: Mapping[str, str]
    files: Mapping[str, str]
    declaration: Mapping[str, Any] = field(default_factory=dict)
    construction: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Write the manifest into the folder of its version."""
        (folder / FILE_NAME).write_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the bytes of its file: JSON in UTF-8."""
        return (json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n").encode()

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read the manifest from the folder of its version.

        Raises:
            VerificationError: There is none, or it does not have this format.
        """
        path = folder / FILE_NAME
        if not path.is_file():
            inside = sorted(folder.glob(f"*/{FILE_NAME}"))
            hint = f"Did you mean {inside[0].parent}?" if inside else "Make one: nlihub build."
            raise VerificationError(
                f"{folder} has no {FILE_NAME}, so it is not a built version. {hint}"
            )
        try:
            return cls.parse(path.read_bytes(), str(path))
        except VerificationError as error:
            raise VerificationError(f"{error} Build the version again.") from error

    @classmethod
    def parse(cls, content: bytes, where: str) -> "Manifest":
        """Parse the content of a manifest.

        Args:
            content: The content of the file.
            where: The file, for messages.

        Raises:
            VerificationError: It does not have this format.
        """
        try:
            found = orjson.loads(content)
            if isinstance(found, dict) and found.get("format") != FORMAT:
                raise VerificationError(f"{where} was made by a newer nlihub; update this one.")
            manifest: Manifest = _read(cls, found, "the manifest")
            if not {"id", "label"} <= set(manifest.columns):
                raise ValueError("id and label must be among the columns")
            splits = list(manifest.splits())
            if not splits or not all(split.shards for *_, split in splits):
                raise ValueError("there must be a config, and a file of each split")
            for config, name, split in splits:
                if split.rows != (rows := sum(shard.rows for shard in split.shards)):
                    raise ValueError(f"{config}/{name} has {split.rows} rows, its files {rows}")
            return manifest
        except ValueError as error:
            raise VerificationError(f"{where} is not a manifest of nlihub: {error}.") from error

    def splits(self) -> Iterator[tuple[str, str, Split]]:
        """Yield every split with the names of its config and its own."""
        for config, splits in self.configs.items():
            for split, entry in splits.items():
                yield config, split, entry

    def shards(self) -> Iterator[ParquetShard]:
        """Yield every file with rows."""
        for *_, split in self.splits():
            yield from split.shards

    def hashes(self) -> dict[str, str]:
        """Return the sha256 of every file of the version but the manifest itself, by path."""
        return {**self.files, **{shard.file: shard.sha256 for shard in self.shards()}}

    def main_config(self, default: str) -> str:
        """Return the default config where it was built, otherwise the first config."""
        return default if default in self.configs else next(iter(self.configs))

    def config_digest(self, config: str) -> str:
        """Return one digest for all splits of a config, for its entry on the card."""
        splits = self.configs[config]
        return "+".join(f"{name}:{split.digest[:16]}" for name, split in splits.items())


def _read(kind: Any, value: Any, place: str) -> Any:
    """Return a value of a type, given as JSON has it; nothing is dropped, filled in or coerced."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and type(value) is dict:
        known = {each.name: each.type for each in fields(kind)}
        if differing := known.keys() ^ value.keys():
            raise ValueError(f"{place} lacks or adds {', '.join(sorted(differing))}")
        return kind(**{name: _read(known[name], value[name], name) for name in known})  # type: ignore[operator]
    if origin is Mapping and type(value) is dict:
        return {name: _read(inner[1], each, f"{place}.{name}") for name, each in value.items()}
    if origin in (Sequence, tuple) and type(value) is list:
        items = [_read(inner[0], each, place) for each in value]
        return tuple(items) if origin is tuple else items
    if kind is not Any and type(value) is not kind:
        raise ValueError(f"{place} must be {getattr(kind, '__name__', kind)}, not {value!r:.80}")
    return value
