"""SET: the markers change places, the names stay where they are.

Without its markers the sentence is the positive itself, so it is none of the seven, and only for
models that read the markers.

Source:
    The authors' code (``entailment_preparation.ipynb``); neither the paper nor the release has it.
"""

from collections.abc import Iterable

from ..mechanisms.mechanism import Mechanism
from .choices import Choices
from .marked import MARKERS, MarkedSentence
from .strategy import Edit, Perturbed, Refused, Strategy
from .swap_names import SYMMETRIC, is_symmetric


class SwapMarkers(Strategy):
    """SET: ``<re> A <er> ... <el> B <le>`` becomes ``<el> A <le> ... <re> B <er>``.

    Attributes:
        symmetric: As for ``SwapNames``.
    """

    name = "SET"
    section = "none: the authors' code alone"
    precondition = "the relation of the two entities has a direction"
    otherwise = SYMMETRIC

    def __init__(self, *, symmetric: bool = False) -> None:
        self.symmetric = symmetric

    def _propose(
        self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices
    ) -> Iterable[Perturbed] | Refused:
        if is_symmetric(marked) and not self.symmetric:
            return Refused(SYMMETRIC)
        places = (marked.regulator, "regulated"), (marked.regulated, "regulator")
        edits = []
        for place, role in places:
            opens, closes = MARKERS[role]
            edits.append(Edit(place.start, place.name_start, f"{opens} "))
            edits.append(Edit(place.name_end, place.end, f" {closes}"))
        return [Perturbed.of(marked.text, edits)]
