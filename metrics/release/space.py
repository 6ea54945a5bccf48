"""A metric as the files of a Space of the Hub."""

from importlib.resources import files

from .bundle import bundle


def space_files(name: str) -> dict[str, str]:
    """The files of a metric's Space: script, app, card and requirements.

    Args:
        name: Name of the metric.

    Returns:
        Text by file name; none of it needs nlihub.
    """
    package = f"nlihub.metrics.{name}"
    folder = files(package)
    return {
        f"{name}.py": bundle(f"{package}.{name}"),
        "app.py": bundle(f"{package}.app"),
        "README.md": (folder / "README.md").read_text(encoding="utf-8"),
        "requirements.txt": (folder / "requirements.txt").read_text(encoding="utf-8"),
    }
