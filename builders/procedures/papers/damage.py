"""Tell which sentences, and which papers, the extraction from PDF has damaged.

Each kind of damage is a function with examples; ``repair`` mends what is certain before they are
asked. ``benchmarks/extraction_damage.py`` measures the share of the sentences that each drops.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .arrays import Flags, Numbers, Texts
from .signs import BLANK, DIGIT, LOWER, UPPER, Signs

#: Why all pairs of a paper are dropped: it has at least so many marks of damage, and more than
#: these for each sentence.
DAMAGED_PAPER = "the text of its paper is damaged"
_LEAST_MARKS = 3
_MAX_MARKS = 0.015

#: Words in capitals that begin sentences, and hardly ever stand behind a word in lower case.
_OPENERS = (
    *("We", "However", "These", "Therefore", "Thus", "Moreover", "Furthermore", "Although", "Our"),
    *("It", "There", "They", "Those", "He", "She", "To", "In", "If", "For", "When", "Since"),
    *("While", "Given", "Using"),
)
_ARTICLES = ("The", "This")
_GOING_ON = (*_OPENERS, "This", "Because", "As", "Note", "Here", "So", "Then")
_FUNCTION_WORDS = "the|an|of|to|by|with|for|is|are|was|were|on|and|as|from"
_CAPITALS = f"{'|'.join((*_OPENERS, *_ARTICLES))}|As|That|Then|Let|An|A"
#: What stands right behind a number: "2nd", "3grams", "10fold".
_UNITS = (
    "th|st|nd|rd|grams?|folds?|bits?|best|way|am|pm|hrs?|mins?|secs?|ms|kb|mb|gb|tb|hz|khz|mhz|pt|"
    "px|mm|cm|km|kg|shot|hop|layer|dim"
)
_ABBREVIATIONS = "approx|corp|dept|etc|incl|prof|resp|univ"


def _pattern(*choices: str) -> re.Pattern[bytes]:
    """Compile an expression for UTF-8; "^" and "$" match at the ends of a text."""
    return re.compile("|".join(choices).encode())


def _placeholder(signs: Signs) -> Numbers:
    """Find what a pipeline puts in the place of a formula, a citation or a reference.

    "we set FORMULA to 1", "as in BIBREF12", "see [[EQUATION]]", "by @xcite", "[Formula: see text]"
    """
    return signs.texts_holding(
        (b"FORM", b"EQ", b"REF", b"CIT", b"[MATH", b"[form", b"[Form", b"@x")
    )


def _two_in_one(signs: Signs) -> Numbers:
    """Find where one sentence ends, or breaks off, and another begins.

    "the price rises.This shows", "drawn from G. We then draw", "for the next word. higher results",
    "a good measure to look at. coefficient"
    """
    is_stop = signs[0] == ord(".")
    is_glued = (signs[-2] == LOWER) & (signs[-1] == LOWER) & (signs[1] == UPPER)
    is_variable = (signs[-1] == LOWER) | (signs[-1] == UPPER)
    is_variable &= ((signs[-2] == BLANK) | (signs[-2] == ord("("))) & (signs[2] == UPPER)
    goes_on = (signs[1] == BLANK) & (signs[2] == LOWER) & (signs[3] == LOWER)
    goes_on &= (signs[-1] == LOWER) & (signs[-4] == LOWER) | (signs[-1] == ord(")"))
    goes_on |= (
        (signs[1] == BLANK)
        & (signs[2] == LOWER)
        & (signs[-1] == LOWER)
        & ((signs[-3] == BLANK) | (signs[-4] == BLANK))
    )
    is_quoted = signs.is_one_of(b'"\x9d') & (signs[1] == BLANK) & (signs[2] == UPPER)
    return signs.texts_with(is_stop & (is_glued | is_variable | goes_on) | is_quoted)


def _gap(signs: Signs) -> Numbers:
    """Find where a list, an example or a formula has gone behind a colon.

    "It takes the form: Because this holds, we", "The steps are: 1.", "these properties: .We need"
    """
    is_colon = (signs[0] == ord(":")) & (signs[1] == BLANK)
    is_point = (signs[0] == ord(".")) & (signs[-1] == BLANK)
    is_point &= (signs[1] == LOWER) | (signs[1] == UPPER)
    is_colon &= (signs[-1] == LOWER) | (signs[-1] == ord(")"))
    goes_on = signs.texts_with_word_behind(is_colon, [f"{word} ".encode() for word in _GOING_ON])
    ends = signs.is_one_of(b".)") & (signs[-1] == DIGIT) & (signs[1] != BLANK)
    ends &= np.isin(np.where(signs[-2] == BLANK, signs[-3], signs[-4]), list(b":;"))
    return np.union1d(goes_on, signs.texts_with(ends | is_point))


def _formula_gone(signs: Signs) -> Numbers:
    """Find where a formula has gone and only its explanation is left.

    "the cost is: where w is the weight"
    """
    return signs.texts_with((signs[0] == ord(":")) & signs.precede(b" where "))


def _heading(signs: Signs) -> Numbers:
    """Find where a sentence begins in the middle, behind a heading or a formula that is gone.

    "The improved model We evaluate", "is given by The value", "OUR PREVIOUS WORK The model"
    """
    words = [f"{word} ".encode() for word in (*_OPENERS, *_ARTICLES)]
    return signs.texts_with_word(words)


def _note(signs: Signs) -> Numbers:
    """Find the mark of a note, or the number of a heading.

    "12The corpus is", "1 The corpus is", "an ideal 2The lack", "the corpus4 for our", "so.'",
    "(skip bigrams)6.", "the coefficient 6is also", "3.1 Determine the", "IIf this is so"
    """
    is_digit = signs[0] == DIGIT
    opens = (signs[-1] == ord("\n")) & ((signs[1] != ord(".")) & (signs[2] != ord(".")))
    opens |= (signs[-1] == ord("\n")) & (signs[1] == ord(".")) & (signs[2] == DIGIT)
    is_glued = ((signs[1] == UPPER) | (signs[1] == LOWER)) & (signs[2] == LOWER)
    opens_number = [~signs.is_part_of_number(-1), ~signs.is_part_of_number(-2)]
    is_glued &= opens_number[0] | (signs[-1] == DIGIT) & opens_number[1]
    is_above = (signs[-1] == LOWER) & (signs[-3] == LOWER)
    is_above |= (signs[-1] == DIGIT) & (signs[-2] == LOWER) & (signs[-4] == LOWER)
    is_above &= (signs[1] == BLANK) & (signs[2] == LOWER)
    is_behind = ((signs[-2] == LOWER) | (signs[-3] == LOWER)) & (signs[1] == BLANK)
    for mark in b":;,":
        is_above |= is_behind & ((signs[-1] == mark) | (signs[-2] == mark))
    is_above |= (signs[-1] == ord(")")) & (signs[-2] == LOWER)
    is_above |= ((signs[-2] == ord(")")) | (signs[-3] == ord(")"))) & (signs[1] == BLANK)
    is_tick = (signs[0] == ord("'")) & (signs[-1] == ord("."))
    is_tick &= (signs[-2] == LOWER) | (signs[-2] == UPPER)
    found = signs.texts_with(is_digit & (opens | is_glued | is_above) | is_tick)
    return np.union1d(found, signs.texts_beginning(bytes([UPPER, UPPER])))


def _lost(signs: Signs) -> Numbers:
    """Find characters that were not kept, or stand as question marks.

    "Na?ve Bayes", "the word ?good?", "the phoneme [ ]", "a set of the, which", "the -dimensional"
    """
    is_letter = (signs[1] == LOWER) | (signs[1] == UPPER)
    is_lost = (signs[0] == ord("?")) & (is_letter | (signs[-1] == DIGIT) & (signs[1] == DIGIT))
    is_open = signs.is_one_of(b"[(")
    is_lost |= is_open & ((signs[1] == BLANK) | (signs[1] == ord(")")) | (signs[1] == ord("]")))
    is_lost |= signs.is_one_of(b".,;)") & (signs.follow(b" the") | signs.follow(b" the "))
    is_lost |= (signs[0] == ord("-")) & (signs[1] == LOWER) & (signs[-1] == BLANK)
    for words in (b"where is ", b"where are ", b" where is ", b" where are "):
        is_lost |= signs.is_one_of(b"(,") & signs.precede(words)
    return signs.texts_with(is_lost)


def _misread(signs: Signs) -> Numbers:
    """Find characters that were taken for others.

    "the t;hird", "a t~anslation", "NP\u2701 and", "\u2022 First", "in 0(n) time", "probabl_ so"
    """
    is_within = (signs[-1] == LOWER) & (signs[1] == LOWER) & (signs[2] == LOWER)
    is_misread = signs.is_one_of(b";!*~^|") & is_within
    is_dingbat = (signs[0] == 0xE2) & (signs[1] >= 0x98) & (signs[1] <= 0x9E)
    is_mark = (signs[0] == 0xE2) & (signs[1] == 0x80)  # of general punctuation
    is_mark &= (signs[2] == 0xA2) | (signs[2] == 0x94) & (signs[3] == ord("*"))
    is_mark |= (signs[0] == 0xC2) & ((signs[1] == 0xB6) | (signs[1] == 0xAC))
    is_order = (signs[0] == DIGIT) & (signs[1] == ord("("))
    is_order |= (signs[0] == ord("_")) & (signs[-1] == LOWER)
    is_order |= (signs[0] == ord("/")) & (signs[1] == ord("/")) & (signs[-1] == LOWER)
    is_order |= (signs[0] == 0xC2) & ((signs[1] == 0xA3) | (signs[1] == 0xA5))
    return signs.texts_with(is_misread | is_dingbat | is_mark | is_order)


def _piece(signs: Signs) -> Numbers:
    """Find pieces of tables, captions, algorithms and formulas.

    "Average 3 .50 .60 .73 .58", "Table 3: Results", "Algorithm 1 Training", "per l i s t and"
    """
    is_digit = signs[0] == DIGIT
    is_row = (signs[1] == BLANK) & ((signs[2] == DIGIT) | (signs[2] == ord(".")))
    is_caption = (signs[1] == ord(":")) & (signs[2] == BLANK) & (signs[3] == UPPER)
    is_algorithm = (signs[1] == BLANK) & (signs[2] == UPPER) & signs.follow(b"Algorithm ")
    is_row &= is_digit | (signs[0] == ord("%"))
    rows = signs.texts_with(is_row | is_digit & (is_caption | is_algorithm))
    return np.union1d(rows, signs.texts_with_single_letters())


def _reference(signs: Signs) -> Numbers:
    """Find entries of a reference list, and what stands in running heads.

    "Proceedings of the 3rd Workshop, pages 1-10", "Volume 3, Number 1"
    """
    is_digit = signs[0] == DIGIT
    is_counted = signs.follow(b", pages ") | signs.follow(b" pp. ") | signs.follow(b" pp.")
    is_counted |= signs.follow(b"Volume ")
    return signs.texts_with(is_digit & (is_counted | signs.follow(b"roceedings of the ")))


class _Rule(NamedTuple):
    """A kind of damage: why it drops a sentence, what may have it, and what shows it."""

    name: str
    find: Callable[[Signs], Numbers]
    pattern: re.Pattern[bytes]


_RULES = (
    _Rule(
        "a placeholder of a formula, citation or reference",
        _placeholder,
        _pattern(
            r"(?<![A-Za-z])(?:(?:INLINE|DISPLAY)_?FORM(?:ULA)?|FORMULA|EQUATION|CITATION|CITE)"
            r"[_0-9]*(?![A-Za-z])",
            r"(?<![A-Za-z])(?:BIB|FIG|TAB|TABLE|SEC|EQ|EQU|EQN|FOOT|APP|ALG)REF[_0-9]*(?![A-Za-z])",
            r"\[(?:[Ff]ormula|CIT|EQN?|MATH|REF)S?[_0-9]*(?:: see text)?\]",
            r"@x(?:cite|math|ref)",
        ),
    ),
    _Rule(
        "two sentences in one",
        _two_in_one,
        _pattern(
            r"[a-z]{2}\.[A-Z][a-z]",
            rf"[ (][A-Zb-z]\. (?:{_CAPITALS})\b",
            f'[a-z](?:"|\u201d) (?:{_CAPITALS}) [a-z]',
            rf"(?<![A-Za-z.])(?!(?:{_ABBREVIATIONS})\.)[a-z]{{4,}}\)?\. [a-z]{{2}}",
            r"[0-9a-z]\)\. [a-z]{3}",
            r" (?:at|in|of|to|by|is|on|for|as|and|or|the|are|be|with|from|that|an)\. [a-z]",
        ),
    ),
    _Rule(
        "a list or formula is gone",
        _gap,
        _pattern(
            rf"[a-z]: (?:{'|'.join(_GOING_ON)}) [a-z]",
            r"\): (?:These|This|We|They|It) [a-z]",
            r"[:;,] \.[A-Za-z]",
            r"[:;] [(]?[0-9][).]+$",
        ),
    ),
    _Rule("a formula is gone before where", _formula_gone, _pattern(r"[a-z)]: where [^ ]")),
    _Rule(
        "a heading or formula within it",
        _heading,
        _pattern(
            rf"[a-z] (?:{'|'.join(_OPENERS)}) [a-z]",
            rf" (?:{_FUNCTION_WORDS}) (?:{'|'.join(_ARTICLES)}) [a-z]",
        ),
    ),
    _Rule(
        "the mark of a note or heading",
        _note,
        _pattern(
            r"^[0-9]{1,2}[A-Z][a-z]",
            r"^[0-9]{1,4} [A-Z][a-z]",
            r"^[0-9]{1,2}(?:\.[0-9]{1,2})+\.? [A-Z][a-z]",
            r"[a-z]\)[0-9]{1,2}(?:[.,;]?$|[.,;]? [a-z])",
            rf"(?<![A-Za-z0-9.,-])[0-9]{{1,2}}(?!(?:{_UNITS})\b)[a-z]{{2,}} [a-z]",
            r"[a-z] [0-9]{1,2}[A-Z][a-z]+,? [a-z]",
            r"[a-z]{4}[0-9]{1,2} [a-z]{2}",
            r"[a-z][:;,][0-9]{1,2} [A-Za-z]",
            r"[0-9a-z]\)[:;,][0-9]{1,2} [A-Za-z]",
            rf"^[A-Z](?:{'|'.join(_OPENERS)}) [a-z]",
            r"^(?!'|.*[ (]').*[A-Za-z]\.'(?: |$)",
        ),
    ),
    _Rule(
        "lost characters",
        _lost,
        _pattern(
            r"[A-Za-z]\?[A-Za-z]",
            r"[ (]\?[A-Za-z]",
            r"[0-9]\?[0-9]",
            r"\[\s*\]|(?<!\w)\(\s*\)",
            "[\\[(] (?!\u00a7)",
            r" (?:the|an?) -[a-z]",
            r" the ?[.,;)]",
            r"[(,] ?where (?:is|are) (?:the|a|an) ",
        ),
    ),
    _Rule(
        "misread characters",
        _misread,
        re.compile(
            rb"(?<![A-Za-z0-9.-])0\([A-Za-z(]|[a-z]_(?:[ ,;.)0-9]|\Z)|[a-z]//|\xc2[\xa3\xa5][a-z]|"
            rb"[a-z][;!*~^|][a-z]{2}|\xe2\x80\x94\*|\xe2\x80\xa2|\xc2[\xb6\xac]|\xe2[\x98-\x9e]"
        ),
    ),
    _Rule(
        "a piece of a table, figure or formula",
        _piece,
        _pattern(
            r"(?:(?:^| )[-+]?[0-9.]+%?(?= )){4}",
            r"(?: [b-zB-HJ-Z0-9](?= )){3}",
            r"^(?:Table|Figure) [0-9]+[:.] ",
            r"[a-z] (?:Table|Figure) [0-9]+: [A-Z]",
            r"Algorithm [0-9]+ [A-Z]",
        ),
    ),
    _Rule(
        "a reference or running head",
        _reference,
        _pattern(
            r"Proceedings of the [0-9]",
            r"Volume [0-9]+, Number",
            r", pages [0-9]",
            r"[,.] pp\. ?[0-9]+\s?-",
        ),
    ),
)
#: Why a sentence is dropped, in the order in which the rules are asked.
DAMAGE = (
    *(rule.name for rule in _RULES),
    "a word broken at the end of a line",
    "a running head",
)
#: Those of them that only the whole paper shows; ``repair`` looks for them.
BROKEN_WORD, RUNNING_HEAD = range(len(_RULES), len(DAMAGE))
NOTE = DAMAGE.index("the mark of a note or heading")
#: The kind of a sentence that has none.
WHOLE = len(DAMAGE)


def find_damage(texts: Sequence[bytes], signs: Signs) -> npt.NDArray[np.int8]:
    """Find for each text the first kind of damage that it has.

    Args:
        texts: n sentences in UTF-8, without line breaks.
        signs: Their signs.

    Returns:
        n numbers of ``DAMAGE``, or ``WHOLE``.
    """
    found = np.full(len(texts), WHOLE, np.int8)
    for number, rule in reversed(list(enumerate(_RULES))):
        for suspect in rule.find(signs).tolist():
            if rule.pattern.search(texts[suspect]):
                found[suspect] = number
    return found


def are_damaged(texts: Texts, starts: Numbers) -> Flags:
    """Return for each of n papers whether its text is damaged all over.

    Where sentences are often glued ("rises.This"), question marks stand for other characters
    ("Na?ve", "?good?") or signs within words ("t;hird"), words are split, glued and misread as
    well, which nothing shows. In sentences that people have cleaned there are 15 such marks in
    10,000.

    Args:
        texts: The sentences of the papers, one paper after another.
        starts: n + 1 numbers of sentences: the first of each paper, and the end of the last.
    """
    content = np.frombuffer(texts.content, np.uint8)
    places = np.flatnonzero(np.frombuffer(texts.content.translate(_MARKS), np.bool_))
    places = places[(places > 0) & (places < len(content) - 2)]
    is_lower, is_upper = (_is_between(first, last) for first, last in ("az", "AZ"))
    before, sign, after, then = (content[places + distance] for distance in (-1, 0, 1, 2))
    is_mark = (sign == ord(".")) & is_lower[before] & is_upper[after] & is_lower[then]
    is_mark |= (sign == ord("?")) & (is_lower[after] | is_upper[after])
    is_mark |= (sign != ord(".")) & (sign != ord("?")) & is_lower[before] & is_lower[after]
    bounds = np.append(texts.start[starts[:-1]], texts.end[starts[-1] - 1])
    n_marks = np.diff(np.searchsorted(places[is_mark], bounds))
    found: Flags = (n_marks >= _LEAST_MARKS) & (n_marks > _MAX_MARKS * np.diff(starts))
    return found


_MARKS = bytes(code in b".?;!*~^|" for code in range(256))


def _is_between(first: str, last: str) -> Flags:
    """Return for each byte whether it is one of a range of letters."""
    codes = np.arange(256)
    found: Flags = (codes >= ord(first)) & (codes <= ord(last))
    return found
