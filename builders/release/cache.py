"""Keeps built versions, so that a dataset is built once on a machine."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

import pyarrow as pa

from ...loaders.errors import VerificationError
from ..base import BuildOptions, NLIBuilder
from .version import BuiltVersion
from .write import build_version


def ensure_built(builder: type[NLIBuilder], options: BuildOptions) -> BuiltVersion:
    """The built version of a dataset in the cache, built now if it is not there whole.

    Its place depends on the code and data of this package, so that a changed builder never
    finds rows of an earlier one.

    Raises:
        NLIHubError: It has to be built and its sources are missing or wrong.
    """
    spec = builder.SPEC
    key = hashlib.sha256(f"{_code_digest()} {pa.__version__}".encode()).hexdigest()[:16]
    folder = options.cache_dir / "built" / f"{spec.version}-{key}"
    version = BuiltVersion(folder / spec.name)
    if _is_whole(version):
        return version
    return build_version(builder, folder, options)


def _is_whole(version: BuiltVersion) -> bool:
    try:
        shards = [
            shard
            for splits in version.manifest.configs.values()
            for split in splits.values()
            for shard in split.shards
        ]
    except VerificationError:
        return False
    paths = [version.folder / shard.file for shard in shards]
    return all(
        path.is_file() and path.stat().st_size == shard.bytes
        for path, shard in zip(paths, shards, strict=True)
    )


@cache
def _code_digest() -> str:
    """A hash of every file of the package that rows or cards can depend on."""
    digest = hashlib.sha256()
    for package in ("builders", "loaders", "dataset_cards"):
        root = Path(str(files(f"nlihub.{package}")))
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{package}/{path.relative_to(root)}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()
