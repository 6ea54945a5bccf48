"""SN: replace a number by another one of the supporting set that contradicts it.

Source:
    BioNLI, section 3.3.1, "Swap Numbers". The paper asks for "a different number"; that it must
    contradict the positive is ours: ``0.05 patients`` is not a sentence, ``12 of 7 patients``
    cannot be, and ``more than 180`` follows of what holds for more than 120.
"""

import re

from ..mechanisms.mechanism import Mechanism
from .find_numbers import DASH, SPELLED, UNIT, UNITS, Number, find_numbers
from .grammar import fit_article
from .names import MarkedSentence, mask_names
from .strategy import Choices, NoNegative, Perturbed, Proposals, Strategy, TextEdit

#: Why no number is replaced.
NO_NUMBER = "no number in the conclusion"
OPEN_BOUND = "a bound that says for which cases the conclusion holds"
CONFIDENCE = "a confidence level or interval"
SHARE = "a number that something else in the sentence must agree with"

_ALL = re.compile(r"\ball (?:the |of the |these |those )?$", re.IGNORECASE)
_LEAST_OF_ALL = 2
_UPPER_BOUND = re.compile(
    r"(?P<bound>[<≤]|\b(?:within|(?:less|fewer|lower|smaller|shorter|younger) than|up to|at most"
    r"|no more than|below|under)) ?$",
    re.IGNORECASE,
)
_LOWER_BOUND = re.compile(
    r"(?P<bound>[>≥]|\b(?:(?:more|greater|higher|larger|longer|older) than|at least|no less than"
    r"|over|above|beyond|exceed\w*)) ?$",
    re.IGNORECASE,
)
#: What stands before a bound that is asserted: the effect is within it, not the case.
_ASSERTED = re.compile(
    r"(?:\b(?:by|to|is|are|was|were|occurred|found|seen|observed|in|reached|averaged)|=|[,(]"
    r"|\b[Pp](?:[- ]?values?)?|(?:last|persist|remain|surviv|maintain)\w* for) ?$"
)
#: What stands behind such a number, whatever is before it: "more than three times as often".
_OF_EFFECT = re.compile(
    rf"[\s{DASH}]?(?:fold|times)\b|\s?% (?:of|reduc|increas|decreas|inhibit|lower|high|few|more)"
)
_CONFIDENCE_LEVEL = re.compile(rf"\s?%\s?[{DASH}]?\s?(?:CIs?\b|C\.I\.|confidence|prediction inter)")
_IN_INTERVAL = re.compile(r"\b(?:CIs?|C\.I\.|confidence (?:inter\w+|limits?))\W[^.;)\]]*$")
_PART_BEFORE = re.compile(
    rf"(?:\d\s?%?\)?|\b(?:{SPELLED}))\s(?:\(?out )?of (?:the |a total of |all |these )?$",
    re.IGNORECASE,
)
_PART_AFTER = re.compile(
    rf"\s(?:\(?out )?of (?:the |a total of |all |these )?(?:\d|(?:{SPELLED})\b)"
)
_SHARE_AFTER = re.compile(r"[^.;,()]{0,30}\(\s?\d+(?:\.\d+)?\s?%")
#: Behind a count what is counted, one by one: "two agonists, A and B".
_LISTED = re.compile(r"\s\w+(?: \w+)?\s?[:,(](?! (?:and|but|which|who|as)\b)[^.;)]* and \w")
_SHARE_BEFORE = re.compile(r"\d[^.;,()]{0,30}\(\s?$")
#: What lasts for a time lasts for less; what is the first of ten is the first of five.
_AT_LEAST = re.compile(r"\b(?:for|the|throughout|during) ?$", re.IGNORECASE)
_FOREMOST = re.compile(r"\s(?:most|best|largest|highest|greatest|first|main|major)\b")
#: Words between numbers whose order is said as well.
_COMPARED = re.compile(r"\b(?:from|to|than|versus|vs|compared|respectively)\b", re.IGNORECASE)
_ABOUT = re.compile(r"(?:~|\b(?:about|approximately|around|roughly|nearly|almost|ca\.?|some)) ?$")
#: Least difference from an approximate number, as a share of it.
_LEAST_DIFFERENCE = 0.2
_TIME = r"second|minute|hour|day|night|week|month|year"
_TIMES = frozenset([*_TIME.split("|"), "h", "hr", "min", "s", "sec", "d", "wk"])
_PEOPLE = r"patient|subject|participant|volunteer|wom[ae]n|m[ae]n|child|adult|case|person|infant"
_QUANTITY = re.compile(
    rf"[\s{DASH}](?:\w+[ {DASH}])?(?:(?P<time>{_TIME})|(?P<people>{_PEOPLE}|people))(?:ren|s)?\b"
)
#: With what it is divided by: mg, but mg/kg.
_ANY_UNIT = re.compile(rf"[\s{DASH}]?((?:%|{UNITS})(?:/\w+)*)(?!\w)")
#: Largest plausible ratio of two numbers of one quantity, and the kinds that it holds for.
_MOST_APART = 10
_OF_MAGNITUDE = frozenset(["integer", "decimal", "word", "fold"])
#: 2.5 and 2.45 differ by no more than 0.05, as floats by a little more.
_TOLERANCE = 1e-9


