"""Install a built version where ``datasets`` looks for ``nlihub/NAME`` offline.

The one module that knows the layout of the cache of ``datasets``, which is not documented:
``NAMESPACE___NAME/CONFIG/VERSION/HASH/dataset_info.json``, of which the newest is loaded offline.
Seen with ``datasets`` 4.0.0 and 5.2.0; ``test_install.py`` fails where another version differs.
"""

import json
from collections.abc import Collection, Iterator
from pathlib import Path

import datasets
import pyarrow as pa

from ...loaders.errors import OutputError
from ..core.datasets_builder import TableBuilder
from ..core.registry import NAMESPACE
from .verify import require_verified
from .version import BuiltVersion


def install_version(version: BuiltVersion) -> list[Path]:
    """Put every config of a built version into the cache of ``datasets``.

    Afterwards ``load_dataset("nlihub/NAME", CONFIG)`` works offline in any project that shares the
    cache. The config must be named, and where the Hub can be reached, a dataset of that name there
    is preferred.

    Returns:
        The folder of each config in the cache, the default one last.

    Raises:
        VerificationError: The version fails a check.
        OutputError: The cache cannot be written, or a version with more splits is installed.
        UnknownNameError: This package has no dataset of that name.
    """
    require_verified(version)
    manifest = version.manifest
    default = version.builder.SPEC.default_config
    # The default one last: datasets takes the newest where no config is named.
    configs = sorted(manifest.configs, key=lambda name: name == default)
    builders = [_replay(version, config) for config in configs]
    for config, builder in zip(configs, builders, strict=True):
        _refuse_to_hide_splits(Path(builder.cache_dir), manifest.configs[config])
    for builder in builders:
        try:
            # Always rewritten, so that installing again repairs a damaged cache.
            builder.download_and_prepare(download_mode="force_redownload")
        except datasets.exceptions.DatasetGenerationError as error:
            raise OutputError(
                f"{builder.cache_dir} cannot be written: {error.__cause__ or error}."
            ) from error
    return [Path(builder.cache_dir) for builder in builders]


def _replay(version: BuiltVersion, config: str) -> "_Replay":
    """Return a builder of one config, known to ``datasets`` by the name that users will type."""
    manifest = version.manifest
    replay = type(
        "Replay",
        (_Replay,),
        {
            "SPEC": version.builder.SPEC,
            "version_to_replay": version,
            "BUILDER_CONFIGS": [datasets.BuilderConfig(name=config, version=manifest.version)],
        },
    )
    builder: _Replay = replay(
        config_name=config,
        repo_id=f"{NAMESPACE}/{manifest.dataset}",
        dataset_name=manifest.dataset,
        hash=manifest.config_digest(config).replace("+", "-").replace(":", "-"),
    )
    return builder


def _refuse_to_hide_splits(target: Path, splits: Collection[str]) -> None:
    """Refuse where a version with more splits is installed; datasets takes the newest."""
    for path in sorted(target.parent.parent.glob("*/*/dataset_info.json")):
        if path.parent == target:
            continue
        try:
            others = json.loads(path.read_text(encoding="utf-8")).get("splits") or {}
        except (OSError, ValueError):
            continue
        if hidden := [name for name in others if name not in splits]:
            raise OutputError(
                f"{path.parent} is installed, and has the splits {', '.join(hidden)} too. Install "
                "these as well, or remove that folder."
            )


class _Replay(TableBuilder):
    """Yields the rows of a built version."""

    version_to_replay: BuiltVersion

    def splits(self) -> list[str]:
        return list(self.version_to_replay.manifest.configs[self.config.name])

    def tables(self, split: str) -> Iterator[pa.Table]:
        yield self.version_to_replay.table(self.config.name, split)
