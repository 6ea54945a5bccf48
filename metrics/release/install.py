"""Installs metrics where ``evaluate`` looks for ``pattern_accuracy`` when it is offline."""

import hashlib
import os
import tempfile
from pathlib import Path

from .. import METRICS
from .bundle import bundle


def install_metrics() -> list[Path]:
    """Makes ``evaluate.load("pattern_accuracy")`` and the others work offline in every project.

    They work in all projects that share the cache of Hugging Face modules, by their bare names
    and as ``nlihub/NAME``. Installing again replaces what is there.

    Returns:
        The script of each metric.
    """
    from evaluate.loading import init_dynamic_modules

    root = Path(init_dynamic_modules()) / "metrics"
    scripts = []
    for name in METRICS:
        source = bundle(f"nlihub.metrics.{name}.{name}")
        digest = hashlib.sha256(source.encode()).hexdigest()
        for folder in (f"evaluate-metric--{name}", f"nlihub--{name}"):
            target = root / folder / digest
            target.mkdir(parents=True, exist_ok=True)
            for package in (root, target.parent, target):
                (package / "__init__.py").touch()
            scripts.append(_write(target / f"{name}.py", source))
    return scripts


def _write(path: Path, source: str) -> Path:
    """Writes a file whole or not at all; its time is new, since evaluate takes the newest."""
    handle, partial = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(source)
        Path(partial).chmod(0o644)
        Path(partial).replace(path)
    finally:
        Path(partial).unlink(missing_ok=True)
    return path
