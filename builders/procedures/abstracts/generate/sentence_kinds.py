"""The kinds of sentences that a model is asked for: its task, what it must write, what is wrong.

A model reads the two entities and the supporting set, and writes the polarity of their relation and
the conclusion with its markers::

    <re> TNF <er> <el> IL-6 <le> <exp> Cells were given TNF. IL-6 rose. ...
    positive <exp> We conclude that <re> TNF <er> induces <el> IL-6 <le>.

The first word written is ``positive``, ``negative`` or, where the polarity of the mechanism is
unknown, ``unknown``. The kinds:

- ``GEN``: written freely; a negative where the entities stand in each other's markers, or where
  the model writes the opposite polarity. Where the polarity of the mechanism is unknown, as in
  PubTator, only the first is seen.
- ``GEN-ND-SEN``: each entity must stand in the other's markers.
- ``GEN-ND-SRE``: one entity must stand in its markers, one drawn as by SRE in the other's.
- ``GEN-ND-NG``: neither entity may stand in its own markers.

Where the rules of SEN or SRE refuse a mechanism, no model is asked for the kind that is named after
them.

Source:
    BioNLI, section 3.3.2, after Bastan et al. (2022): "generate mechanism sentences (and the
    relation between main entities)". The markers and ``<exp>`` are those of the release; the form
    of input and output is ours.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from .....loaders.corpora.abstracts.markers import REGULATED, REGULATOR, read_marked
from ..mechanisms.mechanism import Mechanism
from ..perturb.apply import SAME_AS_POSITIVE
from ..perturb.names import MarkedSentence, locate_entities, plain_name, spell_plainly
from ..perturb.replace_entities import ReplaceInside
from ..perturb.strategy import Choices, NoNegative
from ..perturb.swap_entities import UNDIRECTED, SwapNames, is_directed

FREE, EXCHANGED, REPLACED, FORBIDDEN = "GEN", "GEN-ND-SEN", "GEN-ND-SRE", "GEN-ND-NG"
#: The category in the dataset of each kind; a sentence found for two kinds goes to the first.
KINDS = {FREE: "GEN", EXCHANGED: "GEN-ND", REPLACED: "GEN-ND", FORBIDDEN: "GEN-ND"}
#: The rules whose negatives have the names that a model is asked for.
_RULES = {EXCHANGED: SwapNames(), REPLACED: ReplaceInside()}

#: Why a model gives no negative, besides the reasons of SEN and SRE.
NOT_FOUND = "no text was found that ends and satisfies what was asked"
TOO_GOOD = "the quality is not below the bound"
TOO_SIMILAR = "it is not less similar to the positive than the bound"
MALFORMED = "the text has not one entity of each role in well-formed markers, apart"
MISSING = "an entity does not stand in its markers"
NOT_WRONG = "its roles are those of the positive, and its polarity is not the opposite"
BROKEN_CONSTRAINT = "the text has a marked entity that it must not have"

SEPARATOR = "<exp>"
#: The tokens that a vocabulary must have as a whole.
SPECIAL_TOKENS = (*REGULATOR, *REGULATED, SEPARATOR)
_POLARITIES = ("positive", "negative")
# Some tokenizers, T5's among them, put spaces around every added token: "<el> Akt <le> ."
_BLANK_BEHIND = re.compile(r"(<er>|<le>) (?=[.,;:)\]/]|-\w)")
_GLUED = re.compile(r"(?<=\w)(?=<re>|<el>)|(?:(?<=<er>)|(?<=<le>))(?=\w)")
_BLANK_BEFORE = re.compile(r"([(\[/]) (?=<re>|<el>)")

#: The names of a regulator and a regulated entity.
Names = tuple[str, str]


class Written(NamedTuple):
    """The text that a model wrote.

    Attributes:
        polarity: ``"positive"`` or ``"negative"``; None where it says neither.
        sentence: The sentence with normalized spaces: one between a word and a marker, none between
            a marker and punctuation, one inside well-formed markers.
    """

    polarity: str | None
    sentence: str


def write_input(mechanism: Mechanism) -> str:
    """Write the input of a model for a mechanism."""
    return f"{' '.join(mark_names(mechanism.names))} {SEPARATOR} {' '.join(mechanism.supporting)}"


def write_output(mechanism: Mechanism) -> str:
    """Write the output that a model should give for a mechanism."""
    return f"{mechanism.polarity or 'unknown'} {SEPARATOR} {mechanism.conclusion}"


def read_output(text: str) -> Written:
    """Read what a model wrote; without the separator, all of it is the sentence.

    >>> read_output("negative <exp> We saw  that <re>A <er> blocks <el> B <le>.")
    Written(polarity='negative', sentence='We saw that <re> A <er> blocks <el> B <le>.')
    """
    head, separator, rest = text.partition(SEPARATOR)
    polarity = head.strip() if separator else ""
    sentence = " ".join((rest if separator else text).split())
    sentence = _GLUED.sub(" ", sentence)
    sentence = _BLANK_BEFORE.sub(r"\1", _BLANK_BEHIND.sub(r"\1", sentence))
    marked = read_marked(sentence)
    return Written(
        polarity if polarity in _POLARITIES else None,
        sentence if isinstance(marked, str) else marked.text,
    )


def mark_names(names: Names) -> tuple[str, str]:
    """Put a regulator and a regulated entity in their markers."""
    (opens, closes), (opens_2, closes_2) = REGULATOR, REGULATED
    return f"{opens} {names[0]} {closes}", f"{opens_2} {names[1]} {closes_2}"


def choose_names(kind: str, mechanism: Mechanism, seed: int) -> Names | NoNegative:
    """Choose the names that a sentence of a kind must, or must not, have in their markers."""
    if kind not in _RULES:
        return mechanism.names
    proposed = _RULES[kind].propose(mechanism, Choices(seed, mechanism.pmid, kind))
    if isinstance(proposed, NoNegative):
        return proposed
    marked = read_marked(next(proposed).text)
    if isinstance(marked, str):
        return NoNegative(MALFORMED)
    return marked.regulator, marked.regulated


def judge(kind: str, written: Written, mechanism: Mechanism, names: Names) -> str | NoNegative:
    """Judge whether a sentence is a negative of a kind, before its bound is applied.

    Args:
        kind: One of ``KINDS``.
        written: The sentence that a model wrote.
        mechanism: The positive.
        names: The names that were chosen for it.

    Returns:
        The error of the sentence, for a reader; or why it is not a negative.
    """
    marked = _read_sentence(written.sentence, mechanism)
    if marked is None:
        return NoNegative(MALFORMED)
    if spell_plainly(written.sentence) == spell_plainly(mechanism.conclusion):
        return NoNegative(SAME_AS_POSITIVE)
    found, original = _plain(marked.names), _plain(mechanism.names)
    change = f"{', '.join(mechanism.names)} -> {', '.join(marked.names)}"
    if kind == FORBIDDEN:
        is_kept = found[0] == original[0] or found[1] == original[1]
        return NoNegative(BROKEN_CONSTRAINT) if is_kept else change
    if kind == FREE and found == original:
        if {written.polarity, mechanism.polarity} != {*_POLARITIES}:
            return NoNegative(NOT_WRONG)
        return f"{mechanism.polarity} -> {written.polarity}"
    if marked.names != names if kind != FREE else found != original[::-1]:
        return NoNegative(MISSING)
    if kind != REPLACED:
        return "roles exchanged" if is_directed(marked) else NoNegative(UNDIRECTED)
    return change


def _read_sentence(sentence: str, mechanism: Mechanism) -> MarkedSentence | None:
    """Locate any two marked names in a sentence; None where markers are malformed, or touch."""
    read = read_marked(sentence)
    if isinstance(read, str):
        return None
    marked = locate_entities(
        replace(mechanism, conclusion=sentence, regulator=read.regulator, regulated=read.regulated)
    )
    if marked is None:
        return None
    first, second = marked.in_order
    return marked if sentence[first.end : second.start].strip() else None


def _plain(names: Names) -> Names:
    return plain_name(names[0]), plain_name(names[1])
