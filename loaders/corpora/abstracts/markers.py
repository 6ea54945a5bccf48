"""The markers of a conclusion: ``<re> X <er>`` is the regulator, ``<el> Y <le>`` the regulated.

Source: BioNLI, section 3.1 and Tables 1 and 4. (Section 3.1 closes the first with ``<re>`` and the
second with ``<le>``; the tables, and the released data, have ``<er>`` and ``<le>``.)
"""

import re
from typing import NamedTuple

REGULATOR = ("<re>", "<er>")
REGULATED = ("<el>", "<le>")
MARKER = re.compile("|".join((*REGULATOR, *REGULATED)))
_MARKED = re.compile(r"<(re|el)>\s*(.*?)\s*<(er|le)>", re.DOTALL)


class Marked(NamedTuple):
    """A conclusion with both entities marked.

    Attributes:
        text: The conclusion, with one space inside each marker.
        regulator: The name marked as the regulator.
        regulated: The name marked as the regulated entity.
    """

    text: str
    regulator: str
    regulated: str


def read_marked(text: str) -> Marked | str:
    """Read the marked entities from the text of a record.

    Args:
        text: The conclusion, with any number of spaces inside the markers.

    Returns:
        The conclusion with its entities, or the defect of its markers.

    Example:
        >>> read_marked("The <re>fox<er> calms <el> hens  <le>.").text
        'The <re> fox <er> calms <el> hens <le>.'
        >>> read_marked("The <re> fox <el> calms <er> hens <le>.")
        'expected <re> ... <er> and <el> ... <le>, got <re> <el> <er> <le>'
    """
    found = MARKER.findall(text)
    pairs = (*REGULATOR, *REGULATED), (*REGULATED, *REGULATOR)
    if tuple(found) not in pairs:
        got = " ".join(found) or "no marker"
        return f"expected <re> ... <er> and <el> ... <le>, got {got:.80}"
    inside = {opening: content for opening, content, _ in _MARKED.findall(text)}
    if not all(inside.values()):
        return "expected an entity in each pair of markers, got none"
    marked = _MARKED.sub(r"<\1> \2 <\3>", text)
    return Marked(marked, inside["re"], inside["el"])


def mark_entities(text: str, regulator: tuple[int, int], regulated: tuple[int, int]) -> str:
    """Put markers around two entities in the text of an abstract.

    Args:
        text: The sentence.
        regulator: The start and end offset of the regulator.
        regulated: The start and end offset of the regulated entity.

    Example:
        >>> mark_entities("Foxes calm hens.", (0, 5), (11, 15))
        '<re> Foxes <er> calm <el> hens <le>.'
    """
    for (begin, end), (opening, closing) in sorted(
        ((regulator, REGULATOR), (regulated, REGULATED)), reverse=True
    ):
        text = f"{text[:begin]}{opening} {text[begin:end]} {closing}{text[end:]}"
    return text
