"""SEP: the two entities change positions, and their markers move with them.

Without its markers the sentence is that of SEN: whoever strips them has both twice, see
``perturb``'s ``ignore_markers``.

Source:
    BioNLI, section 3.3.1, "Swap Entity Positions"; Table 4. For a third way that is in the authors'
    code alone see ``swap_markers.py``.
"""

from collections.abc import Iterable, Mapping

from ..mechanisms.mechanism import Mechanism
from .choices import Choices
from .marked import MARKERS, MarkedSentence, Place
from .strategy import Edit, Perturbed, Refused, Strategy
from .swap_names import SAME_NAME, SwapNames, swap_names


class SwapPositions(Strategy):
    """SEP: ``<re> A <er> ... <el> B <le>`` becomes ``<el> B <le> ... <re> A <er>``.

    Attributes:
        symmetric: As for ``SwapNames``.
    """

    name = "SEP"
    precondition = SwapNames.precondition
    otherwise = SAME_NAME
    others = SwapNames.others

    def __init__(self, *, symmetric: bool = False) -> None:
        self.symmetric = symmetric

    def _propose(
        self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices
    ) -> Iterable[Perturbed] | Refused:
        found = swap_names(marked, mechanism, symmetric=self.symmetric)
        if isinstance(found, Refused):
            return found
        other = {
            marked.regulator.name_start: (marked.regulator, MARKERS["regulated"]),
            marked.regulated.name_start: (marked.regulated, MARKERS["regulator"]),
        }
        return [Perturbed.of(marked.text, (_with_markers(edit, other) for edit in found))]


def _with_markers(edit: Edit, other: Mapping[int, tuple[Place, tuple[str, str]]]) -> Edit:
    """The edit of a name as one of the name and its markers; others stay."""
    if edit.start not in other:
        return edit
    place, (opens, closes) = other[edit.start]
    return Edit(place.start, place.end, f"{opens} {edit.new} {closes}")
