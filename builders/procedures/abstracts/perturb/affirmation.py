"""Whether a sentence affirms the relation of its two entities, decided by the scope of cues.

``cues.json`` holds closed classes of words and, made of them, the phrases that deny, weaken or
question, each with the scope in which it does: the rest of its clause, its noun phrase, its object,
or its subject. Phrases that look alike and affirm (no doubt, not only, never failed to) are taken
away first. A relation is not affirmed where the scope of a cue has its two entities, or has one and
the clause the other. Two denials of one relation cancel out.

In the phrases ``a|b`` is either word, ``<name>`` a class, ``*ed`` an ending, ``~`` any adverbs,
``[4]`` up to four words of one clause, ``?`` makes a word optional, ``^`` stands for the start of a
clause and ``!`` for its end.

Source:
    Cues with a direction, pseudo-cues and words that end a scope are those of NegEx (Chapman et
    al., 2001) and ConText (Harkema et al., 2009), which judge one concept; here they judge a
    relation of two. Classes and scopes are ours.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from .clauses import AUXILIARIES, BE, MODALS, PREPOSITIONS, Words, read_words
from .grammar import base_of_past, base_of_third, is_base, read_lists
from .names import MarkedSentence

#: Why the entities of a sentence are left as they are.
DENIED = "the sentence denies the relation, and may with other entities be as true"
WEAK = "the sentence doubts the relation, and may with other entities be as true"
QUESTIONED = "the sentence leaves the relation open"
MIXED = "one clause affirms, another denies the relation of one of the entities"
NOT_AFFIRMED = (DENIED, WEAK, QUESTIONED, MIXED)
_REASONS = {"denied": DENIED, "weak": WEAK, "questioned": QUESTIONED}
#: The two entities, and all other names, in the text that phrases are matched with.
_ENTITY, _OTHER = "X", "N"
_PASSIVE = BE | {"be", "been", "being"}
#: Words that tell nothing of what a sentence may hold.
_COMMON = (
    AUXILIARIES | PREPOSITIONS | {"be", "been", "being", "the", "a", "an", "that", "more", "so"}
)
#: Between two names, where a sentence takes for granted that one causes the other.
_PRESUPPOSED = re.compile(r"(?:\w+ed|seen|due) (?:by|to|with)\b|^- \w+ed\b")
_GIVEN = frozenset(
    ["treated", "pretreated", "exposed", "injected", "infused", "transfected", "infected", "fed"]
)
_THAT = frozenset({"that", "which"})
_GROUP = AUXILIARIES | {"be", "been", "being", "likely", "not", "to"}


class _Rule(NamedTuple):
    """A phrase; one of ``needs`` is in every sentence that has it."""

    pattern: re.Pattern[str]
    needs: frozenset[str]
    reason: str
    scope: str
    refutes: bool
    within: bool
    at_start: bool


class _Cue(NamedTuple):
    start: int
    end: int
    rule: _Rule


class _Hit(NamedTuple):
    reason: str
    refutes: bool
    start: int


class Judgement(NamedTuple):
    """Whether a sentence affirms the relation of its two entities.

    Attributes:
        reason: Why not, one of ``NOT_AFFIRMED``; None where it does.
        cues: Offsets of the words that decide, in the sentence.
    """

    reason: str | None
    cues: frozenset[int] = frozenset()


@lru_cache(maxsize=1)  # the strategies ask of the same conclusion one after the other
def judge_relation(marked: MarkedSentence) -> Judgement:
    """Judge whether a sentence affirms the relation of its two entities.

    Hedges alone (may, probably, appears to) affirm.
    """
    lists = _cue_lists()
    if lists.needs.isdisjoint(_PLAIN_WORD.findall(marked.masked.lower())):
        return Judgement(None)
    tokens, offsets = _read_tokens(marked, read_words(marked))
    reason, places = _Reader(tokens, lists).judge()
    return Judgement(reason, frozenset(offsets[i] for i in places))


def why_not_affirmed(marked: MarkedSentence) -> str | None:
    """Return why a sentence does not affirm its relation, see ``Judgement``; None where it does.

    Returns:
        One of ``NOT_AFFIRMED``, or None.
    """
    return judge_relation(marked).reason


_PLAIN_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*|\?")


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
            tokens.append(_ENTITY if word.start in starts else _OTHER)
        elif len(text) > 1 and text.isupper():
            tokens.append(_OTHER)
        elif text[-3:].lower() in ("n't", "n’t"):  # noqa: RUF001
            tokens += [{"wo": "will", "ca": "can"}.get(text[:-3].lower(), text[:-3].lower()), "not"]
        elif text.lower() == "cannot":
            tokens += ["can", "not"]
        else:
            tokens.append(text.lower())
        offsets += [word.start] * (len(tokens) - len(offsets))
    return tokens, offsets


def light_verbs() -> frozenset[str]:
    """Return verbs that only say that a relation holds: is, has, shows, was observed."""
    return _cue_lists().light


class _Reader:
    """The tokens of a sentence, its cues and their scopes."""

    def __init__(self, tokens: list[str], lists: "_Lists") -> None:
        self.tokens = tokens
        self.lists = lists
        self.entities = [i for i, token in enumerate(tokens) if token == _ENTITY]
        self.finite = [self._is_finite(i) for i in range(len(tokens))]

    def judge(self) -> tuple[str | None, set[int]]:
        """Return why the relation is not affirmed, or None; and where the cues of it begin."""
        if len(self.entities) != 2:
            return None, set()
        for cue in self._find(self.lists.affirming):
            self.tokens[cue.start : cue.end] = [
                t if t in (_ENTITY, _OTHER) else "_" for t in self.tokens[cue.start : cue.end]
            ]
        hits = [hit for cue in self._find(self.lists.cues) if (hit := self._judge_cue(cue))]
        if self.tokens[-1] == "?" and all(
            i > self._start(len(self.tokens) - 1) for i in self.entities
        ):
            hits.append(_Hit(QUESTIONED, False, 0))
        if self._is_settled():
            hits = [hit for hit in hits if hit.reason not in (QUESTIONED, WEAK)]
        refuted = {hit.start for hit in hits if hit.refutes}
        denied = {hit.start for hit in hits if not hit.refutes and hit.reason == DENIED}
        n_denied = len(refuted) + bool(denied)
        if refuted and n_denied % 2 == 0 and not any(hit.reason == QUESTIONED for hit in hits):
            return None, set()
        reasons = {hit.reason for hit in hits}
        reason = next((one for one in (QUESTIONED, WEAK, DENIED, MIXED) if one in reasons), None)
        return reason, {hit.start for hit in hits if hit.reason == reason}

    def _find(self, rules: Mapping[str, list[_Rule]]) -> Iterator[_Cue]:
        """Yield the cues at each place, those of one scope and reason once."""
        text, starts = "", []
        for token in self.tokens:
            starts.append(len(text))
            text += token + " "
        free, known = 0, frozenset(self.tokens)
        for i, token in enumerate(self.tokens):
            if token not in rules:
                continue
            found: dict[tuple[str, str], _Cue] = {}
            for rule in rules.get(token, ()):
                if rule.needs.isdisjoint(known) or (rule.at_start and not self._opens_clause(i)):
                    continue
                if match := rule.pattern.match(text, starts[i]):
                    end = bisect_left(starts, match.end())
                    key = rule.scope, rule.reason
                    if key not in found or end > found[key].end:
                        found[key] = _Cue(i, end, rule)
            if rules is self.lists.affirming:
                if found and i >= free:
                    (cue,) = found.values()
                    free = cue.end
                    yield cue
            else:
                yield from found.values()

    def _opens_clause(self, i: int) -> bool:
        return (
            i == 0 or self.tokens[i - 1] in self.lists.breaks or self.tokens[i - 1] in (",", "and")
        )

    # ---- Scopes

    def _judge_cue(self, cue: _Cue) -> _Hit | None:
        start = self._start(cue.start)
        before = [i for i in self.entities if start <= i < cue.start]
        earlier = [i for i in self.entities if i < start]
        scope, reason = cue.rule.scope, _REASONS[cue.rule.reason]
        is_contrast = scope == "contrast" or self._is_constituent(cue)
        to_verb = is_contrast or scope in ("phrase", "other", "subject")
        places = self._scope(cue, to_verb=to_verb)
        if scope == "object" and self._is_passive(cue.start):
            return None  # having been excluded
        inside = [i for i in (*range(cue.start, cue.end), *places) if self.tokens[i] == _ENTITY]
        is_hit, is_mixed = False, False
        if is_contrast:
            is_object = scope == "clause" and any(self.finite[start : cue.start - 1])
            is_mixed = len(inside) == 1 and not (is_object and not before + earlier)
        elif scope == "other":
            is_hit = len(inside) == len(before) == 1
        elif scope in ("clause", "phrase", "object"):
            if len(inside) == 2 and reason == QUESTIONED and scope == "object":
                asked = self.tokens[cue.end : inside[0]]
                is_hit = self.lists.presupposing.isdisjoint(asked)
            elif len(inside) == 2:
                is_hit = scope == "object" or self._governs(cue, inside)
            elif len(inside) == 1 and scope != "object" and reason != QUESTIONED:
                is_hit, is_mixed = bool(before), bool(earlier)
            if is_hit and reason == DENIED and self._prevents(cue):
                is_hit = False
        elif scope == "subject":
            is_hit = self._is_about(cue, start, before, inside)
        elif scope == "either":
            if cue.rule.within and not any(i < cue.end for i in inside):
                pass
            elif len(before) == 2:
                is_hit = not self._is_causal(start, *before)
            else:
                is_hit = len(before) + len(inside) == 2
                is_mixed = len(before) + len(inside) == 1 and bool(earlier)
            if is_hit and self._prevents(cue):
                is_hit = False
        elif scope == "pro-form":
            subject = [i for i in before if not _THAT.intersection(self.tokens[i : cue.start])]
            is_mixed = len(subject) == 1 and len(before + earlier) == 2 and not inside
            is_mixed = is_mixed and (
                bool(earlier) or not _THAT.isdisjoint(self.tokens[before[0] : subject[0]])
            )
        if not (is_hit or is_mixed):
            return None
        return _Hit(reason if is_hit else MIXED, cue.rule.refutes, cue.start)

    def _start(self, at: int) -> int:
        """Return where the clause of a place begins, insertions between commas left out."""
        tokens, k, verb = self.tokens, at - 1, self._verb_start(at)
        while k >= 0:
            token = tokens[k]
            if token in self.lists.relatives and token != "that":
                if not any(self.finite[k + 1 : verb]):
                    return k + 1
            elif token in self.lists.breaks:
                return self._main_start(k, at)
            elif token == "," and k == verb - 1:
                opening = [j for j in range(k) if tokens[j] == ","]
                if opening:
                    k = opening[-1]
            elif token in ("and", "or", "nor", "yet"):
                subject = [t for t in tokens[k + 1 : at] if not self._is_adverb(t)]
                if subject and subject != ["it"] and not self._joins_nouns(k, at):
                    return k + 1
            elif token == "that" and k == verb - 1 and tokens[k - 1] not in ("", ","):
                return k + 1
            k -= 1
        return 0

    def _is_constituent(self, cue: _Cue) -> bool:
        """Return whether a ``not`` denies a phrase only: X but not Z, not Z but X."""
        i = cue.start
        return (
            cue.rule.scope == "clause"
            and self.tokens[i] == "not"
            and i > 0
            and self.tokens[i - 1] in ("but", ",", "and")
        )

    def _is_passive(self, at: int) -> bool:
        auxiliaries = self.tokens[self._verb_start(at) : at]
        return self.tokens[at].endswith("ed") and not _PASSIVE.isdisjoint(auxiliaries)

    def _verb_start(self, at: int) -> int:
        """Return where the auxiliaries and adverbs before a place begin: could | not, is | likely."""
        while at > 0 and (self.tokens[at - 1] in _GROUP or self._is_adverb(self.tokens[at - 1])):
            at -= 1
        return at

    def _main_start(self, opening: int, at: int) -> int:
        """Return where a clause begins after the word that opens it, or one subordinate to it."""
        if self.tokens[opening] in self.lists.fronting and self._opens_clause(opening):
            for k in range(opening + 1, at):
                if self.tokens[k] == "," and any(self.finite[opening:k]):
                    return k + 1
        return opening + 1

    def _joins_nouns(self, k: int, at: int) -> bool:
        """Return whether a conjunction joins nouns, rather than a clause to a finite one."""
        for j in range(k - 1, -1, -1):
            if self.tokens[j] in self.lists.breaks or self.tokens[j] == "that":
                return True
            if self.finite[j]:
                return any(self.finite[k + 1 : at])
        return True

    def _scope(self, cue: _Cue, *, to_verb: bool) -> Iterator[int]:
        """Yield the places in the scope of a cue, up to the end of its clause or noun phrase."""
        tokens, lists, n = self.tokens, self.lists, len(self.tokens)
        j = cue.end
        while j < n:
            token = tokens[j]
            if token in lists.breaks:
                return
            if token == "that":
                to_verb = False
            if token == ")" and "(" not in tokens[cue.end : j]:
                return
            if token == ",":
                after = tokens[j + 1] if j + 1 < n else ""
                if (after in lists.relatives and after != "that") or tokens[j + 2 : j + 4] == [
                    "of",
                    "whom",
                ]:
                    closing = [k for k in range(j + 1, n) if tokens[k] == ","]
                    if not closing:
                        return
                    if self._is_fronted(cue, j):
                        return
                    j = closing[0] + 1
                    continue
                if after in lists.breaks or after in lists.after_comma or after.endswith("ing"):
                    return
                if after in ("and", "or", "nor", "yet", "but") and self._opens_finite(j + 2):
                    return
                if (cue.start and tokens[cue.start - 1] == ",") or self._is_fronted(cue, j):
                    return
            elif (
                (token in ("and", "or") and self._is_verb_next(j + 1))
                or (
                    token in ("and", "or")
                    and self._opens_finite(j + 1)
                    and any(self.finite[cue.start : j])
                )
                or (to_verb and self.finite[j])
            ):
                return
            yield j
            j += 1

    def _is_verb_next(self, j: int) -> bool:
        while j < len(self.tokens) and self._is_adverb(self.tokens[j]):
            j += 1
        return j < len(self.tokens) and self.finite[j]

    def _opens_finite(self, j: int) -> bool:
        """Return whether a finite verb stands before the next break or comma."""
        for k in range(j, len(self.tokens)):
            if self.tokens[k] in self.lists.breaks or self.tokens[k] == ",":
                return False
            if self.finite[k]:
                return True
        return False

    def _is_fronted(self, cue: _Cue, comma: int) -> bool:
        """Return whether a phrase before the clause ends at a comma: In no way harmful, X ..."""
        start = self._start(cue.start)
        first = self.tokens[min(start, cue.start)]
        if start and self.tokens[start - 1] in self.lists.fronting | self.lists.relatives:
            return True
        opens = first in self.lists.fronting or first.endswith(("ed", "ing"))
        claims = [k for k in range(start, comma) if self.tokens[k] in self.lists.relatives]
        return opens and not any(self.finite[start : min([comma, *claims])])

    # ---- What a cue says of the relation

    def _governs(self, cue: _Cue, inside: list[int]) -> bool:
        """Return whether a cue that has both entities in its scope is about their relation.

        Not about it is one that denies what else is done to the relation, named as a noun: does
        not prevent the fall of A after B.
        """
        if not self._is_nominal(*inside):
            return True
        verbs = [
            j
            for j in range(cue.end, inside[0])
            if (self.finite[j] and self.tokens[j] not in AUXILIARIES) or self._is_infinitive(j)
        ]
        return all(self.tokens[j] in self.lists.light for j in verbs)

    def _is_infinitive(self, j: int) -> bool:
        k = j - 1
        while (
            k >= 0 and self._is_adverb(self.tokens[k]) and self.tokens[k] not in ("to", "a", "the")
        ):
            k -= 1
        if self.tokens[k] in MODALS:
            return self.tokens[j] not in _GROUP
        if self.tokens[k] in _PASSIVE and self.tokens[j].endswith("ed"):
            return True
        if self.tokens[k] in ("not", "to", "never"):
            return (
                self.tokens[j].isalpha()
                and self.tokens[j] not in PREPOSITIONS
                and (
                    self.tokens[k] != "to"
                    or is_base(self.tokens[j])
                    or self.tokens[j] in self.lists.light
                )
            )
        return False

    def _is_nominal(self, one: int, other: int) -> bool:
        """Return whether no predicate stands between the two: effect of A on B."""
        return not any(
            self.finite[j] or (self.tokens[j] == "to" and is_base(self.tokens[j + 1]))
            for j in range(one + 1, other)
        )

    def _is_causal(self, start: int, one: int, other: int) -> bool:
        """Return whether a noun phrase says that one acts on the other: B induced by A."""
        if not self._is_nominal(one, other):
            return False
        between = self.tokens[one + 1 : other]
        return (
            not {"by", "on", "due", "-", "against", "upon"}.isdisjoint(between)
            or not self.lists.relation.isdisjoint(self.tokens[start:one])
            or any(token.endswith("ed") and token not in _GIVEN for token in between)
        )

    def _is_about(self, cue: _Cue, start: int, before: list[int], inside: list[int]) -> bool:
        """Return whether the subject of a predicate is the relation, or that it holds."""
        if not before:
            return False
        if self.tokens[start] in self.lists.fronting:
            start = max(
                (k + 1 for k in range(start, before[0]) if self.tokens[k] == ","), default=start
            )
        subject = self.tokens[start : before[0]]
        if len(before) == 1:
            return bool(inside) and not self.lists.relation.isdisjoint(subject)
        between = " ".join(self.tokens[before[0] + 1 : before[1]])
        if cue.rule.reason != "denied" and _PRESUPPOSED.search(between):
            return False
        if not self.lists.claims.isdisjoint(subject):
            return self._governs(_Cue(start, start, cue.rule), before)
        if not self.lists.presupposing.isdisjoint(subject):
            return False
        claimed = False
        for j in range(start, self._verb_start(cue.start)):
            claimed = claimed or self.tokens[j] in self.lists.relatives
            if self.finite[j] and not claimed:
                return False
        return True

    def _prevents(self, cue: _Cue) -> bool:
        """Return whether what does not happen tells of a cause: without A no B, unlike controls."""
        following = self.tokens[cue.start : cue.start + 14]
        if self.lists.occur.isdisjoint(following):
            return False
        text = " ".join(self.tokens)
        if self.lists.loss_of.search(text):
            return True
        rest = self.tokens[cue.end :]
        return any(
            token in ("whereas", "while", "but")
            and not self.lists.control.isdisjoint(rest[k : k + 7])
            for k, token in enumerate(rest)
        )

    def _is_settled(self) -> bool:
        return any(
            token in self.lists.settling
            and "not" not in self.tokens[max(k - 3, 0) : k]
            and self.tokens[k - 1] != "be"
            for k, token in enumerate(self.tokens)
        )

    # ---- Words

    def _is_adverb(self, token: str) -> bool:
        return token in self.lists.adverbs or (token.endswith("ly") and len(token) > 4)

    def _is_finite(self, i: int) -> bool:
        """Return whether a word is a finite verb, as far as lists and neighbours tell."""
        token = self.tokens[i]
        if token in AUXILIARIES:
            return True
        if i == 0:
            return False
        before = self.tokens[i - 1]
        after = self.tokens[i + 1] if i + 1 < len(self.tokens) else ""
        if before in PREPOSITIONS or before in self.lists.articles or before == "-":
            return False
        if base_of_third(token):
            return after not in ("of", "in") or before in (_ENTITY, _OTHER)
        k = i - 1
        while k >= 0 and self._is_adverb(self.tokens[k]):
            k -= 1
        if (base_of_past(token) or token.endswith("ed")) and after not in ("by", "with"):
            if k >= 0 and self.tokens[k] in (*AUXILIARIES, "be", "been", "being", "-", "not"):
                return False
            return bool(base_of_past(token)) or before in (_ENTITY, _OTHER)
        is_name = before in (_ENTITY, _OTHER)
        return (
            is_name
            and token.endswith("s")
            and (after in (_ENTITY, _OTHER) or after in self.lists.articles)
        )


class _Lists(NamedTuple):
    """What ``cues.json`` holds, ready for use."""

    affirming: Mapping[str, list[_Rule]]
    cues: Mapping[str, list[_Rule]]
    needs: frozenset[str]
    breaks: frozenset[str]
    relatives: frozenset[str]
    after_comma: frozenset[str]
    fronting: frozenset[str]
    adverbs: frozenset[str]
    articles: frozenset[str]
    light: frozenset[str]
    relation: frozenset[str]
    presupposing: frozenset[str]
    claims: frozenset[str]
    occur: frozenset[str]
    control: frozenset[str]
    settling: frozenset[str]
    loss_of: re.Pattern[str]


@cache
def _cue_lists() -> _Lists:
    data = read_lists("cues.json")
    classes = {name: frozenset(words.split()) for name, words in data["classes"].items()}
    fields = {**data, "breaks": frozenset(data["breaks"].split())}
    affirming: dict[str, list[_Rule]] = {}
    cues: dict[str, list[_Rule]] = {}
    for phrase in data["affirming"]:
        _add(affirming, phrase, {"reason": "denied", "scope": ""}, classes, fields["breaks"])
    for rule in data["cues"]:
        for phrase in rule["phrases"]:
            _add(cues, phrase, rule, classes, fields["breaks"])
    loss = "|".join(sorted(classes["loss"]))
    return _Lists(
        affirming, cues,
        frozenset({"?", "cannot", "t"}).union(*(one.needs for rules in cues.values() for one in rules)),
        fields["breaks"], *(frozenset(data[name].split()) for name in ("relatives", "after comma")),
        classes["fronting"], classes["adverb"], classes["article"],
        classes["evidence verb"] | classes["inquire"] | classes["light"],
        classes["relation noun"] | classes["evidence noun"], classes["presupposing"],
        classes["claim"], classes["occur"], classes["control"], frozenset(data["settling"].split()),
        re.compile(rf"\b(?:{loss}) (?:\w+ ){{0,2}}X\b|X (?:- )?(?:{loss})\b"),
    )  # fmt: skip


def _add(
    rules: dict[str, list[_Rule]],
    phrase: str,
    fields: Mapping[str, Any],
    classes: Mapping[str, frozenset[str]],
    breaks: frozenset[str],
) -> None:
    """Compile a phrase, and file it under each of the words that it may begin with."""
    parts = phrase.split(" ") if "<" not in phrase else re.findall(r"(?:<[^>]*>|[^ <])+", phrase)
    at_start = parts[0] == "^"
    parts = parts[at_start:]
    word = rf"(?!(?:{'|'.join(map(re.escape, sorted(breaks)))}) )[\w'’/+-]+ "  # noqa: RUF001
    adverbs = "|".join(sorted(classes["adverb"]))
    pattern = ""
    needs = frozenset(_expand(parts[0], classes))
    for part in parts:
        words = _expand(part, classes) if part[0] not in "~![" and part[-1] != "?" else []
        if words and "*" not in "".join(words) and len(_COMMON & {*words}) < len(_COMMON & needs):
            needs = frozenset(words)
        if part == "~":
            pattern += rf"(?:(?:{adverbs}|\w{{3,}}ly) )*"
        elif part == "!":
            pattern += r"(?=[.;,:?!)]|$)"
        elif part[0] == "[":
            pattern += rf"(?:{word}){{0,{part[1:-1]}}}"
        else:
            one = "|".join(map(re.escape, _expand(part.removesuffix("?"), classes)))
            one = one.replace(r"\*", r"\w+")
            pattern += rf"(?:(?:{one}) )" + ("?" if part.endswith("?") else "")
    rule = _Rule(
        re.compile(pattern),
        needs,
        fields["reason"],
        fields["scope"],
        fields.get("refutes", False),
        fields.get("within", False),
        at_start,
    )
    for head in _expand(parts[0], classes):
        rules.setdefault(head, []).append(rule)


def _expand(part: str, classes: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the words that a part of a phrase stands for."""
    words: set[str] = set()
    for one in part.split("|"):
        words |= classes[one[1:-1]] if one.startswith("<") else {one}
    return sorted(words)
