"""Find the mechanism of an abstract: BioNLI's positive instances.

An abstract gives at most one mechanism, as in the paper: one conclusion, one regulator, one
regulated entity. Each set of conclusion phrases, in order, points to the last sentence with one of
its phrases; the first such sentence near enough to the end is the conclusion. The sentences before
it are the supporting set; those after it are in no instance. Of several relations with both
entities mentioned in the conclusion, the one with a known direction and the closest mentions is
taken; ties go to the first.

Which of the two entities regulates the other? Where the annotated relation has a direction (the
chemical of a ``CID`` causes the disease), its first entity is the regulator. Where it has none
(``PPI``), the words of the sentence decide. Of the cues between the two mentions, the last one
counts; in the examples A is mentioned first:

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

Source:
    BioNLI, section 3.1; SuMe, section 3. The limit of two sentences after a conclusion, the choice
    of the relation and the roles are ours: BioNLI takes these from the relation extractor of SuMe
    (section 3.1), whose relations always have a direction. ``roles.json`` holds the stems of verbs,
    and the other words.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from .....loaders.bounds import MAX_CONCLUSION_CHARS
from .....loaders.corpora.abstracts.abstract import (
    Abstract,
    Entity,
    EntityRelation,
    SkippedAbstract,
)
from .....loaders.corpora.abstracts.markers import MARKER, mark_entities
from .....loaders.corpora.abstracts.mechanism_records import MechanismRecord
from .....loaders.corpora.papers.sentences import split_sentences
from .mechanism import NO_PHRASE, Mechanism, Mention, NoMechanism
from .rules import MAX_AFTER, MechanismRules

_LISTS: dict[str, Any] = json.loads((files(__package__) / "roles.json").read_text("utf-8"))
#: Types of relations that state no mechanism.
NO_MECHANISM = frozenset(_LISTS["no_mechanism"])
#: Beginnings of verbs by which one entity acts on another, of words that tell no direction, and the
#: nouns of what acts.
DIRECTED_STEMS: tuple[str, ...] = (
    *_LISTS["positive"], *_LISTS["negative"], *_LISTS["neutral"],
)  # fmt: skip
UNDIRECTED_STEMS: tuple[str, ...] = tuple(_LISTS["without_direction"])
REGULATOR_NOUNS: tuple[str, ...] = tuple(_LISTS["nouns_of_the_regulator"])
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
_NOUN = _any_of(REGULATOR_NOUNS)
_NOUN_OF = _compile(rf"(?:{_NOUN}){_OF}")
_NEGATION = _compile(_any_of(_LISTS["negations"]))
#: Other cues, and whether they make the first mention the regulator.
_OTHER_CUES = (
    (_compile(rf"(?:{_any_of(UNDIRECTED_STEMS)})(?:e?s?|ed|ing|ions?)"), None),
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


class _NoMechanismError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class Span(NamedTuple):
    """A part of ``Abstract.text``: the offsets of its first character and after its last."""

    start: int
    end: int

    def holds(self, other: "Span") -> bool:
        """Return whether the other span lies inside this one."""
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: "Span") -> bool:
        """Return whether the two spans share a character."""
        return self.start < other.end and other.start < self.end


class _Pair(NamedTuple):
    """A relation, and a mention of each of its entities."""

    relation: EntityRelation
    first: Entity
    second: Entity

    @property
    def spans(self) -> tuple[Span, Span]:
        return _span(self.first), _span(self.second)

    def show(self, text: str) -> str:
        first, second = (f"{text[slice(*span)]!r} at {span.start}" for span in self.spans)
        return f"{self.relation.type} of {first} and {second}"


class _Choice(NamedTuple):
    """A regulator and a regulated entity; the smallest choice is taken."""

    is_told_by_order: bool
    distance: int
    regulator: Span
    regulated: Span
    types: tuple[str, str]
    ids: tuple[str, str]
    polarity: str
    entity_ids: tuple[tuple[str, ...], tuple[str, ...]]


def find_mechanisms(
    found: Iterable[Abstract | MechanismRecord | SkippedAbstract],
    rules: MechanismRules | None = None,
) -> Iterator[Mechanism | NoMechanism | SkippedAbstract]:
    """Find the mechanisms of abstracts and records, one at a time.

    Args:
        found: Abstracts, records and skipped units, as the readers yield them.
        rules: How to find mechanisms; None takes the paper's phrases and limits.

    Yields:
        For each abstract and record its mechanism, or why it has none; skipped units unchanged.
    """
    rules = rules or MechanismRules()
    for one in found:
        yield one if isinstance(one, SkippedAbstract) else find_mechanism(one, rules)


def find_mechanism(
    one: Abstract | MechanismRecord, rules: MechanismRules
) -> Mechanism | NoMechanism:
    """Find the mechanism of an abstract, or check the supporting set of a record."""
    try:
        return _of_abstract(one, rules) if isinstance(one, Abstract) else _of_record(one, rules)
    except _NoMechanismError as error:
        return NoMechanism(one.file, one.line, one.pmid, error.reason, error.detail)


def _of_record(record: MechanismRecord, rules: MechanismRules) -> Mechanism:
    given = record.supporting
    supporting = tuple(
        split_sentences(given) if isinstance(given, str) else filter(str.strip, given)
    )
    for sentence in supporting:
        _refuse_markers(sentence)
    _check_lengths(len(supporting), record.conclusion, rules)
    return Mechanism(
        record.pmid,
        supporting,
        record.conclusion,
        record.regulator,
        record.regulated,
        record.regulator_type,
        record.regulated_type,
        (),
        record.polarity,
        record.regulator_ids,
        record.regulated_ids,
    )


def _of_abstract(abstract: Abstract, rules: MechanismRules) -> Mechanism:
    text = abstract.text
    _refuse_markers(text)
    spans = find_sentences(abstract)
    sentences = [text[slice(*span)] for span in spans]
    number = _find_conclusion(sentences, rules)
    _check_lengths(number, sentences[number], rules)
    conclusion = spans[number]
    choice = min(_choices(abstract, conclusion, rules))
    regulator, regulated = (
        (span.start - conclusion.start, span.end - conclusion.start)
        for span in (choice.regulator, choice.regulated)
    )
    return Mechanism(
        abstract.pmid,
        tuple(sentences[:number]),
        mark_entities(sentences[number], regulator, regulated),
        text[slice(*choice.regulator)],
        text[slice(*choice.regulated)],
        *choice.types,
        tuple(_other_mentions(abstract, choice, conclusion)),
        choice.polarity or None,
        *choice.entity_ids,
        tuple(sorted({(one.first, one.second) for one in abstract.relations})),
    )


def _refuse_markers(text: str) -> None:
    if found := MARKER.search(text):
        raise _NoMechanismError("markers in the text", f"got {found[0]} at {found.start()}")


def find_sentences(abstract: Abstract) -> list[Span]:
    """Find the sentences of an abstract, without its title.

    Two sentences that cut a mention are joined again: "Heat shock protein (mol. wt. 70)".
    """
    sentences: list[Span] = []
    position = abstract.title_end + 1
    inner = {place for entity in abstract.entities for place in range(entity.start + 1, entity.end)}
    for sentence in split_sentences(abstract.text[position:]):
        start = abstract.text.index(sentence, position)
        position = start + len(sentence)
        # A mention is cut where an offset inside it lies between two sentences.
        is_cut = bool(sentences) and not inner.isdisjoint(range(sentences[-1].end, start + 1))
        sentences.append(Span(sentences.pop().start if is_cut else start, position))
    return sentences


def _find_conclusion(sentences: Sequence[str], rules: MechanismRules) -> int:
    found = rules.find_conclusions(sentences)
    if not found:
        names = ", ".join(rules.phrases)
        detail = f"expected a phrase of {names} in one of {len(sentences)} sentences, got none"
        raise _NoMechanismError(NO_PHRASE, detail)
    n_after = [len(sentences) - 1 - number for number in found]
    for number, n in zip(found, n_after, strict=True):
        if n <= MAX_AFTER:
            return number
    detail = f"expected {MAX_AFTER} sentences behind it at most, got {min(n_after)}"
    raise _NoMechanismError("conclusion not at the end", detail)


def _check_lengths(n_supporting: int, conclusion: str, rules: MechanismRules) -> None:
    detail = f"expected {rules.min_supporting} to {rules.max_supporting}, got {n_supporting}"
    if n_supporting < rules.min_supporting:
        raise _NoMechanismError("supporting set too short", detail)
    if n_supporting > rules.max_supporting:
        raise _NoMechanismError("supporting set too long", detail)
    if len(conclusion) > MAX_CONCLUSION_CHARS:
        raise _NoMechanismError("conclusion too long", f"got {len(conclusion):,} characters")


def _choices(abstract: Abstract, conclusion: Span, rules: MechanismRules) -> list[_Choice]:
    text = abstract.text
    pairs = _pairs(abstract, conclusion)
    free = set(_free(abstract.entities))
    apart = [p for p in pairs if {p.first, p.second} <= free and not p.spans[0].meets(p.spans[1])]
    if not apart:
        raise _NoMechanismError("mentions overlap", pairs[0].show(text))
    named = [p for p in apart if len({_plain(text[slice(*span)]) for span in p.spans}) == 2]
    if not named:
        raise _NoMechanismError("one name for both", apart[0].show(text))
    choices = [choice for pair in named if (choice := _choose(pair, text, conclusion, rules))]
    if not choices:
        raise _NoMechanismError("direction not told", named[0].show(text))
    return choices


def _pairs(abstract: Abstract, conclusion: Span) -> list[_Pair]:
    relations = [
        relation
        for relation in dict.fromkeys(abstract.relations)
        if relation.first != relation.second and relation.type not in NO_MECHANISM
    ]
    if not relations:
        got = ", ".join(sorted({relation.type for relation in abstract.relations})) or "none"
        raise _NoMechanismError("no relation", f"expected one between two entities, got {got}")
    inside = [one for one in abstract.entities if conclusion.holds(_span(one))]
    pairs = [
        _Pair(relation, first, second)
        for relation in relations
        for first in inside
        if relation.first in first.ids
        for second in inside
        if relation.second in second.ids
    ]
    if not pairs:
        detail = f"expected both entities of one of {len(relations)} relations, got one or none"
        raise _NoMechanismError("entity not in the conclusion", detail)
    return pairs


def _choose(pair: _Pair, text: str, conclusion: Span, rules: MechanismRules) -> _Choice | None:
    relation = RELATIONS.get(pair.relation.type, RelationType())
    early, late = sorted(pair.spans)
    told = find_direction(text[conclusion.start : early.start], text[early.end : late.start])
    is_unknown = told is None and not relation.is_directed
    if is_unknown and not rules.by_order:
        return None
    regulator, regulated = pair.first, pair.second
    if not relation.is_directed:
        is_forward = told is None or told.is_forward
        regulator, regulated = sorted((regulator, regulated), key=_span, reverse=not is_forward)
    return _Choice(
        is_unknown,
        late.start - early.end,
        _span(regulator),
        _span(regulated),
        (regulator.type, regulated.type),
        (pair.relation.first, pair.relation.second),
        relation.polarity or (told.polarity if told else None) or "",
        (regulator.ids, regulated.ids),
    )


def _other_mentions(abstract: Abstract, choice: _Choice, conclusion: Span) -> Iterator[Mention]:
    names = {_plain(abstract.text[slice(*one)]) for one in (choice.regulator, choice.regulated)}
    parts = {
        "supporting": Span(abstract.title_end + 1, conclusion.start),
        "conclusion": conclusion,
    }
    seen: set[Mention] = set()
    for entity in sorted(_free(abstract.entities), key=_span):
        span = _span(entity)
        written = abstract.text[slice(*span)]
        if not set(entity.ids).isdisjoint(choice.ids) or _plain(written) in names:
            continue
        where = next((name for name, part in parts.items() if part.holds(span)), "elsewhere")
        mention = Mention(written, entity.type, where, entity.ids)
        if mention not in seen:
            seen.add(mention)
            yield mention


def _free(entities: Sequence[Entity]) -> list[Entity]:
    """Return the mentions that overlap only with mentions inside them."""
    spans = [_span(entity) for entity in entities]
    return [
        entity
        for entity, span in zip(entities, spans, strict=True)
        if all(span.holds(other) for other in spans if other.meets(span))
    ]


def _span(entity: Entity) -> Span:
    return Span(entity.start, entity.end)


def _plain(written: str) -> str:
    return " ".join(written.casefold().split())
