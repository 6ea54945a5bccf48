"""Find the mechanism of an abstract: BioNLI's positive instances.

An abstract gives at most one mechanism, as in the paper: one conclusion, one regulator, one
regulated entity. Each set of conclusion phrases, in order, points to the last sentence with one of
its phrases; the first such sentence near enough to the end is the conclusion. The sentences before
it are the supporting set; those after it are in no instance. Of several relations with both
entities mentioned in the conclusion, the one with a known direction and the closest mentions is
taken; ties go to the first.

Source: BioNLI, section 3.1; SuMe, section 3. The limit of two sentences after a conclusion, and the
choice of the relation, are ours.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .....loaders.bounds import MAX_CONCLUSION_CHARS
from .....loaders.corpora.abstracts.abstract import (
    Abstract,
    Entity,
    EntityRelation,
    SkippedAbstract,
)
from .....loaders.corpora.abstracts.markers import MARKER, mark_entities
from .....loaders.corpora.abstracts.mechanism_records import MechanismRecord
from .....loaders.corpora.papers.paper import SplitSentences
from .....loaders.corpora.papers.sentences import split_sentences
from .....loaders.errors import UsageError
from .mechanism import NO_PHRASE, Mechanism, Mention, NoMechanism
from .phrases import ConclusionPhrases
from .roles import Roles


@dataclass(frozen=True)
class MechanismRules:
    """How to find mechanisms.

    Attributes:
        phrases: The phrases that mark a conclusion.
        roles: The words that tell who regulates whom.
        min_supporting: Least number of sentences in a supporting set; 0 allows an empty one.
        max_supporting: Greatest number of sentences in a supporting set.
        max_after: Greatest number of sentences after a conclusion.
        by_order: Whether to take the entity mentioned first for the regulator where nothing tells
            the direction. Swapping the names in "A and B interact" makes no negative, so by
            default such abstracts give no mechanism.
        split: Function that splits a text into sentences.
    """

    phrases: ConclusionPhrases = field(default_factory=ConclusionPhrases.read)
    roles: Roles = field(default_factory=Roles.read)
    min_supporting: int = 3
    max_supporting: int = 15
    max_after: int = 2
    by_order: bool = False
    split: SplitSentences = split_sentences

    def __post_init__(self) -> None:
        if not 0 <= self.min_supporting <= self.max_supporting or self.max_after < 0:
            raise UsageError(
                f"A supporting set of {self.min_supporting} to {self.max_supporting} sentences and "
                f"at most {self.max_after} after the conclusion cannot be found; expected "
                "0 <= min_supporting <= max_supporting and max_after of 0 or more."
            )


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
    """A mention of each entity of a relation."""

    relation: EntityRelation
    mentions: tuple[Entity, Entity]

    @property
    def spans(self) -> tuple[Span, Span]:
        first, second = self.mentions
        return _span(first), _span(second)


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
    """Find the mechanism of an abstract, or check the supporting set of a record.

    Args:
        one: The abstract or record.
        rules: How to find mechanisms.

    Raises:
        ValueError: ``rules.split`` returns a sentence that is not in the text.
    """
    try:
        return _of_abstract(one, rules) if isinstance(one, Abstract) else _of_record(one, rules)
    except _NoMechanismError as error:
        return NoMechanism(one.file, one.line, one.pmid, error.reason, error.detail)


def _of_record(record: MechanismRecord, rules: MechanismRules) -> Mechanism:
    told = record.supporting
    supporting = tuple(rules.split(told) if isinstance(told, str) else filter(str.strip, told))
    for sentence in supporting:
        _refuse_markers(sentence)
    _check_length(len(supporting), rules)
    _check_conclusion(record.conclusion)
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
    sentences = find_sentences(abstract, rules.split)
    number = _find_conclusion([text[slice(*span)] for span in sentences], rules)
    _check_length(number, rules)
    conclusion = sentences[number]
    _check_conclusion(text[slice(*conclusion)])
    choice = min(_choices(abstract, conclusion, rules))
    regulator, regulated = (
        (span.start - conclusion.start, span.end - conclusion.start)
        for span in (choice.regulator, choice.regulated)
    )
    return Mechanism(
        abstract.pmid,
        tuple(text[slice(*span)] for span in sentences[:number]),
        mark_entities(text[slice(*conclusion)], regulator, regulated),
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


def find_sentences(abstract: Abstract, split: SplitSentences) -> list[Span]:
    """Find the sentences of an abstract, without its title.

    Two sentences that cut a mention are joined again: "Heat shock protein (mol. wt. 70)".

    Args:
        abstract: The abstract.
        split: Function that splits a text into sentences and drops only the spaces between them.

    Raises:
        ValueError: ``split`` returns a sentence that is not in the text.
    """
    sentences: list[Span] = []
    position = abstract.title_end + 1
    inner = {place for entity in abstract.entities for place in range(entity.start + 1, entity.end)}
    for sentence in split(abstract.text[position:]):
        start = abstract.text.index(sentence, position)
        position = start + len(sentence)
        # A mention is cut where an offset inside it lies between two sentences.
        is_cut = bool(sentences) and not inner.isdisjoint(range(sentences[-1].end, start + 1))
        sentences.append(Span(sentences.pop().start if is_cut else start, position))
    return sentences


def _find_conclusion(sentences: Sequence[str], rules: MechanismRules) -> int:
    found = rules.phrases.find(sentences)
    if not found:
        names = ", ".join(rules.phrases.sets)
        detail = f"expected a phrase of {names} in one of {len(sentences)} sentences, got none"
        raise _NoMechanismError(NO_PHRASE, detail)
    for number in found:
        if len(sentences) - 1 - number <= rules.max_after:
            return number
    n_after = len(sentences) - 1 - max(found)
    detail = f"expected {rules.max_after} sentences behind it at most, got {n_after}"
    raise _NoMechanismError("conclusion not at the end", detail)


def _check_conclusion(sentence: str) -> None:
    if len(sentence) > MAX_CONCLUSION_CHARS:
        raise _NoMechanismError("conclusion too long", f"got {len(sentence):,} characters")


def _check_length(n_supporting: int, rules: MechanismRules) -> None:
    detail = f"expected {rules.min_supporting} to {rules.max_supporting}, got {n_supporting}"
    if n_supporting < rules.min_supporting:
        raise _NoMechanismError("supporting set too short", detail)
    if n_supporting > rules.max_supporting:
        raise _NoMechanismError("supporting set too long", detail)


def _choices(abstract: Abstract, conclusion: Span, rules: MechanismRules) -> list[_Choice]:
    text = abstract.text
    free = set(_free(abstract.entities))

    def is_apart(pair: _Pair) -> bool:
        return {*pair.mentions} <= free and not pair.spans[0].meets(pair.spans[1])

    def has_two_names(pair: _Pair) -> bool:
        return len({_plain(text[slice(*span)]) for span in pair.spans}) == 2

    pairs = _pairs(abstract, conclusion, rules)
    for is_fit, reason in (is_apart, "mentions overlap"), (has_two_names, "one name for both"):
        if not (fit := list(filter(is_fit, pairs))):
            raise _NoMechanismError(reason, _show(pairs[0], text))
        pairs = fit
    choices = [choice for pair in pairs if (choice := _choose(pair, text, conclusion, rules))]
    if not choices:
        raise _NoMechanismError("direction not told", _show(pairs[0], text))
    return choices


def _pairs(abstract: Abstract, conclusion: Span, rules: MechanismRules) -> list[_Pair]:
    relations = [
        relation
        for relation in dict.fromkeys(abstract.relations)
        if relation.first != relation.second
        and not rules.roles.of_relation(relation.type).is_passed_over
    ]
    if not relations:
        got = ", ".join(sorted({relation.type for relation in abstract.relations})) or "none"
        raise _NoMechanismError("no relation", f"expected one between two entities, got {got}")
    inside = [one for one in abstract.entities if conclusion.holds(_span(one))]
    pairs = [
        _Pair(relation, (first, second))
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
    known = rules.roles.of_relation(pair.relation.type)
    early, late = sorted(pair.spans)
    told = rules.roles.tell(text[conclusion.start : early.start], text[early.end : late.start])
    first, second = pair.mentions
    if known.is_directed:
        is_forward = _span(first) == early
    elif told is not None:
        is_forward = told.is_forward
    elif rules.by_order:
        is_forward = True
    else:
        return None
    if (_span(first) == early) != is_forward:
        first, second = second, first
    return _Choice(
        told is None and not known.is_directed,
        late.start - early.end,
        _span(first),
        _span(second),
        (first.type, second.type),
        (pair.relation.first, pair.relation.second),
        known.polarity or (told.polarity if told else None) or "",
        (first.ids, second.ids),
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


def _show(pair: _Pair, text: str) -> str:
    first, second = (f"{text[slice(*span)]!r} at {span.start}" for span in pair.spans)
    return f"{pair.relation.type} of {first} and {second}"