class SwapNumber(Strategy):
    """SN: ``by 40%`` becomes ``by 65%`` where the supporting set has 65%.

    Attributes:
        any_number: Whether to take any other number, as in the paper, even of another kind or one
            that follows from the old.
    """

    name = "SN"
    otherwise = "no other number of its kind in the supporting set"
    others = (NO_NUMBER, OPEN_BOUND, CONFIDENCE, SHARE)

    def __init__(self, *, any_number: bool = False) -> None:
        self.any_number = any_number

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        numbers = find_numbers(marked.masked)
        if not numbers:
            return NoNegative(NO_NUMBER)
        exchanged = numbers
        if not self.any_number:
            reasons = {number: _why_not_exchanged(marked.masked, number) for number in numbers}
            exchanged = [number for number, reason in reasons.items() if reason is None]
            if not exchanged:
                return NoNegative(next(filter(None, reasons.values())))
        names = {*mechanism.names, *(m.text for m in mechanism.mentions)}
        masked = [mask_names(sentence, names) for sentence in mechanism.supporting]
        offered = [(sentence, n) for sentence in masked for n in find_numbers(sentence)]
        known = {(number.kind, number.values) for number in numbers}
        options: dict[tuple[int, str], tuple[Number, str]] = {}
        for old in exchanged:
            for sentence, new in offered:
                if (new.kind, new.values) in known:
                    continue
                if self.any_number or (
                    new.kind == old.kind
                    and not (_is_bound(marked.masked, old) and _is_bound(sentence, new))
                    and _quantity(marked.masked, old) == _quantity(sentence, new)
                    and _contradicts(marked.masked, old, new, numbers)
                ):
                    text = _render_like(old, new)
                    options[(old.start, text)] = (old, text)
        return (
            Perturbed.of(
                marked.text,
                [TextEdit(old.start, old.end, new), *fit_article(marked.text, old.start, new)],
            )
            for old, new in choices.arrange([options[key] for key in sorted(options)], "number")
        )


def _why_not_exchanged(masked: str, number: Number) -> str | None:
    """Return why no number can stand for this one; None where one may.

    - A bound of the cases: what holds above 120 holds above 180, and what holds above 90 may too.
    - A confidence level, or an end of an interval around an estimate.
    - A total, or one of a count and its share: ``in 12 of 40``, ``in 12 patients (30%)``.
    """
    before, after = masked[: number.start], masked[number.end :]
    bound = _UPPER_BOUND.search(before) or _LOWER_BOUND.search(before)
    if bound is not None and number.kind != "p-value" and not _OF_EFFECT.match(after):
        is_asserted = bound["bound"].lower() == "within" or _ASSERTED.search(
            before[: bound.start()]
        )
        if not is_asserted:
            return OPEN_BOUND
    if _CONFIDENCE_LEVEL.match(after) or _IN_INTERVAL.search(before):
        return CONFIDENCE
    if (
        _PART_BEFORE.search(before)
        or _SHARE_BEFORE.search(before)
        or _SHARE_AFTER.match(after)
        or (number.kind in ("word", "integer") and _LISTED.match(after))
        or (number.kind == "percent" and _PART_AFTER.match(after.lstrip(" %")))
    ):
        return SHARE
    return None


def _is_bound(masked: str, number: Number) -> bool:
    """Return whether a number is a bound; another bound may be what the supporting set states."""
    before = masked[: number.start]
    return bool(_UPPER_BOUND.search(before) or _LOWER_BOUND.search(before))


