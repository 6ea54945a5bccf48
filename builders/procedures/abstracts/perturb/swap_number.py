"""SN: replace a number by another of its kind from the supporting set.

Numbers that are left alone: in names (IL-6, p53, H2O2, 5-HT, type 2, (gp130)2), citation marks,
ratios, powers of ten and lists of digits.

Source:
    BioNLI, section 3.3.1, "Swap Numbers". The paper asks for "a different number"; that kinds must
    agree (a percentage for a percentage) is ours, as ``0.05 patients`` is not a sentence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..mechanisms.mechanism import Mechanism
from .grammar import fit_article
from .names import NAME, MarkedSentence, mask_names
from .strategy import Choices, NoNegative, Perturbed, Proposals, Strategy, TextEdit

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
_SPELLED = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_DASH = r"\-‐‑–—"  # noqa: RUF001
_DIGITS = r"\d{1,3}(?:,\d{3})+(?![\d,])|\d+(?:\.\d+)?"
_SPELLED_ANY = "|".join(_SPELLED)
_FOLD = re.compile(
    rf"(?<![\w.{NAME}{_DASH}])(?P<value>{_DIGITS}|{_SPELLED_ANY})(?:[{_DASH}]|\s)?fold(?!\w)",
    re.IGNORECASE,
)
_SPELLED_ALONE = re.compile(
    rf"(?<![\w{_DASH}{NAME}])(?:{_SPELLED_ANY})(?![\w{NAME}])", re.IGNORECASE
)
_SIGN = "[-−–+]"  # noqa: RUF001
_NUMBER = re.compile(
    rf"(?<![\w.,/:^)\]{_DASH}{NAME}−])(?P<first>(?:(?<=\s){_SIGN})?(?:{_DIGITS}))"  # noqa: RUF001
    rf"(?:(?P<join>\s?[{_DASH}]\s?|\s(?:to|and)\s)(?P<second>{_DIGITS}))?"
    rf"(?P<percent>\s?%|\s(?:percent|per cent)(?!\w))?"
)
_UNITS = (
    "mg|g|kg|µg|μg|ug|ng|pg|ml|l|dl|µl|μl|mM|µM|μM|uM|nM|pM|M|mol|mmol|nmol|min|h|hr|s|sec|d|wk"
    "|kDa|Da|bp|kb|mm|cm|nm|µm|μm|Hz|U|IU|mV|mmHg|cells|°C|K|x"
)
_UNIT_AFTER_HYPHEN = re.compile(
    rf"[{_DASH}](?:{_UNITS}|day|week|month|year|hour|minute|times?|point|item|old)s?(?!\w)"
)
_UNIT = re.compile(rf"\s?(?:{_UNITS})(?![\w])")
_ANY_UNIT = re.compile(rf"[\s{_DASH}]?(%|{_UNITS})(?!\w)")
#: Words before a number that is a name, not a count.
_NAMED = re.compile(
    r"\b(?:types?|class|grade|stage|phase|factor|interleukin|interferon|caspase|collagen|isoform"
    r"|subtype|subunit|chromosome|exon|intron|domain|figs?|figure|tables?|group|case|refs?|serine|ser"
    r"|tyr|thr|(?:iso)?leucines?|serines?|tyrosines?|threonines?|lysines?|arginines?|cysteines?"
    r"|histidines?|alanines?|glycines?|residues?|position|positions|codon|region|site|schedule"
    r"|trial|study|aim|hypothesis|vitamin|protein|receptor|kinase|complex|no)\.?\s+$",
    re.IGNORECASE,
)
_P_VALUE = re.compile(r"\b[Pp](?:[- ]?values?)?\s?(?:=|<|>|≤|≥|of|less than|was|is)\s?$")
_POWER = re.compile(r"\(?\s?[-−–+]\s?\d|\s?[x×]\s?10")  # noqa: RUF001
#: The rest of a chemical's name: 4 beta-phorbol.
_NAME_AFTER = re.compile(r"\s?(?:alpha|beta|gamma|delta)\b")
#: 2.5 and 2.45 differ by no more than 0.05, as floats by a little more.
_TOLERANCE = 1e-9
_CITATION = re.compile(r"[\[(]\s?\d+(?:\s?[-–,;]\s?\d+)*\s?[\])]")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a conclusion or a supporting set.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last character; ``-fold`` belongs to it, a percent sign does not.
        text: The number as written.
        kind: Its kind; only a number of the same kind may replace it.
        values: Its value, or both ends of a range.
        parts: The first number, join and second number of a range; empty for others.
    """

    start: int
    end: int
    text: str
    kind: str
    values: tuple[float, ...]
    parts: tuple[str, ...] = ()


class SwapNumber(Strategy):
    """SN: ``by 40%`` becomes ``by 65%`` where the supporting set has 65%.

    Attributes:
        any_number: Whether to take any other number, as in the paper, even of another kind or one
            that follows from the old.
    """

    name = "SN"
    otherwise = "no other number of its kind in the supporting set"
    others = (NO_NUMBER,)

    def __init__(self, *, any_number: bool = False) -> None:
        self.any_number = any_number

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        numbers = find_numbers(marked.masked)
        if not numbers:
            return NoNegative(NO_NUMBER)
        names = {*mechanism.names, *(m.text for m in mechanism.mentions)}
        masked = [mask_names(sentence, names) for sentence in mechanism.supporting]
        offered = [(sentence, n) for sentence in masked for n in find_numbers(sentence)]
        known = {(number.kind, number.values) for number in numbers}
        options: dict[tuple[int, str], tuple[Number, str, bool]] = {}
        for old in numbers:
            for sentence, new in offered:
                if (new.kind, new.values) in known:
                    continue
                if self.any_number or (new.kind == old.kind and _fits(marked.masked, old, new)):
                    text = _render_like(old, new)
                    alike = _read_unit(marked.masked, old) == _read_unit(sentence, new)
                    earlier = options.get((old.start, text))
                    alike = alike or (earlier is not None and earlier[2])
                    options[(old.start, text)] = (old, text, alike)
        ordered = choices.arrange([options[key] for key in sorted(options)], "number")
        # A dose comes for a dose first, then any number: the paper asks for no more.
        ordered.sort(key=lambda option: not option[2])
        return (
            Perturbed.of(
                marked.text,
                [TextEdit(old.start, old.end, new), *fit_article(marked.text, old.start, new)],
            )
            for old, new, _ in ordered
        )


