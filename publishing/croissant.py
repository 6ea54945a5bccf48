"""Croissant metadata of a built version: JSON-LD of MLCommons, which many tools read."""

import copy
import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..builders.core.schema import COLUMNS
from ..builders.core.spec import LICENSES, DatasetSpec
from ..builders.versions.manifest import Manifest, ParquetShard
from ..builders.versions.version import BuiltVersion
from ..loaders.atomic_write import whole_file
from ..loaders.errors import SchemaError, needs_extra

FILE_NAME = "croissant.json"
#: The version of the format; fields of a constant value, which say the split, came with it.
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"

_SPDX = {
    "apache-2.0": "Apache-2.0",
    "mit": "MIT",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
}
_SPLITS = {"train": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}
_TYPES = {
    "bool": "sc:Boolean",
    "double": "sc:Float",
    "float": "sc:Float",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
    "string": "sc:Text",
}


def croissant_metadata(manifest: Manifest, spec: DatasetSpec, location: str) -> dict[str, Any]:
    """Describe a built version in Croissant, checked by ``mlcroissant``.

    Each split of each config is a record set, ``CONFIG/SPLIT``: no column has the split, and
    ``mlcroissant`` downloads files under other names. Nor can it join files: each file of a split
    is a record set, ``CONFIG/SPLIT-00000-of-00002``. The fields are the columns and ``split``;
    ``label`` is an id of the record set ``labels``, ``split`` a name of ``splits``. Files have
    their hashes, which ``mlcroissant`` checks before it reads.

    Args:
        manifest: What the version holds.
        spec: What its dataset declares.
        location: Where its files are: an address that is pinned to the version, such as
            ``https://huggingface.co/datasets/ORG/NAME/resolve/v1.0.0``, or a path from the folder
            of the description to that of the version.

    Returns:
        The JSON-LD, without ``datePublished``: the format asks for it, a version does not know it.

    Raises:
        MissingExtraError: ``nlihub[croissant]`` is not installed.
        SchemaError: A column is of a type that Croissant does not have.

    Source:
        Croissant Format Specification 1.1, sections "Dataset-level Information", "Resources",
        "RecordSets" and "ML-specific Features".
    """
    with needs_extra("croissant", "Croissant metadata"):
        import mlcroissant
    metadata = {
        "@context": mlcroissant.Rdf().context,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": manifest.dataset,
        "alternateName": spec.pretty_name,
        "description": spec.summary,
        "version": manifest.version,
        "license": _license(spec),
        "url": _page(spec, location),
        "creator": _creators(spec.citation),
        "citeAs": spec.citation.strip(),
        "keywords": ["natural language inference", *spec.domains],
        "inLanguage": spec.language,
        "distribution": list(_files(manifest, location)),
        "recordSet": [_splits(manifest), _labels(manifest), *_record_sets(spec, manifest)],
    }
    # A copy, because reading adds to the context.
    mlcroissant.Metadata.from_json(mlcroissant.Context(), copy.deepcopy(metadata))
    return metadata


def _license(spec: DatasetSpec) -> str:
    if spec.license in _SPDX:
        return f"https://spdx.org/licenses/{_SPDX[spec.license]}.html"
    return LICENSES[spec.license]


def write_croissant(version: BuiltVersion, output: Path, location: str | None) -> None:
    """Write the Croissant description of a built version.

    Args:
        version: The version.
        output: The file to write, ``croissant.json``.
        location: Where the version's files are or will be (see ``croissant_metadata``); None for
            where they are on this machine, as seen from ``output``.

    Raises:
        MissingExtraError: ``nlihub[croissant]`` is not installed.
        OutputError: The file cannot be written.
        SchemaError: A column is of a type that Croissant does not have.
        UnknownNameError: This package does not have the version's dataset.
        VerificationError: There is no manifest, or it is malformed.
    """
    if location is None:
        path = os.path.relpath(version.folder.resolve(), output.resolve().parent)
        location = Path(path).as_posix()
    content = croissant_file(version.manifest, version.builder.SPEC, location)
    with whole_file(output) as partial:
        partial.write_bytes(content)


def croissant_file(manifest: Manifest, spec: DatasetSpec, location: str) -> bytes:
    """Return the bytes of a Croissant file; arguments and errors as in ``croissant_metadata``."""
    metadata = croissant_metadata(manifest, spec, location)
    return (json.dumps(metadata, indent=2, ensure_ascii=False) + "\n").encode()


def _page(spec: DatasetSpec, location: str) -> str:
    """Return the page of the dataset; that of its release where the files are on no server."""
    if "://" in location:
        return location.partition("/resolve/")[0]  # what the Hub has below the page
    return spec.homepage or spec.paper


