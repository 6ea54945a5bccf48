"""What the functions that make a dataset of somebody's own share."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .api import PathLike, list_datasets
from .builders.core.schema import is_name
from .builders.procedures.declared import Declared
from .builders.versions.version import BuiltVersion
from .loaders.atomic_write import whole_file
from .loaders.errors import UsageError


def declare(
    name: str,
    pretty_name: str | None,
    license_id: str,
    copyright_line: str,
    citation: PathLike | None,
    procedure: str,
    language: str = "en",
) -> Declared:
    """What a maker says of a dataset, filled in where it is not said.

    Args:
        name: Name of the dataset.
        pretty_name: Its name in prose; None makes it of ``name``.
        license_id: Identifier of its licence.
        copyright_line: The line that the licence asks to keep.
        citation: File with its BibTeX; None cites the procedure.
        procedure: The procedure, in BibTeX.
        language: Code of its language.

    Raises:
        UsageError: The name is none or one of this package's, the language is none, or the file
            cannot be read.
    """
    if not is_name(name):
        raise UsageError(f"{name!r} is no snake_case name.")
    if name in list_datasets():
        raise UsageError(
            f"{name} is a dataset of this package, which other texts do not give; take another "
            "name."
        )
    title = pretty_name or name.replace("_", " ").title()
    cited = _citation(name, title, procedure) if citation is None else _read(citation)
    return Declared(name, title, license_id, copyright_line, cited, language)


def check_domain(domain: str) -> None:
    """Refuses a domain that is none.

    Raises:
        UsageError: It has other characters than small letters, digits and ``_``.
    """
    if not is_name(domain):
        raise UsageError(f"{domain!r} is no domain; expected small letters, digits and _.")


def path_of(path: PathLike | None) -> Path | None:
    """A path that users give, if any."""
    return Path(path).expanduser() if path is not None else None


def write_report(path: Path, report: Mapping[str, Any]) -> None:
    """Writes what was read, kept and dropped, as JSON."""
    text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8", errors="surrogateescape")


def count_rows(version: BuiltVersion) -> Mapping[str, Mapping[str, int]]:
    """Number of rows of a built version, by config and split."""
    configs = version.manifest.configs
    return {name: {s: split.rows for s, split in found.items()} for name, found in configs.items()}


def _citation(name: str, title: str, procedure: str) -> str:
    key = name.replace("_", "-")
    note = f"Made with nlihub, by the procedure of {procedure}"
    return f"@misc{{{key},\n  title = {{{title}}},\n  note = {{{note}}}\n}}\n"


def _read(path: PathLike) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
