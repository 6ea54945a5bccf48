"""Refuse sentences that are not fit for a pair, and mend words that extraction has damaged.

A sentence is unfit that is mathematical, broken, damaged, too short or long.

SciNLI's authors cleaned their evaluation pairs by hand: they left out those with too many
mathematical terms and mended sentences that the extraction from PDF had broken (section 3.3). The
rules here are ours. Each is an expression of RE2, which Arrow asks of all texts at once. They were
set on the released, cleaned pairs of SciNLI: each keeps more than 98 % of their sentences, that on
mathematics 95 % (of sentences with two terms, most are damaged where a PDF was read), all those on
damage from extraction together 98 %. ``benchmarks/extraction_damage.py`` measures them.
Words are mended where the paper shows what stood there.
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
_BEGINS = r"^[\p{Ll}0-9.,;:!?)\]}%#]|^\((?:19|20)\d\d[a-z]?\)"
_OPEN, _CLOSE = "[(\\[{（“]", "[)\\]}）”]"  # noqa: RUF001
#: A sentence ends so. What was cut behind an abbreviation is a fragment, and the next sentence the
#: rest of it. A few sentences do end with "et al."; 2 in 1,000 of the ACL's are lost.
_END = "[.!?:;。！？：；…।॥۔؟։][\"'’”»)\\]}›」』）]{0,3}$"  # noqa: RUF001
_ABBREVIATIONS = (
    *sorted(UNFINISHED),
    *("al.", "Ref.", "Refs.", "ref.", "refs.", "No.", "Nos.", "pp.", "Vol.", "Ch.", "Chap."),
    *("App.", "Ex.", "Def.", "Thm.", "Proc.", "Conf.", "Trans.", "Int.", "Univ.", "Dept."),
    *("Gen.", "Rev.", "ed.", "eds.", "incl.", "excl.", "esp.", "appr.", "avg.", "max.", "min."),
    *("conc.", "hr.", "sp.", "spp.", "subsp.", "var.", "ver.", "nr.", "ff.", "ll.", "op.", "cit."),
    *("ibid.", "a.k.a."),
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
        r"[a-z][;!*~^|][a-z]{2}|[A-Za-z]`[a-z]",  # "the t;hird", "M`arquez"
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
        r"[A-Za-z]-(?: |$)",  # "any lin- In our"; also "two- and three-word", which is whole
        # "rulebased", "humanannotated"
        r"[a-z]{3}(?:based|level|specific|annotated|aware|generated|labell?ed)\b",
        r"[a-z]{2}of-[a-z]|-of[a-eg-z][a-z]",  # "partof-speech", "part-ofspeech"
        # "left-toright", "treeto-string", "string-totree"
        r"(?:left|right|one|many)(?:-to[a-z]|to-)|[bcdeghklmrsxyz]to-[a-z]",
        r"-to(?:[bcefhijqsvxz]|ph|tr|tar|wor)[a-z]",
    ),
}
_MARKS = r"[a-z]\.[A-Z][a-z]|\?[A-Za-z]|[a-z][;!*~^|][a-z]"
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
    is_damaged: Flags = _count(texts, _MARKS) > most
    return is_damaged


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
    """Return whether n sentences begin with a small letter, a number, a mark or a year in brackets.

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


_BROKEN = re.compile(r"\b([A-Za-z]+)- (?!(?:and|or|nor|to|und|oder)\b)([a-z]+)\b")
_HYPHEN = re.compile(rb"-[a-z]{3,}\b(?!-)")
_COMPOUND = re.compile(rb"(?:[A-Za-z]+-)+[a-z]+")
_TOKEN = re.compile(r"[\w-]+")
#: Makes blanks of all bytes that are in no ASCII word.
_BLANKS = bytes(n if _TOKEN.match(chr(n)) and n < 128 else ord(" ") for n in range(256))
_OF_WORD = re.compile(rb"[\w-]|[^\x00-\x7f]")
#: An expression of RE2 that every sentence with the mark of a note matches.
MAY_HAVE_NOTES = r"[.?!][\"')\]]*[0-9]{1,2} ?[A-Z]"
_NOTE = re.compile(r"(?<=[a-z]{2})[.?!][\"')\]]*([0-9]{1,2} ?)(?=[A-Z])")
#: Behind these a number belongs to the word: "Fig.3 We", "Sec.2 The", "et al.5".
_ABBREVIATED = re.compile(
    r"\b(?:figs?|sects?|secs?|eqn?s?|tabs?|al|ch|vol|nos?|refs?|app|cf|vs|pp)\Z", re.IGNORECASE
)


def mend_words(sentences: Sequence[str], paper: bytes) -> list[str]:
    """Put together broken words, and put back lost hyphens, as they stand elsewhere in their paper.

    Args:
        sentences: Some sentences of a paper.
        paper: All of its text, in UTF-8.

    >>> mend_words(["The evalua- tion is rulebased."], b"A rule-based evaluation, rule-based.")
    ['The evaluation is rule-based.']
    """

    def join(broken: re.Match[str]) -> str:
        head, tail = broken.groups()
        words = (head + tail, f"{head}-{tail}")
        return next((word for word in words if _stands_in(paper, word.encode())), broken[0])

    mended = [_BROKEN.sub(join, one) if "- " in one else one for one in sentences]
    compounds = find_compounds(paper)
    words = "\n".join(sentences).encode().translate(_BLANKS).split()
    lost = {
        word.decode(): compounds[word].decode()
        for word in compounds.keys() & words
        if paper.count(compounds[word]) >= paper.count(word)
    }
    if not lost:
        return mended
    return [
        _TOKEN.sub(lambda token: lost.get(token[0], token[0]), one)
        if any(word in one for word in lost)
        else one
        for one in mended
    ]


def _stands_in(paper: bytes, word: bytes) -> bool:
    """Return whether a word stands in a paper, not as a part of another."""
    place = paper.find(word)
    while place >= 0:
        around = paper[place - 1 : place] + paper[place + len(word) : place + len(word) + 1]
        if not _OF_WORD.search(around):
            return True
        place = paper.find(word, place + 1)
    return False


def find_compounds(paper: bytes) -> dict[bytes, bytes]:
    """Return the words with hyphens of a paper, by the same without one of them."""
    found = dict.fromkeys(
        paper[paper.rfind(b" ", 0, hyphen.start()) + 1 : hyphen.end()]
        for hyphen in _HYPHEN.finditer(paper)
    )
    compounds = {}
    for compound in filter(_COMPOUND.fullmatch, found):
        head, _, tail = compound.rpartition(b"-")
        compounds[head + tail] = compound
        if b"-" in head:
            compounds[compound.replace(b"-", b"", 1)] = compound
    return compounds


def split_at_notes(sentence: str) -> list[str]:
    """Split what is taken for one sentence at the marks of notes, which are left out.

    >>> split_at_notes("It is shown.3 We then go on.")
    ['It is shown.', 'We then go on.']
    >>> split_at_notes("See Fig.3 We go on.")
    ['See Fig.3 We go on.']
    """
    pieces = []
    begin = 0
    for note in _NOTE.finditer(sentence):
        if not _ABBREVIATED.search(sentence[: note.start()]):
            pieces.append(sentence[begin : note.start(1)])
            begin = note.end()
    return [*pieces, sentence[begin:]]
