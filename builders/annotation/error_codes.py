"""Codes of errors: what coders wrote, read strictly and imported, and the tally."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...loaders.errors import AnnotationError, Defect, UsageError
from ...loaders.paths import local_path
from ..versions.open import PathLike
from .agreement import Share, fleiss_kappa
from .answer_files import (
    list_unreplaced,
    name_answer_files,
    read_answer_file,
    store_answer_files,
)
from .error_sheets import ANSWERS_FOLDER, ErrorSheets, read_error_sheets
from .sheets import Entries, Entry

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
        AnnotationError: A file is neither a CSV nor an export of Label Studio, lacks a column, or
            is not named after a coder; an error is unknown, of another draw or has other texts;
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
    names = name_answer_files(files, person="coder")
    kept = list_unreplaced(_files(sheets), names)
    codings, _ = _read(sheets, [*kept, *files])
    if not any(codings.values()):
        listed = ", ".join(path.name for path in files)
        raise UsageError(f"{listed}: no error is coded; submit codes before exporting.")
    store_answer_files(sheets.folder / ANSWERS_FOLDER, names, files)


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
    return read_answer_file(path, sheets.coders, role="a coder")


def _has_texts_of(entry: Entry, sheets: ErrorSheets) -> bool:
    """Return whether the texts have the letters and digits of the error; sheets trim the rest."""
    error = sheets.errors[entry.key]
    given, expected = (
        ["".join(filter(str.isalnum, text)) for text in (one.premise, one.hypothesis)]
        for one in (entry, error)
    )
    return given == expected


__all__ = ["import_codes", "review_codes"]


@dataclass(frozen=True)
class CodeTally:
    """The codes that people gave to errors.

    A coding is the answer of one coder to one error; it has one main code. Errors are drawn
    balanced, so shares describe the errors drawn, not all errors of a system.

    Attributes:
        origin: ``dataset``, ``systems``, ``by`` and ``seed`` of the draw.
        n_errors: Number of errors drawn.
        n_uncoded: How many of them nobody has coded; they are left out of all shares.
        codes: By code, the share of codings whose main code it is.
        further: By code, the share of codings that have it as a further code.
        by: By column, such as ``label`` or ``category``, and by its value, ``codes`` over the
            errors with that value.
        by_coder: By coder, ``codes`` over their codings.
        blank: By coder, the number of errors that they left blank.
        same_main: Share of errors, among those coded by as many as were asked, to which all gave
            the same main code; its whole is 0 where one coder was asked.
        kappa: Fleiss' kappa of the main code over the same errors, from -1 to 1, higher is better;
            None where it is undefined, as with one coder.
        n_left_out_of_kappa: Number of the other errors.
    """

    origin: Mapping[str, Any]
    n_errors: int
    n_uncoded: int
    codes: Mapping[str, Share]
    further: Mapping[str, Share]
    by: Mapping[str, Mapping[str, Mapping[str, Share]]]
    by_coder: Mapping[str, Mapping[str, Share]]
    blank: Mapping[str, int]
    same_main: Share
    kappa: float | None
    n_left_out_of_kappa: int

    def as_json(self) -> dict[str, Any]:
        """Return all figures in plain types, an undefined number as None."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


def import_codes(folder: PathLike, answers: Sequence[PathLike]) -> CodeTally:
    """Import the codes that people gave to errors, and tally all codes.

    Args:
        folder: The folder of errors, which ``sample_errors`` wrote.
        answers: The sheets, filled in, or an export of Label Studio. A sheet replaces the earlier
            one of its coder.

    Raises:
        UsageError: The folder is not one of errors, no error is coded, or two files are of the same
            coder.
        AnnotationError: An answer is malformed, of another draw, or has an unknown code; then
            nothing is imported.
        OutputError: The folder cannot be written to.
    """
    sheets = read_error_sheets(local_path(folder))
    add_codings(sheets, [local_path(path) for path in answers])
    return _tally(sheets, *read_codings(sheets))


def review_codes(folder: PathLike) -> CodeTally:
    """Tally the codes that people gave to errors.

    Args:
        folder: The folder of errors, which ``sample_errors`` wrote.

    Raises:
        UsageError: The folder is not one of errors.
        AnnotationError: The folder, or an answer in it, is malformed.

    Source:
        BioNLI, Table 6: the shares of six categories among 50 errors, one category each. Several
        coders, further codes and the breakdowns are ours.
    """
    sheets = read_error_sheets(local_path(folder))
    return _tally(sheets, *read_codings(sheets))


def _tally(sheets: ErrorSheets, codings: Codings, blank: Mapping[str, int]) -> CodeTally:
    names = list(sheets.scheme.codes)
    columns = list(next(iter(sheets.errors.values())).facts)

    def shares(answers: Iterable[tuple[str, ...]]) -> dict[str, Share]:
        mains = Counter(codes[0] for codes in answers)
        return {name: Share(mains[name], mains.total()) for name in names}

    def with_fact(column: str, value: str) -> Iterable[tuple[str, ...]]:
        for key, error in sheets.errors.items():
            if error.facts[column] == value:
                yield from codings[key].values()

    everything = [codes for found in codings.values() for codes in found.values()]
    further = Counter(code for codes in everything for code in codes[1:])
    values = {
        column: sorted({error.facts[column] for error in sheets.errors.values()})
        for column in columns
    }
    coded_by_all = [
        [codes[0] for codes in found.values()]
        for found in codings.values()
        if len(found) == sheets.n_coders > 1
    ]
    return CodeTally(
        origin=sheets.origin,
        n_errors=len(sheets.errors),
        n_uncoded=sum(not found for found in codings.values()),
        codes=shares(everything),
        further={name: Share(further[name], len(everything)) for name in names},
        by={
            column: {value: shares(with_fact(column, value)) for value in values[column]}
            for column in columns
        },
        by_coder={
            coder: shares(found[coder] for found in codings.values() if coder in found)
            for coder in blank
        },
        blank=blank,
        same_main=Share(sum(len(set(mains)) == 1 for mains in coded_by_all), len(coded_by_all)),
        kappa=fleiss_kappa([[mains.count(name) for name in names] for mains in coded_by_all]),
        n_left_out_of_kappa=len(sheets.errors) - len(coded_by_all),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Share):
        return {**asdict(value), "value": _plain(value.value)}
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
