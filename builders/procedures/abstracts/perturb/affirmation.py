"""Whether a sentence affirms the relation of its two entities, decided by the scope of cues.

``cues.json`` holds closed classes of words and, made of them, the phrases that deny, weaken or
question, each with the scope in which it does: the rest of its clause, its noun phrase, its object,
or its subject. Phrases that look alike and affirm (no doubt, not only, never failed to) are taken
away first. A relation is not affirmed where the scope of a cue has its two entities, or has one and
the clause the other. Two denials of one relation cancel out.

Source:
    Cues with a direction, pseudo-cues and words that end a scope are those of NegEx (Chapman et
    al., 2001) and ConText (Harkema et al., 2009), which judge one concept; here they judge a
    relation of two. Classes and scopes are ours.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from .clauses import AUXILIARIES, Words, read_words
from .cues import ENTITY, OTHER, Cue, Cues, find_cues, read_cues, without_affirming
from .names import MarkedSentence
from .scopes import Clauses

#: Why the entities of a sentence are left as they are.
DENIED = "the sentence denies the relation, and may with other entities be as true"
WEAK = "the sentence doubts the relation, and may with other entities be as true"
QUESTIONED = "the sentence leaves the relation open"
MIXED = "one clause affirms, another denies the relation of one of the entities"
NOT_AFFIRMED = (DENIED, WEAK, QUESTIONED, MIXED)
_REASONS = {"denied": DENIED, "weak": WEAK, "questioned": QUESTIONED}
_PLAIN_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*|\?")
_NOT = ("n't", "n’t")  # noqa: RUF001
#: Between two names, where a sentence takes for granted that one causes the other.
_PRESUPPOSED = re.compile(
    r"(?:\b(?!(?:ascrib|attribut|report|claim|alleg|associat|correlat|relat|link)ed)\w+ed|seen|due)"
    r" (?:by|to|with)\b|^- \w+ed\b"
)
_ACTING = frozenset(["by", "on", "due", "-", "against", "upon"])
_GIVEN = frozenset(
    ["treated", "pretreated", "exposed", "injected", "infused", "transfected", "infected", "fed"]
)
_DETERMINERS = frozenset({"the", "a", "an", "this", "these", "such", "their", "its", "our"})
#: So many words behind a cue, at most, stands what it is about at once.
_NEAR = 6
#: What stands for an adverb, and tells nothing of the relation: in all likelihood.
_ADVERBIALS = re.compile(
    r"\b(?:in all (?:likelihood|probability)|at (?:this|the present|any) (?:stage|point|time)"
    r"|for (?:now|the time being)|on (?:balance|the whole|present evidence)|by and large"
    r"|to (?:our|my) (?:mind|knowledge)|in (?:our|my|the authors) (?:view|opinion)|as yet|so far)\b"
)
_EMBEDDING = frozenset({"whatever", "what", "whichever"})
_PRONOUNS = frozenset({"it", "its", "they", "their", "them", "same", "these", "this", "such"})
_THAT = frozenset({"that", "which"})


class Judgement(NamedTuple):
    """Whether a sentence affirms the relation of its two entities.

    Attributes:
        reason: Why not, one of ``NOT_AFFIRMED``; None where it does.
        cues: Offsets of the words that decide, in the sentence.
    """

    reason: str | None
    cues: frozenset[int] = frozenset()


@lru_cache(maxsize=1 << 8)  # sentences are judged once, whatever the strategy or its draws
def judge_relation(marked: MarkedSentence) -> Judgement:
    """Judge whether a sentence affirms the relation of its two entities.

    Hedges alone (may, probably, appears to) affirm.
    """
    cues = read_cues()
    if cues.needs.isdisjoint(_PLAIN_WORD.findall(marked.masked.lower())):
        return Judgement(None)
    tokens, offsets = _read_tokens(marked, read_words(marked))
    reason, places = _Reader(without_affirming(_fold(tokens), cues), cues).judge()
    return Judgement(reason, frozenset(offsets[i] for i in places))


def why_not_affirmed(marked: MarkedSentence) -> str | None:
    """Return why a sentence does not affirm its relation, one of ``NOT_AFFIRMED``, or None."""
    return judge_relation(marked).reason


def _read_tokens(marked: MarkedSentence, words: Words) -> tuple[list[str], list[int]]:
    """Return the words in small letters, names as ``X`` and ``N``, and the offset of each.

    Negations stand apart: did not.
    """
    starts = {marked.regulator.start, marked.regulated.start}
    tokens: list[str] = []
    offsets: list[int] = []
    for word in words:
        text = word.text
        if word.is_name:
            tokens.append(ENTITY if word.start in starts else OTHER)
        elif len(text) > 1 and text.isupper():
            tokens.append(OTHER)
        elif text[-3:].lower() in _NOT:
            verb = text[:-3].lower()
            tokens += [{"wo": "will", "ca": "can"}.get(verb, verb), "not"]
        elif text.lower() == "cannot":
            tokens += ["can", "not"]
        else:
            tokens.append(text.lower())
        offsets += [word.start] * (len(tokens) - len(offsets))
    return tokens, offsets


def _fold(tokens: list[str]) -> list[str]:
    """Return the words with those of adverbials as adverbs, as many as before."""
    text = " ".join(tokens)
    return _ADVERBIALS.sub(
        lambda found: " ".join(["certainly"] * len(found[0].split())), text
    ).split()


class _Hit(NamedTuple):
    """A cue that bears on the relation, by the position of its first token."""

    reason: str
    refutes: bool
    start: int


class _Reach(NamedTuple):
    """A cue, the start of its clause, and where the two entities are.

    Attributes:
        cue: The cue.
        start: Position where its clause begins.
        earlier: The entities before the clause.
        before: Those in the clause before the cue.
        inside: Those in the cue or its scope.
    """

    cue: Cue
    start: int
    earlier: list[int]
    before: list[int]
    inside: list[int]


class _Reader:
    """The tokens of a sentence, read for the cues that bear on its relation."""

    def __init__(self, tokens: list[str], cues: Cues) -> None:
        self.tokens = tokens
        self.cues = cues
        self.words = cues.words
        self.entities = [i for i, token in enumerate(tokens) if token == ENTITY]
        self.clauses = Clauses(tokens, cues)

    def judge(self) -> tuple[str | None, set[int]]:
        """Return why the relation is not affirmed, or None; and where the cues of it begin."""
        hits = [hit for cue in find_cues(self.tokens, self.cues) if (hit := self._judge_cue(cue))]
        if self._asks():
            hits.append(_Hit(QUESTIONED, False, len(self.tokens) - 1))
        if self._is_settled():
            hits = [hit for hit in hits if hit.reason not in (QUESTIONED, WEAK)]
        reasons = {hit.reason for hit in hits}
        refuted = {hit.start for hit in hits if hit.refutes}
        is_denied = any(hit.reason == DENIED and not hit.refutes for hit in hits)
        if refuted and (len(refuted) + is_denied) % 2 == 0 and QUESTIONED not in reasons:
            return None, set()  # the view that X has no effect is refuted
        reason = next((one for one in (QUESTIONED, WEAK, DENIED, MIXED) if one in reasons), None)
        return reason, {hit.start for hit in hits if hit.reason == reason}

    def _judge_cue(self, cue: Cue) -> _Hit | None:
        scope = cue.rule.scope
        is_contrast = scope == "contrast" or self._is_of_phrase(cue)
        places = self.clauses.scope(
            cue, to_verb=is_contrast or scope in ("phrase", "other", "subject")
        )
        inside = [i for i in (*range(cue.start, cue.end), *places) if self.tokens[i] == ENTITY]
        start = self.clauses.start(cue.start)
        before = [i for i in self.entities if start <= i < cue.start]
        reach = _Reach(cue, start, [i for i in self.entities if i < start], before, inside)
        if is_contrast:
            is_hit, is_mixed = False, self._contrasts(reach)
        elif scope == "other":
            is_near = len(inside) == 1 and inside[0] < cue.end + _NEAR
            is_held_back = is_near and not before and self.tokens[cue.start - 1] == ","
            is_hit, is_mixed = (is_near and len(before) == 1) or is_held_back, False
        elif scope == "subject":
            is_hit = self._is_of_subject(reach)
            is_mixed = len(before) == 1 and self._is_taken_up(reach, start, cue.start)
        elif scope == "either":
            is_hit, is_mixed = self._is_of_either(reach)
        elif scope == "pro-form":
            is_hit, is_mixed = False, self._is_pro_form(reach)
        else:
            is_hit, is_mixed = self._is_of_rest(reach)
        if is_hit and self._shows_a_cause(cue):
            is_hit = False
        if not (is_hit or is_mixed):
            return None
        return _Hit(_REASONS[cue.rule.reason] if is_hit else MIXED, cue.rule.refutes, cue.start)

    # ---- Scopes: whether a cue denies the relation, and whether that of one entity only.

    def _is_of_rest(self, reach: _Reach) -> tuple[bool, bool]:
        cue, inside = reach.cue, reach.inside
        is_object, is_question = cue.rule.scope == "object", cue.rule.reason == "questioned"
        if is_object and self.clauses.is_passive(cue.start):
            return False, False  # having been excluded
        if len(inside) == 2:
            if is_object and is_question:
                asked = self.tokens[cue.end : inside[0]]
                return self.words["presupposing"].isdisjoint(asked), False
            return is_object or self._governs(cue.end, inside), False
        if len(inside) == 1 and (is_object or is_question):
            return False, self._is_taken_up(reach, cue.end, inside[0])
        if len(inside) == 1 and not is_object and not is_question:
            return bool(reach.before), bool(reach.earlier)
        return False, False

    def _is_taken_up(self, reach: _Reach, start: int, end: int) -> bool:
        """Return whether the entity of an earlier clause is meant: whether it does, any effect."""
        words = self.tokens[start:end]
        is_meant = not _PRONOUNS.isdisjoint(words) or (
            "any" in words and not self.words["relation"].isdisjoint(words)
        )
        return bool(reach.earlier) and is_meant

    def _is_of_either(self, reach: _Reach) -> tuple[bool, bool]:
        cue, before, inside = reach.cue, reach.before, reach.inside
        if cue.rule.within and not any(i < cue.end for i in inside):
            return False, False
        if len(before) == 2:
            return not self._is_causal(reach.start, *before), False
        n_here = len(before) + len(inside)
        return n_here == 2, n_here == 1 and bool(reach.earlier)

    def _is_pro_form(self, reach: _Reach) -> bool:
        """Return whether the subject is one entity, and the other stands before: Y did not."""
        before = reach.before
        subject = [i for i in before if _THAT.isdisjoint(self.tokens[i : reach.cue.start])]
        if len(subject) != 1 or reach.inside or len(before) + len(reach.earlier) != 2:
            return False
        return bool(reach.earlier) or not _THAT.isdisjoint(self.tokens[before[0] : subject[0]])

    def _is_of_phrase(self, cue: Cue) -> bool:
        """Return whether a ``not`` denies a phrase only: X but not Z, not Z but X."""
        i = cue.start
        is_not = cue.rule.scope == "clause" and self.tokens[i] == "not" and i > 0
        return is_not and self.tokens[i - 1] in ("but", ",", "and")

    def _contrasts(self, reach: _Reach) -> bool:
        """Return whether one entity is held against the rest: blocks X but not Y; unlike X, Y."""
        if len(reach.inside) != 1:
            return False
        is_named = reach.cue.rule.scope == "contrast" or bool(reach.before + reach.earlier)
        return is_named or not any(self.clauses.finite[reach.start : reach.cue.start - 1])

    # ---- What a cue says of the relation.

    def _governs(self, end: int, inside: list[int]) -> bool:
        """Return whether what ends at a position is about the relation of two entities behind it.

        It is not where it denies what else is done to the relation, named as a noun: does not
        prevent the fall of X after Y.
        """
        if not self.clauses.is_nominal(*inside):
            return True
        verbs = [self.tokens[j] for j in range(end, inside[0]) if self.clauses.is_verb(j)]
        return self.words["light"].issuperset(verbs)

    def _is_causal(self, start: int, one: int, other: int) -> bool:
        """Return whether a noun phrase says that one acts on the other: B induced by A."""
        if not self.clauses.is_nominal(one, other):
            return False
        between = self.tokens[one + 1 : other]
        return (
            not _ACTING.isdisjoint(between)
            or not self.words["relation"].isdisjoint(self.tokens[start:one])
            or any(token.endswith("ed") and token not in _GIVEN for token in between)
        )

    def _is_of_subject(self, reach: _Reach) -> bool:
        """Return whether the subject of a predicate is the relation, or that it holds."""
        before, start, cue = reach.before, reach.start, reach.cue
        if not before or self._has_other_subject(before[-1], cue.start):
            return False
        if self.tokens[start] in self.words["fronting"]:
            commas = [k + 1 for k in range(start, before[0]) if self.tokens[k] == ","]
            start = max([start, *commas])
        subject = self.tokens[start : before[0]]
        if len(before) == 1:
            return bool(reach.inside) and not self.words["relation"].isdisjoint(subject)
        between = " ".join(self.tokens[before[0] + 1 : before[1]])
        if cue.rule.reason != "denied" and _PRESUPPOSED.search(between):
            return False
        if not self.words["claim"].isdisjoint(subject):
            return self._governs(start, before)
        if not self.words["presupposing"].isdisjoint(subject):
            return False
        for j in range(start, self.clauses.verb_start(cue.start)):
            if self.tokens[j] in self.words["relative"] | _EMBEDDING:
                return True
            if self.clauses.finite[j]:
                return False
        return True

    def _shows_a_cause(self, cue: Cue) -> bool:
        """Return whether what is denied is what a loss prevents: disappears in mice lacking X."""
        if cue.rule.scope == "subject":
            rest = " ".join(self.tokens[cue.end : cue.end + _NEAR])
            return cue.rule.reason == "weak" and self.cues.loss.search(rest) is not None
        return cue.rule.reason == "denied" and self._prevents(cue)

    def _has_other_subject(self, last: int, at: int) -> bool:
        """Return whether a noun phrase without an entity is joined before a predicate: and it is.

        A pronoun takes up what was said.
        """
        end = self.clauses.verb_start(at)
        joint = next((k for k in range(end - 1, last, -1) if self.tokens[k] == "and"), None)
        if joint is None or joint + 1 >= end:
            return False
        first = self.tokens[joint + 1]
        if first not in _DETERMINERS and not first.endswith("s"):
            return False
        opens = self.tokens[joint - 1] == "," or any(self.clauses.finite[last + 1 : joint])
        subject = self.tokens[joint:end]
        head = next((k for k, t in enumerate(subject) if t in self.words["relative"]), len(subject))
        return opens and self.words["relation"].isdisjoint(subject[:head])

    def _prevents(self, cue: Cue) -> bool:
        """Return whether what does not happen tells of a cause: without X no Y, unlike controls."""
        rest = " ".join(self.tokens[j] for j in self.clauses.scope(cue, to_verb=False))
        if not self.words["same"].isdisjoint(self.tokens[cue.start : cue.end]):
            return False  # unaffected by the loss of X
        is_verbal = self.words["relation"].isdisjoint(self.tokens[cue.start : cue.end + 2])
        if is_verbal and not cue.rule.refutes and self.cues.loss.search(rest):
            return True
        if self.words["occur"].isdisjoint(self.tokens[cue.start : cue.start + 14]):
            return False
        if self.cues.loss.search(" ".join(self.tokens)):
            return True
        after = self.tokens[cue.end :]
        return any(
            word in ("whereas", "while", "but")
            and not self.words["control"].isdisjoint(after[k : k + 7])
            for k, word in enumerate(after)
        )

    def _asks(self) -> bool:
        last = len(self.tokens) - 1
        if self.tokens[last] != "?":
            return False
        return self.tokens[0] in AUXILIARIES or self.entities[0] >= self.clauses.start(last)

    def _is_settled(self) -> bool:
        """Return whether a doubt or a question is said to be over: is now resolved."""
        return any(
            word in self.words["settling"]
            and "not" not in self.tokens[max(k - 3, 0) : k]
            and self.tokens[k - 1] != "be"
            for k, word in enumerate(self.tokens)
        )


def light_verbs() -> frozenset[str]:
    """Return verbs that only say that a relation holds: is, has, shows, was observed."""
    return read_cues().words["light"]