def _contradicts(masked: str, old: Number, new: Number, numbers: list[Number]) -> bool:
    """Return whether the new sentence is grammatical, and cannot hold with the old one.

    Nouns and verbs must need no change: not three patients for one patient. A bound must get
    tighter: ``within 90 min`` follows from ``within 30 min``, ``P < 0.05`` from ``P < 0.01``. The
    number must not be the old one rounded: a conclusion may say 10% where the abstract has 10.1%.
    It must be of a plausible size: three are not 400 residues.
    Nor can it be above its total, above all there is, or upset an order that the sentence states:
    ``fell from 9 to 7``.
    """
    before, after = masked[: old.start], masked[old.end :]
    if _may_be_rounded(old, new) or _is_far(old, new):
        return False
    if _is_counting(masked, old) and (old.values[0] == 1) != (new.values[0] == 1):
        return False
    if _ALL.search(before) and new.values[0] <= _LEAST_OF_ALL:
        return False
    if _ABOUT.search(before) and abs(new.values[0] - old.values[0]) < _LEAST_DIFFERENCE * abs(
        old.values[0]
    ):
        return False
    if old.kind == "percent" and re.match(r"\s?% of\b", after) and new.values[0] > 100:
        return False
    if (total := _total(after)) is not None and new.values[-1] >= total:
        return False
    if _COMPARED.search(masked) and not _keeps_order(old, new, numbers):
        return False
    if _UPPER_BOUND.search(before):
        return new.values[-1] < old.values[-1]
    if _AT_LEAST.search(before) and (_FOREMOST.match(after) or _quantity(masked, old) in _TIMES):
        return new.values[0] > old.values[0]
    return not _LOWER_BOUND.search(before) or new.values[0] > old.values[0]


def _total(after: str) -> float | None:
    """Return the number that what stands before it is a part of: ``of 40 patients``."""
    if _PART_AFTER.match(after) is None:
        return None
    totals = find_numbers(after)
    return totals[0].values[0] if totals else None


def _keeps_order(old: Number, new: Number, numbers: list[Number]) -> bool:
    """Return whether the new number stands to the others of its kind as the old one does."""
    others = [n.values[0] for n in numbers if n.kind == old.kind and n is not old]
    return all((old.values[0] > n) == (new.values[0] > n) for n in others) and (
        len(old.values) < 2 or (old.values[0] > old.values[1]) == (new.values[0] > new.values[1])
    )


def _quantity(masked: str, number: Number) -> str:
    """Return what a number measures or counts: a unit, ``%``, people or a time; else empty.

    A concentration comes for a concentration, and a count of patients for one of patients.
    """
    if found := _ANY_UNIT.match(masked, number.end):
        return found[1]
    if found := _QUANTITY.match(masked, number.end):
        return found["time"] or "people"
    return ""


def _is_counting(masked: str, number: Number) -> bool:
    """Return whether a noun after the number agrees with it: 3 weeks; not 1 mg, 1.5 h."""
    if number.kind not in ("integer", "word"):
        return False
    return UNIT.match(masked, number.end) is None


def _render_like(old: Number, new: Number) -> str:
    """Write a number as it stands in the place of another: ranges keep their join."""
    if old.parts and new.parts:
        return new.parts[0] + old.parts[1] + new.parts[2]
    first = new.text[0].upper() if old.text[0].isupper() else new.text[0].lower()
    return first + new.text[1:]


def _may_be_rounded(one: Number, other: Number) -> bool:
    """Return whether a number is another of its kind with fewer decimals: 10% and 10.1%.

    P-values and ranges never are.
    """
    if "p-value" in (one.kind, other.kind) or len(one.values) > 1 or len(other.values) > 1:
        return False
    n_decimals = min(len(re.sub(r"\D", "", n.text.partition(".")[2])) for n in (one, other))
    return abs(one.values[0] - other.values[0]) <= 0.5 * 10.0**-n_decimals * (1 + _TOLERANCE)


def _is_far(old: Number, new: Number) -> bool:
    """Return whether two amounts differ too much to be of one kind of thing."""
    if old.kind not in _OF_MAGNITUDE:
        return False
    low, high = sorted((abs(old.values[0]), abs(new.values[0])))
    return high > _MOST_APART * low
