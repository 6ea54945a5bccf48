"""Checks of a version that need no rows: manifest, files, schema, card, sources."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Features, Version

from ...loaders.errors import NLIHubError
from .card import (
    card_blocks,
    card_template,
    is_front_matter,
    list_blocks,
    read_blocks,
    split_card,
)
from .card_statistics import measure_statistics
from .manifest import OPTIONAL_FILES, TEXT_FILES
from .provenance import differing_sources, unpublished_sources
from .subject import Subject
from .write import license_text
from .write_rows import shard_name


def manifest_is_readable(version: Subject) -> Iterator[str]:
    """Check that dataset, version, configs and splits of the manifest are known here."""
    spec = version.builder.SPEC
    manifest = version.manifest
    if not _is_version(manifest.version):
        yield f"version {manifest.version!r}, expected X.Y.Z"
    elif not manifest.repository and manifest.version != spec.version:
        yield f"version {manifest.version}, which is not published; expected {spec.version}"
    if manifest.construction and not manifest.declaration:
        yield "counts of a construction that no declaration belongs to"
    if (made_by := manifest.made_with.get("builder")) != spec.version:
        yield f"made by version {made_by} of the builder, this package has {spec.version}"
    if list(manifest.labels) != list(spec.labels):
        yield f"labels {', '.join(map(str, manifest.labels))}, expected {', '.join(spec.labels)}"
    columns = {field.name: str(field.type) for field in spec.features.arrow_schema}
    if list(manifest.columns.items()) != list(columns.items()):
        yield f"columns {dict(manifest.columns)}, expected {columns}"
    for name, splits in manifest.configs.items():
        if name not in spec.configs:
            yield f"unknown config {name!r}, expected some of {', '.join(spec.configs)}"
            continue
        expected = spec.configs[name].splits
        if not splits or list(splits) != [split for split in expected if split in splits]:
            yield f"{name} has the splits {', '.join(splits)}, expected {', '.join(expected)}"


def _is_version(text: str) -> bool:
    try:
        return str(Version(text)) == text
    except (ValueError, TypeError):
        return False


def files_have_their_hashes(version: Subject) -> Iterator[str]:
    """Check that every file is listed, and every listed file exists, has its hash and its size."""
    yield from (f"{name} is not in the manifest" for name in version.unlisted_files())
    yield from version.damaged_files()
    for config, split in version.config_splits():
        for shard in version.manifest.configs[config][split].shards:
            path = version.folder / shard.file
            if path.is_file() and (found := path.stat().st_size) != shard.bytes:
                yield f"{shard.file} has {found} bytes, expected {shard.bytes}"


def files_are_those_of_a_version(version: Subject) -> Iterator[str]:
    """Check that the manifest lists the files of its splits, each by its name, and no others.

    ``datasets`` finds the rows by the names of files: rows under another name would be verified,
    and those under the right name loaded.
    """
    for config, split in version.config_splits():
        shards = version.manifest.configs[config][split].shards
        stem = f"{config}/{split}"
        expected = [shard_name(stem, number, len(shards)) for number in range(len(shards))]
        if (found := [shard.file for shard in shards]) != expected or not found:
            listed = ", ".join(expected) or shard_name(stem, 0, 1)
            yield f"{stem} has the files {', '.join(found) or 'none'}, expected {listed}"
    for name in TEXT_FILES:
        if name not in version.manifest.files:
            yield f"{name} is not listed"
    for name in version.manifest.files:
        if name not in (*TEXT_FILES, *OPTIONAL_FILES):
            yield f"{name} is no file of a version"


def schema_is_uniform(version: Subject) -> Iterator[str]:
    """Check that every Parquet file has the columns, types, order and labels of the dataset."""
    features = version.builder.SPEC.features
    for config, split in version.config_splits():
        for shard in version.manifest.configs[config][split].shards:
            try:
                schema = pq.read_schema(version.folder / shard.file)
            except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
                yield f"{shard.file} is no Parquet file: {error}"
                continue
            if schema.names != list(features):
                yield f"{shard.file} has the columns {schema.names}, expected {list(features)}"
                continue
            found = Features.from_arrow_schema(schema)
            for name, feature in features.items():
                if found[name] != feature:
                    yield f"{shard.file}: column {name!r} is {found[name]}, expected {feature}"


def card_is_true(version: Subject) -> Iterator[str]:
    """Check that front matter and generated blocks of the card agree with the files."""
    manifest, builder = version.manifest, version.builder
    path = version.folder / "README.md"
    if not path.is_file():
        yield "README.md is missing"
        return
    matter, body = split_card(path.read_text(encoding="utf-8"))
    if not is_front_matter(matter, builder.SPEC, manifest):
        yield "the front matter of README.md is not that of these files"
    blocks = card_blocks(builder, manifest, measure_statistics(version, version.tables))
    names = list_blocks(body)
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"block {name!r} of README.md stands there twice"
    found = read_blocks(body)
    for name in read_blocks(card_template(builder.SPEC)):
        if blocks[name].rstrip() != found.get(name, "").rstrip():
            yield f"block {name!r} of README.md is not what these files give"


def licence_and_citation_are_true(version: Subject) -> Iterator[str]:
    """Check that licence and citation are those of the dataset."""
    spec = version.builder.SPEC
    for name, text in (("LICENSE", license_text(spec)), ("CITATION.bib", spec.citation)):
        path = version.folder / name
        if not path.is_file():
            yield f"{name} is missing"
        elif path.read_bytes() != text.encode():
            yield f"{name} is not that of the dataset"


def sources_are_those_of_the_dataset(version: Subject) -> Iterator[str]:
    """Check that the manifest names the sources of the dataset."""
    yield from differing_sources(version.builder, version.manifest)


def is_of_this_package(version: Subject) -> bool:
    """Return whether it is a version of a dataset of this package."""
    return not version.manifest.declaration


def is_constructed(version: Subject) -> bool:
    """Return whether somebody constructed the version by a procedure of this package."""
    try:
        return not is_of_this_package(version)
    except NLIHubError:
        return False


def parts_that_are_missing(version: Subject) -> Iterator[str]:
    """List the configs and splits of the dataset that the version does not hold."""
    for name, config in version.builder.SPEC.configs.items():
        if name not in version.manifest.configs:
            yield f"config {name}"
        elif missing := [s for s in config.splits if s not in version.manifest.configs[name]]:
            yield f"{', '.join(missing)} of {name}"


def taken_on_trust(version: Subject) -> Iterator[str]:
    """List what rests on the manifest alone: whoever rewrites it with the rows can change it."""
    if not is_of_this_package(version):
        yield "rows, declaration and counts of a construction; to prove them, construct it again"
    elif version.sources is None:
        yield (
            "that rows, parameters and oddities are those of the sources; to prove it: "
            "--against-sources"
        )
    if is_of_this_package(version):
        for address in unpublished_sources(version.builder, version.manifest):
            yield f"the content of {address}: its sha256 is not a published one"
    manifest = version.manifest
    if manifest.repository:
        yield f"that it is version {manifest.version} of {manifest.repository}; load it from there"
    made_with = (f"{name} {n}" for name, n in manifest.made_with.items() if name != "builder")
    yield f"that it was made with {' and '.join(made_with)}, and its size in memory"
    yield from (f"what {name} says" for name in OPTIONAL_FILES if name in manifest.files)
