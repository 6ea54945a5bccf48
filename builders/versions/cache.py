"""Keeps built versions, so that a dataset is built once on a machine.

The place of a version depends on what its rows depend on: the dataset's own code, the sources, and
what writes rows. Card, licence and citation depend on more; where that has changed, they are
written anew beside the same rows.
"""

import hashlib
import json
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
from filelock import FileLock

from ...loaders.errors import VerificationError
from ...loaders.hashing import hash_file
from ..core.base import NLIBuilder
from ..core.identity import code_identity
from ..core.options import BuildOptions
from . import write, write_rows
from .version import BuiltVersion


def ensure_built(builder: type[NLIBuilder], options: BuildOptions) -> BuiltVersion:
    """Return the built version of a dataset in the cache, built now if it is not there whole.

    The rows of a whole version are never replaced, so that processes that read it are not
    disturbed.

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
    folder = options.cache_dir / "built" / f"{spec.version}-{_rows_identity(builder, options)[:16]}"
    version = BuiltVersion(folder / spec.name)
    texts = folder / f".{spec.name}.texts"  # of what its texts were made
    identity = _texts_identity(builder)
    if _is_whole(version) and _read(texts) == identity:
        builder.read_unknown_sources(options)
        return version
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f".{spec.name}.lock"):  # another process may do it meanwhile
        if not _is_whole(version):
            write.build_version(builder, folder, options, may_replace=lambda _: True)
        elif _read(texts) != identity:
            write.write_texts(builder, version.folder, version.manifest)
            vars(version).pop("manifest")
        texts.write_text(identity)
    return version


def _rows_identity(builder: type[NLIBuilder], options: BuildOptions) -> str:
    """Return a hash of all that the rows and their files depend on."""
    parts = [builder.fingerprint(options), code_identity(write_rows.__name__), pa.__version__]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _texts_identity(builder: type[NLIBuilder]) -> str:
    """Return a hash of all that card, licence and citation depend on besides the rows."""
    cards = Path(str(files("nlihub.dataset_cards")))
    prose = [*cards.glob("*/*.md"), *cards.glob("*/*.txt")]
    shipped = [path for folder in {p.parent for p in builder.SHIPPED} for path in folder.iterdir()]
    hashes = sorted((path.parent.name, path.name, hash_file(path)) for path in [*prose, *shipped])
    parts = [builder.code_identity(), code_identity(write.__name__), hashes]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _read(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _is_whole(version: BuiltVersion) -> bool:
    try:
        return not any(version.damaged_files())
    except VerificationError:
        return False
    finally:
        vars(version).pop("manifest", None)  # read again once it is built
