"""A metric as the files of a Space of the Hub."""

from importlib import import_module
from importlib.resources import files

from ...metrics.release.bundle import bundle


def space_files(name: str, repository: str | None = None) -> dict[str, str]:
    """The files of a metric's Space: script, app, card and requirements.

    Args:
        name: Name of the metric.
        repository: Where it will be, ``ORG/NAME``, for the examples on the card.

    Returns:
        Text by file name; none of it needs nlihub.
    """
    package = f"nlihub.metrics.{name}"
    folder = files(package)
    card = (folder / "README.md").read_text(encoding="utf-8")
    if repository is not None:
        card = card.replace(f'evaluate.load("{name}")', f'evaluate.load("{repository}")')
    return {
        f"{name}.py": bundle(f"{package}.{name}"),
        "app.py": bundle(f"{package}.app"),
        "README.md": card,
        "requirements.txt": (folder / "requirements.txt").read_text(encoding="utf-8"),
    }


def metric_version(name: str) -> str:
    """The version of a metric, which its signatures quote.

    Args:
        name: Name of the metric.
    """
    scoring = import_module(f"nlihub.metrics.{name}.scoring")
    return str(getattr(scoring, f"{name.upper()}_VERSION"))
