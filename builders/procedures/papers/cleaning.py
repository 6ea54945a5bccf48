"""Refuse sentences that are not fit for a pair: mathematical, broken, damaged, too short or long.

SciNLI's authors cleaned their evaluation pairs by hand: they left out those with too many
mathematical terms and mended sentences that the extraction from PDF had broken (section 3.3). The
rules here are ours. Each is an expression of RE2, which Arrow asks of all texts at once. They were
set on the released, cleaned pairs of SciNLI: each keeps more than 98 % of their sentences, that on
mathematics 95 % (of sentences with two terms, most are damaged where a PDF was read), all those on
damage from extraction together 98 %. ``benchmarks/extraction_damage.py`` measures them.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ....loaders.corpora.papers.sentences import UNFINISHED

Flags = npt.NDArray[np.bool_]

#: Why all pairs of a paper are dropped; see ``are_damaged``.
DAMAGED_PAPER = "the text of its paper is damaged"
BEGINS_IN_THE_MIDDLE = "begins in the middle"

_MIN_WORDS, _MAX_WORDS = 5, 100
_MAX_TERMS = 1
_TWO_LETTERS = r"[A-Za-z\x{AA}-\x{10FFFF}]{2}"  # \p{L} has hundreds of ranges
_WORD = rf"{_TWO_LETTERS}.*?[\s\p{{Z}}].*?"
#: Control characters, unassigned ones, and what stands for a byte that could not be read.
_DAMAGED = r"[^\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{Cf}\t\n\r]|\x{FFFD}"
_BEGINS = r"^[\p{Ll}.,;:!?)\]}%#]|^\((?:19|20)\d\d[a-z]?\)"
_OPEN, _CLOSE = "[(\\[{（“]", "[)\\]}）”]"  # noqa: RUF001
#: A sentence ends so. What was cut behind an abbreviation is a fragment, and the next sentence the
#: rest of it. A few sentences do end with "et al."; 2 in 1,000 of the ACL's are lost.
_END = "[.!?:;。！？：；…।॥۔؟։][\"'’”»)\\]}›」』）]{0,3}$"  # noqa: RUF001
_ABBREVIATIONS = (
    *sorted(UNFINISHED),
    *("al.", "Ref.", "Refs.", "ref.", "refs.", "No.", "Nos.", "pp.", "Vol.", "Ch.", "Chap."),
    *("App.", "Ex.", "Def.", "Thm."),
)
_ENDS_IN_ABBREVIATION = rf"(?:^|[^A-Za-z])(?:{'|'.join(map(re.escape, _ABBREVIATIONS))})$"

#: Mathematical terms: signs; a letter by itself, but not "(b)", "J." or a word; a letter with a
#: number or an index ("x1", "pj"), but not "F1" or "L2"; the functions of one or two ("P(w").
_SIGNS = r"=<>|^\\_{}\p{Sm}"
_ENDS = rf"(?:[\s\p{{Z}},;:!?)\]{_SIGNS}]|$)"
_LETTER = r"b-zB-HJ-Z\p{Greek}"
_SIGN = rf"[{_SIGNS}\x{{1D400}}-\x{{1D7FF}}]"
_FUNCTION = rf"(?:^|[\s\p{{Z}},(\[{_SIGNS}])[{_LETTER}aAI]{{1,2}}\([^\s)]"
_VARIABLE = (
    rf"(?:^|[\s\p{{Z}},{_SIGNS}])[{_LETTER}]{_ENDS}|[(\[][{_LETTER}][\s,;:!?{_SIGNS}]"
    rf"|(?:^|[\s\p{{Z}},(\[{_SIGNS}])"
    rf"(?:[A-EG-KM-Za-z\p{{Greek}}]\d\d?|F[02-9]|[b-hj-z][jk]|[cefgj-oq-z]i)(?:\.|{_ENDS})"
)

#: Words in capitals that begin sentences, and hardly ever stand behind a word in lower case.
_OPENERS = (
    "We|However|These|Therefore|Thus|Moreover|Furthermore|Although|Our|It|There|They|Those|He|She|"
    "To|In|If|For|When|Since|While|Given|Using"
)
#: Each kind of damage from extraction, with what shows it.
DAMAGE = {
    # "we set FORMULA to 1", "as in BIBREF12", "see [[EQUATION]]", "by @xcite"
    "a placeholder of a formula, citation or reference": (
        r"\b(?:(?:INLINE|DISPLAY)_?FORM(?:ULA)?|FORMULA|EQUATION|CITATION|CITE"
        r"|(?:BIB|FIG|TAB|TABLE|SEC|EQ|EQU|EQN|FOOT|APP|ALG)REF)[_0-9]*\b",
        r"\[(?:[Ff]ormula|CIT|EQN?|MATH|REF)S?[_0-9]*(?:: see text)?\]",
        r"@x(?:cite|math|ref)",
    ),
    "two sentences in one": (
        r"[a-z]{2}\.[A-Z][a-z]",  # "the price rises.This shows"
        rf"[ (][A-Zb-z]\. (?:{_OPENERS}|The|This|As|That|Then|Let|An|A)\b",  # "from G. We then"
        r"(?:[a-z]{4}|[0-9a-z]\))\. [a-z]{2}",  # "for the next word. higher results"
        r" (?:at|in|of|to|by|is|on|for|as|and|or|the|are|be|with|from|that|an)\. [a-z]",
    ),
    "a list or formula is gone": (
        # "It takes the form: Because this holds, we", "the cost is: where w is the weight"
        rf"[a-z)]: (?:{_OPENERS}|This|Because|As|Note|Here|So|Then|where) [^ ]",
        r"[(,] ?where (?:is|are) (?:the|a|an) ",
        r"[:;,] \.[A-Za-z]",  # "these properties: .We need"
        r"[:;] [(]?[0-9][).]+$",  # "The steps are: 1."
    ),
    "a heading or formula within it": (
        rf"[a-z] (?:{_OPENERS}) [a-z]",  # "The improved model We evaluate"
        r" (?:the|an|of|to|by|with|for|is|are|was|were|on|and|as|from) (?:The|This) [a-z]",
    ),
    "the mark of a note or heading": (
        r"^[0-9]{1,4}(?:\.[0-9]{1,2})*\.? ?[A-Z][a-z]",  # "12The corpus is", "3.1 Determine the"
        r"(?:[a-z]{4}|[a-z)][:;,])[0-9]{1,2} [A-Za-z]",  # "the corpus4 for our", "of them,2 and"
        r"[a-z] [0-9]{1,2}[A-Z][a-z]+,? [a-z]",  # "an ideal 2The lack"
    ),
    "lost characters": (
        r"[A-Za-z (]\?[A-Za-z]",  # "Na?ve Bayes", "the word ?good?"
        "[\\[(] [^\u00a7]",  # "the phoneme [ ]"
        r" the ?[.,;)]| (?:the|an?) -[a-z]",  # "a set of the, which", "the -dimensional"
    ),
    "misread characters": (
        r"[a-z][;!*~^|][a-z]{2}",  # "the t;hird"
        "[\u2022\u00b6\u00ac\u00a8\u00b4\u2600-\u27bf]",  # "NP\u2701 and", "Sch\u00a8utze"
        r"(?:^|[^A-Za-z0-9.-])0\([A-Za-z(]|[a-z]_(?:[ ,;.)0-9]|$)",  # "in 0(n)", "probabl_ so"
    ),
    "a piece of a table, figure or formula": (
        r"(?:(?:^| )[-+]?[0-9.,]*[0-9.]%?){4} ",  # "Average 3 .50 .60 .73 .58 and"
        r"(?:Table|Figure) [0-9]+[:.] [A-Z]",
    ),
    "a reference or running head": (
        r"Proceedings of the [0-9]|Volume [0-9]+, Number|, pages [0-9]",
    ),
    "a word broken at the end of a line": (
        r"[A-Za-z]- [a-z]",  # also "two- and three-word", which is whole
        # "rulebased", "humanannotated"
        r"[a-z]{3}(?:based|level|specific|annotated|aware|generated|labell?ed)\b",
        r"[a-z]{2}of-[a-z]|-of[a-eg-z][a-z]",  # "partof-speech", "part-ofspeech"
        # "left-toright", "treeto-string", "string-totree"
        r"(?:left|right|one|many)(?:-to[a-z]|to-)|[bcdeghklmrsxyz]to-[a-z]",
        r"-to(?:[bcefhijqsvxz]|ph|tr|tar|wor)[a-z]",
    ),
}
_MARKS = r"[a-z]\.[A-Z][a-z]|\?[A-Za-z]|[a-z][;!*~^|][a-z]"
_MAY_BE_MARKS = (r"\.[A-Z][a-z]", r"\?[A-Za-z]", *(rf"\{sign}[a-z]" for sign in ";!*~^|"))
_LEAST_MARKS = 3
_MAX_MARKS = 0.015


def are_damaged(contents: Sequence[bytes], n_sentences: npt.NDArray[np.int64]) -> Flags:
    """Return for each of n papers whether its text is damaged all over.

    Where sentences are often glued ("rises.This"), question marks stand for other characters
    ("Na?ve", "?good?") or signs within words ("t;hird"), words are split, glued and misread as
    well, which nothing shows. In sentences that people have cleaned there are 15 such marks in
    10,000.

    Args:
        contents: The texts of n papers, in UTF-8.
        n_sentences: n numbers of sentences.
    """
    texts = pa.array(contents, pa.string())
    most = np.maximum(_LEAST_MARKS - 1, _MAX_MARKS * n_sentences)
    # RE2 finds what begins with a fixed character ten times as fast, so most papers are soon told.
    may_be = np.flatnonzero(sum(_count(texts, pattern) for pattern in _MAY_BE_MARKS) > most)
    found = np.zeros(len(texts), bool)
    found[may_be] = _count(texts.take(may_be), _MARKS) > most[may_be]
    return found


def find_faults(sentences: Sequence[str]) -> dict[str, Flags]:
    """Return for each reason that makes a sentence unfit whether n sentences have it.

    Args:
        sentences: n sentences, or what is left of them without their linking phrase.
    """
    all_texts = pa.array(sentences, pa.string()).dictionary_encode()  # many are in several pairs
    texts, number = all_texts.dictionary, all_texts.indices.to_numpy()
    n_blanks = pc.count_substring(texts, " ").to_numpy()
    faults = {
        "damaged characters": match(texts, _DAMAGED),
        "too short": ~match(texts, rf"(?s)(?:{_WORD}){{{_MIN_WORDS - 1}}}{_TWO_LETTERS}"),
        "too long": n_blanks >= _MAX_WORDS,
        "too much mathematics": _have_much_mathematics(texts),
        "has no end": ~match(texts, _END) | match(texts, _ENDS_IN_ABBREVIATION),
        "unbalanced brackets or quotes": (_count(texts, _OPEN) != _count(texts, _CLOSE))
        # The mark of a note is often read as a quotation mark: "is so.'"
        | (match(texts, r"\.'$") & (_count(texts, "'") == 1)),
        **_find_damage(texts),
    }
    return {reason: found[number] for reason, found in faults.items()}


def _have_much_mathematics(texts: pa.StringArray) -> Flags:
    suspects = np.flatnonzero(match(texts, rf"{_SIGN}|{_FUNCTION}|{_VARIABLE}"))
    some = texts.take(suspects)
    spaced = pc.replace_substring(some, " ", "  ")  # so that no two terms share a blank
    n_terms = _count(some, _SIGN) + _count(some, _FUNCTION) + _count(spaced, _VARIABLE)
    found = np.zeros(len(texts), bool)
    found[suspects] = n_terms > _MAX_TERMS
    return found


def _find_damage(texts: pa.StringArray) -> dict[str, Flags]:
    patterns = {reason: "|".join(own) for reason, own in DAMAGE.items()}
    suspects = np.flatnonzero(match(texts, "|".join(patterns.values())))  # few, so all is faster
    found = {reason: np.zeros(len(texts), bool) for reason in patterns}
    for reason, pattern in patterns.items():
        found[reason][suspects] = match(texts.take(suspects), pattern)
    return found


def begin_in_the_middle(sentences: Sequence[str], before: Sequence[str]) -> Flags:
    """Return whether n sentences begin with a small letter, a mark or a year in brackets.

    So does one behind a sentence that was cut at an abbreviation: it is the rest of it.

    Args:
        sentences: n sentences.
        before: The n sentences before them.
    """
    begins = match(pa.array(sentences, pa.string()), _BEGINS)
    return begins | match(pa.array(before, pa.string()), _ENDS_IN_ABBREVIATION)


def match(texts: pa.StringArray, pattern: str) -> Flags:
    """Return whether each of n texts has a match of an expression of RE2."""
    found: Flags = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return found


def _count(texts: pa.StringArray, pattern: str) -> npt.NDArray[np.int32]:
    found: npt.NDArray[np.int32] = pc.count_substring_regex(texts, pattern).to_numpy()
    return found
