"""VNeg: flip the polarity of one predicate, in either direction.

Source:
    BioNLI, section 3.3.1, "Verb Negation"; Table 4. The release calls the directions ``posToNeg``
    and ``negToPos``. The paper finds predicates with a parser; here rules and a list of verbs find
    them, and leave alone what they do not understand.
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
        any_predicate: Whether to treat all predicates alike, as in the paper. By default those
            that report (``it was concluded that``) are left out, as their negation leaves the
            mechanism as it is; those that hedge (``may inhibit``) come last, as ``may not`` does
            not contradict ``may``.
        direction: ``posToNeg`` only negates, ``negToPos`` only removes negations, in the terms of
            the release; ``both`` does either.
    """

    name = "VNeg"
    precondition = "a predicate that the rules understand"
    otherwise = "no predicate whose polarity can be flipped by rule"

    def __init__(self, *, any_predicate: bool = False, direction: str = "both") -> None:
        if direction not in DIRECTIONS:
            raise UsageError(
                f"The direction {direction!r} is unknown; expected one of {', '.join(DIRECTIONS)}."
            )
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
