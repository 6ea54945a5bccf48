"""SN: a number is replaced by another of its kind from the supporting set.

Source:
    BioNLI, section 3.3.1, "Swap Numbers". The paper asks for "a different number"; that kinds must
    agree (a percentage by a percentage) is ours, as ``34 patients`` for ``0.05`` is no sentence.
"""

import re
from collections.abc import Iterable

from ..mechanisms.mechanism import Mechanism
from .choices import Choices
from .grammar import fit_article
from .marked import MarkedSentence, mask_names
from .numbers import Number, find_numbers, is_counting, may_be_rounded, read_unit, render_like
from .strategy import Edit, Perturbed, Refused, Strategy

#: Why no number is replaced.
NO_NUMBER = "no number in the conclusion"
_ALL = re.compile(r"\ball (?:the |of the |these |those )?$", re.IGNORECASE)
_LEAST_OF_ALL = 2
_UPPER_BOUND = re.compile(
    r"(?:[<≤]|\b(?:within|less than|fewer than|lower than|up to|at most|below|under)) ?$",
    re.IGNORECASE,
)
_LOWER_BOUND = re.compile(
    r"(?:[>≥]|\b(?:more than|greater than|higher than|at least|over|above|exceed\w*)) ?$",
    re.IGNORECASE,
)


class SwapNumber(Strategy):
    """SN: ``by 40%`` becomes ``by 65%`` where the supporting set has 65%.

    Attributes:
        any_number: Whether any other number may come, as in the paper, be it of another kind or
            one that follows from the old.
    """

    name = "SN"
    precondition = "a number in the conclusion, and another of its kind in the supporting set"
    otherwise = "no other number of its kind in the supporting set"
    others = (NO_NUMBER,)

    def __init__(self, *, any_number: bool = False) -> None:
        self.any_number = any_number

    def _propose(
        self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices
    ) -> Iterable[Perturbed] | Refused:
        numbers = find_numbers(marked.masked)
        if not numbers:
            return Refused(NO_NUMBER)
        names = {mechanism.regulator, mechanism.regulated, *(m.text for m in mechanism.mentions)}
        masked = [mask_names(sentence, names) for sentence in mechanism.supporting]
        offered = [(sentence, n) for sentence in masked for n in find_numbers(sentence)]
        known = {(number.kind, number.values) for number in numbers}
        options: dict[tuple[int, str], tuple[Number, str, bool]] = {}
        for old in numbers:
            for sentence, new in offered:
                if (new.kind, new.values) in known:
                    continue
                if self.any_number or (new.kind == old.kind and _fits(marked.masked, old, new)):
                    text = render_like(old, new)
                    alike = read_unit(marked.masked, old) == read_unit(sentence, new)
                    earlier = options.get((old.start, text))
                    alike = alike or (earlier is not None and earlier[2])
                    options[(old.start, text)] = (old, text, alike)
        ordered = choices.arrange([options[key] for key in sorted(options)], "number")
        # A dose comes for a dose first, then any number: the paper asks for no more.
        ordered.sort(key=lambda option: not option[2])
        return (
            Perturbed.of(
                marked.text,
                [Edit(old.start, old.end, new), *fit_article(marked.text, old.start, new)],
            )
            for old, new, _ in ordered
        )


def _fits(masked: str, old: Number, new: Number) -> bool:
    """Whether the sentence stays one, and does not follow from the old one.

    Nouns and verbs need no change: not three patients for one patient. And a bound gets tighter:
    ``within 90 min`` follows from ``within 30 min``, ``P < 0.05`` from ``P < 0.01``. And a
    conclusion rounds what the abstract has found: 10% where that has 10.1%.
    """
    before = masked[: old.start]
    if may_be_rounded(old, new):
        return False
    if is_counting(masked, old) and (old.values[0] == 1) != (new.values[0] == 1):
        return False
    if _ALL.search(before) and new.values[0] <= _LEAST_OF_ALL:
        return False
    if _UPPER_BOUND.search(before):
        return new.values[-1] < old.values[-1]
    return not _LOWER_BOUND.search(before) or new.values[0] > old.values[0]
