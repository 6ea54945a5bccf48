"""A coding scheme: the codes that people give to errors of a system, read from a file.

For example the six categories of BioNLI's Table 6, described in our words::

    code,description
    multiple pieces of information,Several statements of the text must be combined.
    abbreviation,"An entity is written out in one sentence, and abbreviated in another."
    unrelated information,"The two entities are far apart, with other matters in between."
    mechanism mix up,"Of two experiments on the entities, only one shows the mechanism."
    noun phrase mix up,"The parts of a noun phrase, such as around a dash, swap their roles."
    entity similarity,"Another entity has a similar name, or shares a part of it."
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...loaders.errors import AnnotationError, Defect
from .sheets import read_sheet

#: Between the main code of an error and its further codes, in one cell.
SEPARATOR = ";"
_COLUMNS = ("code", "description")
_ADVICE = (
    "Give a CSV file with the columns code and description, and two codes or more, one in a row."
)


@dataclass(frozen=True)
class CodingScheme:
    """A coding scheme.

    Attributes:
        codes: By code, when to give it; two or more codes, in the order of the file.
    """

    codes: Mapping[str, str]

    def read_cell(self, cell: str) -> tuple[tuple[str, ...], str]:
        """Read what a coder wrote for an error; case and surrounding blanks do not count.

        Args:
            cell: The main code, and perhaps further ones after ``;``.

        Returns:
            The codes, the main one first; none for a blank cell, or one with a problem. The
            problem, empty where there is none: an unknown code, one given twice, or a blank one.

        Example:
            >>> CodingScheme({"length": "...", "negation": "..."}).read_cell("Negation; length")
            (('negation', 'length'), '')
        """
        if not cell.strip():
            return (), ""
        known = {code.casefold(): code for code in self.codes}
        parts = [part.strip() for part in cell.split(SEPARATOR)]
        for part in parts:
            if not part:
                return (), f"{cell!r} has a blank code; write the main code, then ; and others"
            if part.casefold() not in known:
                return (), f"the code {part!r} is unknown; expected {', '.join(self.codes)}"
        found = tuple(known[part.casefold()] for part in parts)
        if len(set(found)) < len(found):
            return (), f"{cell!r} gives a code twice"
        return found, ""


def read_coding_scheme(path: Path) -> CodingScheme:
    """Read a coding scheme from a CSV file with the columns ``code`` and ``description``.

    Args:
        path: The file, in UTF-8, its cells separated by commas, semicolons or tabs.

    Raises:
        AnnotationError: The file cannot be read, or lacks a column; a code is blank, has a ``;`` or
            no description, or occurs twice whatever its case; or there are fewer than two codes.
    """
    rows, defects = read_sheet(path, _COLUMNS)
    codes: dict[str, str] = {}
    for line, row in rows:
        code, description = (" ".join(row[name].split()) for name in _COLUMNS)
        problem = ""
        if not code or not description:
            problem = f"{'no description' if code else 'no code'}; expected both"
        elif SEPARATOR in code:
            problem = f"the code {code!r} has a {SEPARATOR}, which separates codes"
        elif code.casefold() in {known.casefold() for known in codes}:
            problem = f"the code {code!r} occurs twice"
        if problem:
            defects.append(Defect(str(path), line, "", problem))
        else:
            codes[code] = description
    if not defects and len(codes) < 2:
        found = f"one code, {next(iter(codes))!r}" if codes else "no code"
        defects.append(Defect(str(path), 0, "", f"{found}; expected two or more"))
    if defects:
        raise AnnotationError(defects, _ADVICE)
    return CodingScheme(codes)
