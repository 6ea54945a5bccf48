"""The codes that come back: strict reading of the sheets of coders, and Label Studio's export."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...loaders.atomic_write import whole_file
from ...loaders.errors import AnnotationError, Defect, UsageError
from .answers import LABEL_STUDIO_FILE
from .error_sheets import ANSWERS_FOLDER, ErrorSheets
from .label_studio import read_label_studio_answers
from .sheets import Entries, Entry, read_sheet_answers

#: By key of an error and by coder, the codes that they gave it, the main one first.
Codings = Mapping[str, Mapping[str, tuple[str, ...]]]
_ADVICE = "Nothing was imported. Correct the files, or have the coders correct them."


def read_codings(sheets: ErrorSheets) -> tuple[Codings, Mapping[str, int]]:
    """Read the codes of errors that came back.

    The file name of a sheet names its coder, ``coder-1.csv``; in an export of Label Studio each
    answer names its own. Premise and hypothesis must have the letters and digits of the error, so
    that a column sorted by itself is noticed.

    Returns:
        The codings of every error, an empty mapping where nobody has coded it; and by coder with a
        file, the number of errors that they left blank.

    Raises:
        AnnotationError: A file is neither a CSV nor a JSON export of Label Studio, lacks a column,
            or is not named after a coder; an error is unknown, of another draw or has other texts;
            a coder coded an error twice; a code is unknown, repeated or blank. Lists every defect
            with file, line and value.
    """
    return _read(sheets, _files(sheets))


def add_codings(sheets: ErrorSheets, files: Sequence[Path]) -> None:
    """Copy files of codes into the folder of their errors.

    A sheet replaces the earlier sheet of its coder, an export of Label Studio the earlier one.

    Raises:
        AnnotationError: A file has a defect that ``read_codings`` lists; nothing is copied.
        UsageError: No error is coded, or two of the files would have the same name.
        OutputError: The folder cannot be written to.
    """
    names = [LABEL_STUDIO_FILE if _is_json(path) else path.name for path in files]
    if double := [name for name, times in Counter(names).items() if times > 1]:
        raise UsageError(
            f"There is more than one file for {', '.join(double)}; give one sheet for each coder, "
            "and one export of Label Studio."
        )
    kept = [path for path in _files(sheets) if path.name not in names]
    codings, _ = _read(sheets, [*kept, *files])
    if not any(codings.values()):
        listed = ", ".join(path.name for path in files)
        raise UsageError(f"{listed}: no error is coded. Label Studio: export as JSON.")
    for name, path in zip(names, files, strict=True):
        with whole_file(sheets.folder / ANSWERS_FOLDER / name) as partial:
            partial.write_bytes(path.read_bytes())


def _files(sheets: ErrorSheets) -> list[Path]:
    folder = sheets.folder / ANSWERS_FOLDER
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if not path.name.startswith("."))


def _read(sheets: ErrorSheets, files: Sequence[Path]) -> tuple[Codings, dict[str, int]]:
    codings: dict[str, dict[str, tuple[str, ...]]] = {key: {} for key in sheets.errors}
    seen: set[str] = set()
    defects: list[Defect] = []
    for path in files:
        entries, wrong = _entries(sheets, path)
        defects += wrong
        if entries and all(entry.key not in codings for entry in entries):
            problem = "none of its errors is of this draw; is it a sheet of another folder?"
            defects.append(Defect(str(path), 0, "", problem))
            continue
        for entry in entries:
            seen.add(entry.annotator)
            codes, problem = sheets.scheme.read_cell(entry.answer)
            if entry.key not in codings:
                problem = f"the error {entry.key!r} is not of this draw"
            elif not _has_texts_of(entry, sheets):
                problem = (
                    f"the texts are not those of the error {entry.key!r}: were they moved or "
                    "edited?"
                )
            elif codes and entry.annotator in codings[entry.key]:
                problem = f"{entry.annotator} has already coded the error {entry.key!r}"
            if problem:
                defects.append(Defect(str(path), entry.line, entry.where, problem))
            elif codes:
                codings[entry.key][entry.annotator] = codes
    if defects:
        raise AnnotationError(defects, _ADVICE)
    blank = {coder: sum(coder not in found for found in codings.values()) for coder in sorted(seen)}
    return codings, blank


def _entries(sheets: ErrorSheets, path: Path) -> Entries:
    if _is_json(path):
        return read_label_studio_answers(path)
    problem = ""
    if path.suffix.lower() != ".csv":
        problem = "neither a .csv sheet nor a .json export of Label Studio"
    elif path.stem not in sheets.coders:
        # Not any name: "coder-1 (1).csv", saved twice, would count twice.
        names = ", ".join(f"{name}.csv" for name in sheets.coders)
        problem = f"not named after a coder; expected {names}"
    return ([], [Defect(str(path), 0, "", problem)]) if problem else read_sheet_answers(path)


def _has_texts_of(entry: Entry, sheets: ErrorSheets) -> bool:
    """Return whether the texts have the letters and digits of the error; sheets trim the rest."""
    error = sheets.errors[entry.key]
    given, expected = (
        ["".join(filter(str.isalnum, text)) for text in (one.premise, one.hypothesis)]
        for one in (entry, error)
    )
    return given == expected


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"
