"""The cache of built versions: a dataset is built once on a machine."""

import hashlib

import pyarrow as pa
from filelock import FileLock

from ...loaders.errors import VerificationError
from ..core.base import NLIBuilder
from ..core.options import BuildOptions
from .version import BuiltVersion
from .write import build_version


def ensure_built(builder: type[NLIBuilder], options: BuildOptions) -> BuiltVersion:
    """Return the built version of a dataset in the cache; build it unless it is there whole.

    Its folder depends on the fingerprint of the builder, which covers code and sources, so that a
    changed builder never finds rows of an earlier one. A whole version is never replaced, so that
    processes that read it are not disturbed.

    Args:
        builder: The builder of the dataset.
        options: Where the sources and the cache are; a folder of sources is verified even where
            the version is cached.

    Returns:
        The version; all its files have their hashes.

    Raises:
        NLIHubError: The sources are missing, not the pinned ones, or malformed.
    """
    spec = builder.SPEC
    made_of = hashlib.sha256(f"{builder.fingerprint(options)} {pa.__version__}".encode())
    folder = options.cache_dir / "built" / f"{spec.version}-{made_of.hexdigest()[:16]}"
    version = BuiltVersion(folder / spec.name)
    if _is_whole(version):
        builder.read_unknown_sources(options)
        return version
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f".{spec.name}.lock"):
        if _is_whole(version):  # built by another process while this one waited
            return version
        return build_version(builder, folder, options, may_replace=lambda _: True)


def _is_whole(version: BuiltVersion) -> bool:
    try:
        return not any(version.damaged_files())
    except VerificationError:
        return False
    finally:
        vars(version).pop("manifest", None)  # read again once it is built
