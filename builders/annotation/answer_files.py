"""Files of answers: which form they have, whose they are, and how they are stored.

A sheet is named after who filled it in. An export of Label Studio names everybody in itself and
gets another name every time, so that it is stored under one name.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from ...loaders.atomic_write import whole_file
from ...loaders.errors import Defect, UsageError
from .completions import COMPLETIONS_FILE
from .label_studio import is_label_studio_table, read_label_studio_json, read_label_studio_table
from .sheets import Entries, read_sheet_answers

_LABEL_STUDIO = "label-studio"
_TABLES = (".csv", ".tsv")


def read_answer_file(
    path: Path, people: Sequence[str], *, role: str, takes_completions: bool = False
) -> Entries:
    """Read a sheet or an export of Label Studio: its entries, and the defects of the rest.

    Args:
        path: The file: a sheet, or a JSON, JSON-MIN, CSV or TSV export.
        people: Those who have a sheet.
        role: What they are, as in ``"an annotator"``.
        takes_completions: Whether a file of completed sentences alone is taken too.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        return read_label_studio_json(path)
    if suffix in _TABLES and is_label_studio_table(path):
        return read_label_studio_table(path)
    completions = [COMPLETIONS_FILE] if takes_completions else []
    if suffix == ".csv" and (path.stem in people or path.name in completions):
        return read_sheet_answers(path)
    problem = "neither a .csv sheet nor an export of Label Studio in JSON or CSV"
    if suffix == ".csv":
        # Not any name: "annotator-1 (1).csv", saved twice, would vote twice.
        *names, last = [*(f"{name}.csv" for name in people), *completions]
        expected = f"{', '.join(names)} or {last}" if names else last
        problem = f"not named after {role}; expected {expected}, or a CSV export of Label Studio"
    return [], [Defect(str(path), 0, "", problem)]


def name_answer_files(files: Sequence[Path], *, person: str) -> list[str]:
    """Return the names under which files of answers are stored.

    Args:
        files: The files.
        person: What each person is, as in ``"annotator"``.

    Raises:
        UsageError: Two of the files would have one name, or are exports of Label Studio.
    """
    names = [_name_stored(path) for path in files]
    stems = Counter(_identity(name) for name in names)
    if double := [name for name in dict.fromkeys(names) if stems[_identity(name)] > 1]:
        raise UsageError(
            f"There is more than one file for {', '.join(double)}; give one sheet for each "
            f"{person}, and one export of Label Studio."
        )
    return names


def list_unreplaced(stored: Iterable[Path], names: Collection[str]) -> list[Path]:
    """Return the stored files that files with these names do not replace."""
    new = {_identity(name) for name in names}
    return [path for path in stored if _identity(path.name) not in new]


def store_answer_files(folder: Path, names: Sequence[str], files: Sequence[Path]) -> None:
    """Copy files of answers into a folder; an export replaces the earlier one of another form.

    Raises:
        OutputError: The folder cannot be written to.
    """
    for name, path in zip(names, files, strict=True):
        with whole_file(folder / name) as partial:
            partial.write_bytes(path.read_bytes())
    unreplaced = list_unreplaced(folder.iterdir(), names)
    for path in folder.iterdir():
        if path.name not in names and path not in unreplaced:
            path.unlink()


def _name_stored(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix == ".json":
        return f"{_LABEL_STUDIO}.json"
    is_export = suffix in _TABLES and is_label_studio_table(path)
    return f"{_LABEL_STUDIO}.csv" if is_export else path.name


def _identity(name: str) -> str:
    """Return what a stored file is replaced by: an export by one of any form."""
    stem = Path(name).stem
    return stem if stem == _LABEL_STUDIO else name
