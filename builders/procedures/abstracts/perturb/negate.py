"""VNeg: the polarity of one predicate is flipped, in both directions.

Source:
    BioNLI, section 3.3.1, "Verb Negation"; Table 4. The release calls the directions ``posToNeg``
    and ``negToPos``. The paper finds predicates with a parser; here they are found by rules and a
    list of verbs, and what the rules do not understand is left alone.
"""

from collections.abc import Iterable

from .....loaders.errors import UsageError
from ..mechanisms.mechanism import Mechanism
from .clauses import (
    read_words,
)
from .marked import MarkedSentence
from .predicates import affirm, deny
from .strategy import Choices, NoNegative, Perturbed, Strategy

DIRECTIONS = ("both", "posToNeg", "negToPos")


class Negate(Strategy):
    """VNeg: ``increases`` becomes ``does not increase``, ``did not bind`` becomes ``bound``.

    Attributes:
        any_predicate: Whether all predicates are alike, as in the paper. By default those that
            report (``it was concluded that``) are left out, as the mechanism stays as it is, and
            those that hedge (``may inhibit``) are taken where there is no other, as ``may not``
            does not contradict ``may``.
        direction: ``posToNeg`` negates only, ``negToPos`` takes negations away only, as the
            release tells them apart; ``both`` does either.
    """

    name = "VNeg"
    precondition = "a predicate that the rules understand"
    otherwise = "no predicate whose polarity can be flipped by rule"

    def __init__(self, *, any_predicate: bool = False, direction: str = "both") -> None:
        if direction not in DIRECTIONS:
            raise UsageError(f"{direction!r} is none of {', '.join(DIRECTIONS)}.")
        self.any_predicate = any_predicate
        self.direction = direction

    def _propose(
        self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices
    ) -> Iterable[Perturbed] | NoNegative:
        words = read_words(marked)
        affirmed = affirm(marked, words) if self.direction != "posToNeg" else ()
        denied = deny(marked, words) if self.direction != "negToPos" else ()
        found = choices.arrange([*affirmed, *denied], "predicate")
        if not self.any_predicate:
            found = [flip for flip in found if not flip.is_reporting]
            found.sort(key=lambda flip: flip.is_hedged)
        return [Perturbed.of(marked.text, flip.edits) for flip in found]
