"""Install metrics into the cache where ``evaluate`` looks for a bare name when it is offline.

The layout of that cache is private to ``evaluate``; it was seen in 0.4.5 and 0.4.6 and is written
down here and nowhere else: ``<modules>/metrics/<name>/<64 digits>/<script>``, where the name is
``evaluate-metric--NAME`` or ``ORG--NAME``, every folder is a package, and the newest script counts.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from . import METRICS
from .bundle import bundle


def install_metrics() -> list[Path]:
    """Make ``evaluate.load("pattern_accuracy")`` and the others work offline in every project.

    The metrics load by their bare names and as ``nlihub/NAME`` in all projects that share the
    cache of Hugging Face modules. Installing again replaces the scripts.

    Returns:
        The scripts, two per metric.

    Raises:
        OSError: The cache cannot be written.
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
    """Write a file atomically; its time is new, since ``evaluate`` takes the newest script."""
    handle, partial = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(source)
        Path(partial).chmod(0o644)
        Path(partial).replace(path)
    finally:
        Path(partial).unlink(missing_ok=True)
    return path
