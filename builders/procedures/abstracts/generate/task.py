"""Mechanism generation as text: what a model reads, and what it writes.

It reads the two entities and the supporting set, and writes the polarity of their relation and the
conclusion with its markers::

    <re> TNF <er> <el> IL-6 <le> <exp> Cells were given TNF. IL-6 rose. ...
    positive <exp> We conclude that <re> TNF <er> induces <el> IL-6 <le>.

The first word written is ``positive``, ``negative`` or, where the polarity of the mechanism is
unknown, ``unknown``.

Source:
    BioNLI, section 3.3.2, after Bastan et al. (2022): "generate mechanism sentences (and the
    relation between main entities)". The markers and ``<exp>`` are those of the release; the form
    is ours.
"""

import re
from dataclasses import dataclass

from .....loaders.corpora.abstracts.markers import REGULATED, REGULATOR, read_marked
from ..mechanisms.mechanism import Mechanism

SEPARATOR = "<exp>"
#: The tokens that a vocabulary must have as a whole.
SPECIAL_TOKENS = (*REGULATOR, *REGULATED, SEPARATOR)
UNKNOWN = "unknown"
_POLARITIES = ("positive", "negative")
# Some tokenizers, T5's among them, put spaces around every added token: "<el> Akt <le> ."
_BLANK_BEHIND = re.compile(r"(<er>|<le>) (?=[.,;:)\]/]|-\w)")
_GLUED = re.compile(r"(?<=\w)(?=<re>|<el>)|(?:(?<=<er>)|(?<=<le>))(?=\w)")
_BLANK_BEFORE = re.compile(r"([(\[/]) (?=<re>|<el>)")


@dataclass(frozen=True, slots=True)
class Written:
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
    regulator = mark_name("regulator", mechanism.regulator)
    regulated = mark_name("regulated", mechanism.regulated)
    return f"{regulator} {regulated} {SEPARATOR} {' '.join(mechanism.supporting)}"


def write_output(mechanism: Mechanism) -> str:
    """Write the output that a model should give for a mechanism."""
    return f"{mechanism.polarity or UNKNOWN} {SEPARATOR} {mechanism.conclusion}"


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


def mark_name(role: str, name: str) -> str:
    """Put a name in the markers of a role, ``regulator`` or ``regulated``."""
    opening, closing = REGULATOR if role == "regulator" else REGULATED
    return f"{opening} {name} {closing}"