def _creators(citation: str) -> list[dict[str, str]]:
    """Return the authors of a BibTeX entry: ``{Roe, Ann and Doe, Jo}``, or ``{{A group}}``."""
    found = re.search(r"\bauthor = \{(.+)\}", citation)
    creators = []
    for name in found[1].split(" and ") if found else ():
        if name.startswith("{"):
            creators.append({"@type": "sc:Organization", "name": name.strip("{}")})
        else:
            family, _, given = name.partition(", ")
            creators.append({"@type": "sc:Person", "name": f"{given} {family}".strip()})
    return creators


def _node(kind: str, identifier: str, **properties: Any) -> dict[str, Any]:
    """Return a part of the description, by default named by the end of its identifier."""
    name = identifier.rpartition("/")[2]
    return {"@type": f"cr:{kind}", "@id": identifier, "name": name, **properties}


def _files(manifest: Manifest, location: str) -> Iterator[dict[str, Any]]:
    for splits in manifest.configs.values():
        for split in splits.values():
            for shard in split.shards:
                yield _node(
                    "FileObject",
                    shard.file,
                    contentUrl=posixpath.join(location, shard.file).removeprefix("./"),
                    contentSize=f"{shard.bytes} B",
                    encodingFormat="application/x-parquet",
                    sha256=shard.sha256,
                )


def _splits(manifest: Manifest) -> dict[str, Any]:
    present = {split for splits in manifest.configs.values() for split in splits}
    rows = [(name, url) for name, url in _SPLITS.items() if name in present]
    return _enumeration("splits", "cr:Split", {"name": "sc:Text", "url": "sc:URL"}, rows)


def _labels(manifest: Manifest) -> dict[str, Any]:
    rows = list(enumerate(manifest.labels))
    return _enumeration("labels", "sc:Enumeration", {"id": "sc:Integer", "name": "sc:Text"}, rows)


def _enumeration(
    name: str, kind: str, types: Mapping[str, str], rows: list[tuple[Any, ...]]
) -> dict[str, Any]:
    """Return a record set whose rows stand in the description; its first field is the key."""
    fields = {f"{name}/{field}": data_type for field, data_type in types.items()}
    return _node(
        "RecordSet",
        name,
        dataType=kind,
        key={"@id": next(iter(fields))},
        field=[_node("Field", field, dataType=data_type) for field, data_type in fields.items()],
        data=[dict(zip(fields, row, strict=True)) for row in rows],
    )


def _record_sets(spec: DatasetSpec, manifest: Manifest) -> Iterator[dict[str, Any]]:
    """Yield a record set for each file."""
    for config, splits in manifest.configs.items():
        for split, entry in splits.items():
            for shard in entry.shards:
                is_alone = len(entry.shards) == 1
                key = f"{config}/{split}" if is_alone else shard.file.removesuffix(".parquet")
                description = f"{spec.configs[config].description}; {split}, {shard.rows:,} rows"
                yield _node(
                    "RecordSet",
                    key,
                    name=key,
                    description=description,
                    key={"@id": f"{key}/id"},
                    field=[*_columns(spec, shard, key), _split_field(key, split)],
                )


def _split_field(key: str, split: str) -> dict[str, Any]:
    return _node(
        "Field",
        f"{key}/split",
        description="the split that the row is in",
        dataType="sc:Text",
        references={"field": {"@id": "splits/name"}},
        value=split,
    )


def _columns(spec: DatasetSpec, shard: ParquetShard, key: str) -> Iterator[dict[str, Any]]:
    meanings = {**COLUMNS, **spec.meanings}
    for column in spec.features.arrow_schema:
        source = {"fileObject": {"@id": shard.file}, "extract": {"column": column.name}}
        field = _column(f"{key}/{column.name}", column, source)
        field["description"] = meanings[column.name]
        if column.name == "label":
            field["dataType"] = [field["dataType"], "cr:Label"]
            field["references"] = {"field": {"@id": "labels/id"}}
        yield field


def _column(identifier: str, column: pa.Field, source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of a column of values, of objects, or of lists of either."""
    kind, is_list = column.type, {}
    if pa.types.is_list(kind):
        kind, is_list = kind.value_type, {"cr:isArray": True}
    if not pa.types.is_struct(kind):
        data_type = _data_type(column.name, kind)
        return _node("Field", identifier, dataType=data_type, source=source, **is_list)
    parts = [
        _node(
            "Field",
            f"{identifier}/{part.name}",
            dataType=_data_type(column.name, part.type),
            source={**source, "transform": {"jsonPath": part.name}},
        )
        for part in kind
    ]
    return _node("Field", identifier, subField=parts, **is_list)


def _data_type(column: str, kind: pa.DataType) -> str:
    if str(kind) not in _TYPES:
        raise SchemaError(f"Column {column!r} has {kind} in it, for which Croissant has no type.")
    return _TYPES[str(kind)]
