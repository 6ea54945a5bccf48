"""Which of two related entities regulates the other.

Where the annotated relation has a direction (the chemical of a ``CID`` causes the disease), its
first entity is the regulator. Where it has none (``PPI``), the words of the sentence decide. Of the
cues between the two mentions, the last one counts; in the examples A is mentioned first:

- a verb of regulation, or its noun: A ("A inhibits B", "A in the activation of B");
- such a word, not in the present tense, with "by" within the next four words: B ("A is inhibited by
  B", "A activation by B"); with a form of "be" before it and no "by", it is not a cue;
- a compound at most two words before B: A ("A-induced B", "A-dependent growth of B"); a compound of
  another entity is not a cue;
- a noun of a regulator with a preposition: A ("A has an effect on B", "A is a ligand for B");
- words that stand before a regulator: B ("A appears in response to B");
- a word without direction: neither ("A binds B", "the balance between A and B", "A inhibits growth,
  which suggests that B").

After a comma, a form in "-ing" is not a cue: in "C binds A, thereby inhibiting B" its subject is C.
Without a cue, the words before A may tell: B in "inhibition of A by B", A in "the effect of A on
B". Else the direction is unknown. "A binds B" is unknown on purpose: a sentence that stays true
with its entities swapped makes no negative.

The polarity is that of the relation; else that of the cue, if there is only one and no negation.

Source: ours; BioNLI takes the two roles from the relation extractor of SuMe (section 3.1), whose
relations always have a direction. ``roles.json`` holds the stems of verbs, and the other words.
"""

import json
import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import Any, NamedTuple

_LISTS: dict[str, Any] = json.loads((files(__package__) / "roles.json").read_text("utf-8"))
#: Types of relations that state no mechanism.
NO_MECHANISM = frozenset(_LISTS["no_mechanism"])
_COMPOUNDS = tuple(_LISTS["compounds_of_the_regulator"])
_DASHES = ("-", "\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212")
_PRESENT = ("", "e", "s", "es", "ify", "ifies")
_OTHER_ENDINGS = (
    "ed", "en", "ing", "ified", "ifying", "ion", "tion", "ation", "ition", "ification", "ment",
    "ement", "age", "ade",
)  # fmt: skip
_BY = re.compile(r"\W+(?:[\w-]+\W+){0,3}?by\b", re.IGNORECASE)
_BE = re.compile(r"\b(?:is|are|was|were|be|been|being)\W+(?:\w+\W+){0,2}\Z", re.IGNORECASE)
_COMMA = re.compile(r",\s+(?:\w+\s+)?\Z")
_NEAR = re.compile(r"[^\w,;()]*(?:[\w-]+[^\w,;()]+){0,2}\Z")
_OF = r"\s+of\s+(?:[\w-]+\s+){0,3}\Z"


class RelationType(NamedTuple):
    """The direction and polarity of a type of relation.

    Attributes:
        is_directed: Whether its first entity regulates its second.
        polarity: ``"positive"`` or ``"negative"``; None where unknown.
    """

    is_directed: bool = False
    polarity: str | None = None


#: The types of relations with a direction or a polarity; any other type has neither.
RELATIONS = {
    name: RelationType(direction == "directed", polarity)
    for name, (direction, polarity) in _LISTS["relations"].items()
}


class Direction(NamedTuple):
    """Which of two mentions regulates the other, and how.

    Attributes:
        is_forward: Whether the first one is the regulator.
        polarity: ``"positive"`` or ``"negative"``; None where unknown.
    """

    is_forward: bool
    polarity: str | None


class _Cue(NamedTuple):
    end: int
    is_forward: bool | None  # None for a word without direction
    polarity: str | None = None


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, words))


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


_STEMS = "|".join(
    f"(?P<{name}>{_any_of(_LISTS[name])})" for name in ("positive", "negative", "neutral")
)
_ENDINGS = _any_of((*_PRESENT, *_OTHER_ENDINGS))
_FORM = _compile(rf"(?:{_STEMS})(?P<ending>{_ENDINGS})|{_any_of(_COMPOUNDS)}")
_FORM_OF = _compile(rf"(?:{_STEMS})(?:{_ENDINGS}){_OF}")
_NOUN = _any_of(_LISTS["nouns_of_the_regulator"])
_NOUN_OF = _compile(rf"(?:{_NOUN}){_OF}")
_NEGATION = _compile(_any_of(_LISTS["negations"]))
#: Other cues, and whether they make the first mention the regulator.
_OTHER_CUES = (
    (_compile(rf"(?:{_any_of(_LISTS['without_direction'])})(?:e?s?|ed|ing|ions?)"), None),
    (_compile(rf"(?:{_NOUN})\W+(?:[\w-]+\W+){{0,3}}?\b(?:on|in|for|of|to)"), True),
    (_compile(_any_of(_LISTS["words_before_the_regulator"])), False),
)


def find_direction(before: str, between: str) -> Direction | None:
    """Find out from the words of a sentence which of two mentions regulates the other.

    Args:
        before: The text before the first mention.
        between: The text between the two mentions.
    """
    cues = [*_form_cues(between)]
    for pattern, is_forward in _OTHER_CUES:
        cues += [_Cue(match.end(), is_forward) for match in pattern.finditer(between)]
    cues = sorted(cues, key=lambda cue: cue.end) or [*_cues_before(before, between)]
    if not cues or cues[-1].is_forward is None:
        return None
    is_clear = len(cues) == 1 and not _NEGATION.search(between)
    return Direction(cues[-1].is_forward, cues[-1].polarity if is_clear else None)


def _form_cues(between: str) -> Iterator[_Cue]:
    for match in _FORM.finditer(between):
        ending = match["ending"]
        before, after = between[: match.start()], between[match.end() :]
        if before.endswith(_DASHES):  # "-induced", of A only if nothing stands between
            if not before[:-1].strip() and ending != "ing" and _NEAR.match(after):
                yield _Cue(match.end(), True, _polarity(match))
        elif ending is None or (ending.endswith("ing") and _COMMA.search(before)):
            continue
        elif ending.lower() not in _PRESENT and _BY.match(after):
            yield _Cue(match.end(), False, _polarity(match))
        elif not (ending.endswith(("ed", "en")) and _BE.search(before)):
            yield _Cue(match.end(), True, _polarity(match))


def _cues_before(before: str, between: str) -> Iterator[_Cue]:
    if match := _FORM_OF.search(before):
        if re.search(r"\bby\b", between, re.IGNORECASE):
            yield _Cue(0, False, _polarity(match))
    elif _NOUN_OF.search(before) and re.search(r"\b(?:on|in|for)\b", between):
        yield _Cue(0, True)


def _polarity(match: re.Match[str]) -> str | None:
    return next((name for name in ("positive", "negative") if match[name]), None)
