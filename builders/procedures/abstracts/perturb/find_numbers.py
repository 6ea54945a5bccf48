"""Find the numbers of a sentence that may be exchanged, each with its kind.

Numbers that are left alone: in names (IL-6, p53, H2O2, 5-HT, type 2, (gp130)2, residues 4 and 8),
labels of times (day 7), citation marks, ratios, powers of ten, a mean with its deviation, and lists
of digits.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .names import NAME

_SPELLED = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
DASH = r"\-‐‑–—"  # noqa: RUF001
_DIGITS = r"\d{1,3}(?:,\d{3})+(?![\d,])|\d+(?:\.\d+)?"
SPELLED = "|".join(_SPELLED)
_FOLD = re.compile(
    rf"(?<![\w.{NAME}{DASH}])(?P<value>{_DIGITS}|{SPELLED})(?:[{DASH}]|\s)?fold(?!\w)",
    re.IGNORECASE,
)
_SPELLED_ALONE = re.compile(rf"(?<![\w{DASH}{NAME}])(?:{SPELLED})(?![\w{NAME}])", re.IGNORECASE)
_SIGN = "[-−–+]"  # noqa: RUF001
_NUMBER = re.compile(
    rf"(?<![\w.,/:^)\]{DASH}{NAME}−])(?P<first>(?:(?<=\s){_SIGN})?(?:{_DIGITS}))"  # noqa: RUF001
    rf"(?:(?P<join>\s?[{DASH}]\s?|\s(?:to|and)\s)(?P<second>{_DIGITS}))?"
    rf"(?P<percent>\s?%|\s(?:percent|per cent)(?!\w))?"
)
UNITS = (
    "mg|g|kg|µg|μg|ug|ng|pg|ml|l|dl|µl|μl|mM|µM|μM|uM|nM|pM|M|mol|mmol|nmol|min|h|hr|s|sec|d|wk"
    "|kDa|Da|bp|kb|mm|cm|nm|µm|μm|Hz|U|IU|mV|mmHg|cells|°C|K|x"
)
_UNIT_AFTER_HYPHEN = re.compile(
    rf"[{DASH}](?:{UNITS}|day|week|month|year|hour|minute|times?|point|item|old)s?(?!\w)"
)
UNIT = re.compile(rf"\s?(?:{UNITS})(?![\w])")
#: Words before a number that is a name, not a count.
_NAMED = re.compile(
    r"\b(?:(?:type|class|grade|stage|phase|factor|interleukin|interferon|caspase|collagen|isoform"
    r"|subtype|subunit|chromosome|exon|intron|domain|figs?|figure|tables?|group|case|refs?|serine|ser"
    r"|tyr|thr|(?:iso)?leucines?|serines?|tyrosines?|threonines?|lysines?|arginines?|cysteines?"
    r"|histidines?|alanines?|glycines?|residues?|position|positions|codon|region|site|schedule"
    r"|trial|study|aim|hypothesis|vitamin|protein|receptor|kinase|complex|no|amino acid|nucleotide"
    r"|locus|alpha|beta|gamma|delta|kappa)s?|day|week|month|hour|visit|cycle|weeks|months)\.?\s+"
    rf"(?:\d+(?:,|,? (?:and|or|to)|\s?[{DASH}])\s*)*$",
    re.IGNORECASE,
)
_P_VALUE = re.compile(r"\b[Pp](?:[- ]?values?)?\s?(?:=|<|>|≤|≥|of|less than|was|is)\s?$")
_POWER = re.compile(r"\(?\s?[-−–+]\s?\d|\s?[x×]\s?10")  # noqa: RUF001
#: The rest of a chemical's name: 4 beta-phorbol.
_NAME_AFTER = re.compile(r"\s?(?:alpha|beta|gamma|delta)\b")
_CITATION = re.compile(
    r"[\[(]\s?\d+(?:\s?[-–,;]\s?\d+)*\s?[\])]|\b\d+,\s\d+[-–]\d+(?=\))"  # noqa: RUF001
)
#: A name of capitals that ends in a number with no noun behind it: "the line ABC 225, ...".
_ACRONYM = re.compile(r"\b[A-Z]{2,}\s$")
_REACH = 200
_DEVIATION = ("±", "± ", "+/-", "+/- ")


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


def find_numbers(masked: str) -> list[Number]:
    """Find all numbers of a text with masked names that can be replaced, in its order."""
    is_taken = bytearray(len(masked))
    for match in _CITATION.finditer(masked):
        is_taken[slice(*match.span())] = bytes([True]) * len(match[0])
    found: list[Number] = []
    for finder in (_find_folds, _find_digits, _find_spelled):
        for number in finder(masked):
            if not any(is_taken[number.start : number.end]):
                found.append(number)
                is_taken[number.start : number.end] = bytes([True]) * len(number.text)
    return sorted(found, key=lambda number: number.start)


def _before(text: str, at: int) -> str:
    """Return what stands before a place, as far as the rules look: a whole text takes too long."""
    return text[max(at - _REACH, 0) : at]


def _find_folds(text: str) -> Iterator[Number]:
    for match in _FOLD.finditer(text):
        if not re.search(rf"[\d.]\s?[{DASH}]?\s?(?:to|and|or)?\s?$", _before(text, match.start())):
            yield Number(match.start(), match.end(), match[0], "fold", (_value_of(match["value"]),))


def _find_spelled(text: str) -> Iterator[Number]:
    for match in _SPELLED_ALONE.finditer(text):
        after = text[match.end() :]
        if re.match(rf"[{DASH}](?!day|week|month|year|hour)", after) is None:
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
        return _before(text, match.start()).rstrip().endswith("between")
    # 10-6 M is a power of ten.
    return join == "to" or _value_of(match["first"]) < _value_of(match["second"])


def _may_be_replaced(text: str, start: int, end: int) -> bool:
    before, after = _before(text, start), text[end:]
    if _NAMED.search(before) or _POWER.match(after) or _NAME_AFTER.match(after):
        return False
    if re.match(rf"[/:^+{NAME}']|[.,]\d|\s?±", after) or before.endswith((*_DEVIATION, "/", ":")):
        return False
    if re.match(r"\s?\+/|\s\d", after) or re.search(r"(?<![\w.,])\d+\s$", before):
        return False
    if _ACRONYM.search(before) and re.match(r"\s*[,.;:)\]]|$", after):
        return False
    if re.match(f"[{DASH}]", after):
        return _UNIT_AFTER_HYPHEN.match(after) is not None
    if re.match(r"[^\W\d_]", after):
        return UNIT.match(after) is not None
    return True


def _kind_of(text: str, match: re.Match[str], second: str | None, end: int) -> str:
    first = match["first"]
    if _P_VALUE.search(_before(text, match.start())):
        return "p-value"
    if second:
        return "percent range" if match["percent"] else "range"
    if match["percent"] and end == match.start("percent"):
        return "percent"
    sign = "signed " if first[0] in "+-−–" else ""  # noqa: RUF001
    if re.fullmatch(r"(?:19|20)\d\d", first) and not UNIT.match(text, end):
        return "year"
    return sign + ("decimal" if "." in first else "integer")


def _value_of(text: str) -> float:
    if text.lower() in _SPELLED:
        return float(_SPELLED[text.lower()])
    sign = -1.0 if text[0] in "-−–" else 1.0  # noqa: RUF001
    return sign * float(text.lstrip("+-−–").replace(",", ""))  # noqa: RUF001