def _fits(masked: str, old: Number, new: Number) -> bool:
    """Return whether the new sentence is grammatical, and does not follow from the old one.

    Nouns and verbs must need no change: not three patients for one patient. A bound must get
    tighter: ``within 90 min`` follows from ``within 30 min``, ``P < 0.05`` from ``P < 0.01``. The
    number must not be the old one rounded: a conclusion may say 10% where the abstract has 10.1%.
    """
    before = masked[: old.start]
    if _may_be_rounded(old, new):
        return False
    if _is_counting(masked, old) and (old.values[0] == 1) != (new.values[0] == 1):
        return False
    if _ALL.search(before) and new.values[0] <= _LEAST_OF_ALL:
        return False
    if _UPPER_BOUND.search(before):
        return new.values[-1] < old.values[-1]
    return not _LOWER_BOUND.search(before) or new.values[0] > old.values[0]


def find_numbers(masked: str) -> list[Number]:
    """Find all numbers of a text with masked names that can be replaced, in its order."""
    taken = [match.span() for match in _CITATION.finditer(masked)]
    found: list[Number] = []
    for finder in (_find_folds, _find_digits, _find_spelled):
        for number in finder(masked):
            if all(number.end <= start or number.start >= end for start, end in taken):
                found.append(number)
                taken.append((number.start, number.end))
    return sorted(found, key=lambda number: number.start)


def _find_folds(text: str) -> Iterator[Number]:
    for match in _FOLD.finditer(text):
        if not re.search(rf"[\d.]\s?[{_DASH}]?\s?(?:to|and|or)?\s?$", text[: match.start()]):
            yield Number(match.start(), match.end(), match[0], "fold", (_value_of(match["value"]),))


def _find_spelled(text: str) -> Iterator[Number]:
    for match in _SPELLED_ALONE.finditer(text):
        after = text[match.end() :]
        if re.match(rf"[{_DASH}](?!day|week|month|year|hour)", after) is None:
            value = float(_SPELLED[match[0].lower()])
            yield Number(match.start(), match.end(), match[0], "word", (value,))


def _find_digits(text: str) -> Iterator[Number]:
    place = 0
    while match := _NUMBER.search(text, place):
        end = match.start("percent") if match["percent"] else match.end()
        second = match["second"]
        if match["join"] and not _is_range(text, match):
            end, second = match.end("first"), None
        place = end
        if _may_be_replaced(text, match.start(), end):
            found = text[match.start() : end]
            parts = (match["first"], match["join"], second) if second else ()
            values = tuple(_value_of(part) for part in (match["first"], second) if part)
            yield Number(
                match.start(), end, found, _kind_of(text, match, second, end), values, parts
            )


def _is_range(text: str, match: re.Match[str]) -> bool:
    join = match["join"].strip()
    if join == "and":
        return text[: match.start()].rstrip().endswith("between")
    # 10-6 M is a power of ten.
    return join == "to" or _value_of(match["first"]) < _value_of(match["second"])


def _may_be_replaced(text: str, start: int, end: int) -> bool:
    before, after = text[:start], text[end:]
    if _NAMED.search(before) or _POWER.match(after) or _NAME_AFTER.match(after):
        return False
    if re.match(rf"[/:^+{NAME}']|[.,]\d|\s?±", after) or before.endswith(("±", "± ", "/", ":")):
        return False
    if re.match(f"[{_DASH}]", after):
        return _UNIT_AFTER_HYPHEN.match(after) is not None
    if re.match(r"[^\W\d_]", after):
        return _UNIT.match(after) is not None
    return True


def _kind_of(text: str, match: re.Match[str], second: str | None, end: int) -> str:
    first = match["first"]
    if _P_VALUE.search(text[: match.start()]):
        return "p-value"
    if second:
        return "percent range" if match["percent"] else "range"
    if match["percent"] and end == match.start("percent"):
        return "percent"
    sign = "signed " if first[0] in "+-−–" else ""  # noqa: RUF001
    if re.fullmatch(r"(?:19|20)\d\d", first) and not _UNIT.match(text, end):
        return "year"
    return sign + ("decimal" if "." in first else "integer")


def _value_of(text: str) -> float:
    if text.lower() in _SPELLED:
        return float(_SPELLED[text.lower()])
    sign = -1.0 if text[0] in "-−–" else 1.0  # noqa: RUF001
    return sign * float(text.lstrip("+-−–").replace(",", ""))  # noqa: RUF001


def _read_unit(masked: str, number: Number) -> str:
    """Return the unit or percent sign after a number; empty where there is none."""
    found = _ANY_UNIT.match(masked, number.end)
    return found[1] if found else ""


def _is_counting(masked: str, number: Number) -> bool:
    """Return whether a noun after the number agrees with it: 3 weeks; not 1 mg, 1.5 h."""
    if number.kind not in ("integer", "word"):
        return False
    return _UNIT.match(masked, number.end) is None


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
