"""The phrases of ``cues.json``: read them, and find them in the tokens of a sentence.

In a phrase ``a|b`` is either word, ``<name>`` a class, ``*ed`` an ending, ``~`` any adverbs,
``[4]`` up to four words of one clause, ``?`` makes a word optional, ``^`` stands for the start of
a clause and ``!`` for its end.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from .clauses import AUXILIARIES, PREPOSITIONS
from .grammar import read_lists

#: The two entities, and all other names, among the tokens.
ENTITY, OTHER = "X", "N"
_TAKEN = "_"
#: Words that tell nothing of what a sentence may hold.
_COMMON = (
    AUXILIARIES | PREPOSITIONS | {"be", "been", "being", "the", "a", "an", "that", "more", "so"}
)


class Rule(NamedTuple):
    """A phrase that denies, weakens or questions what its scope holds.

    Attributes:
        pattern: The phrase as a regular expression, in tokens with a blank after each.
        needs: Words one of which is in every sentence that has the phrase.
        reason: ``"denied"``, ``"weak"`` or ``"questioned"``.
        scope: What it is about: its ``clause``; the noun ``phrase`` behind it; its ``object`` or
            ``subject``; the one entity before it and the ``other`` behind; ``either`` side of it;
            what its subject lacks of an earlier clause (``pro-form``); an entity held against the
            rest (``contrast``).
        refutes: Whether it turns a denial in its scope into an affirmation.
        within: Whether an entity must stand in the phrase itself: left X unchanged.
        at_start: Whether it must begin a clause.
    """

    pattern: str
    needs: frozenset[str]
    reason: str
    scope: str
    refutes: bool
    within: bool
    at_start: bool


class Cue(NamedTuple):
    """A phrase in a sentence, by the positions of its first token and of the one behind it."""

    start: int
    end: int
    rule: Rule


class Cues(NamedTuple):
    """What ``cues.json`` holds.

    Attributes:
        affirming: Phrases that look alike and affirm, by their first word.
        rules: The phrases that do not affirm, by their first word.
        needs: Words one of which is in every sentence that has one of ``rules``.
        words: Classes of words.
        loss: An entity that is missing: without X, X-deficient.
    """

    affirming: Mapping[str, list[Rule]]
    rules: Mapping[str, list[Rule]]
    needs: frozenset[str]
    words: Mapping[str, frozenset[str]]
    loss: re.Pattern[str]


@cache
def read_cues() -> Cues:
    """Read the phrases and classes of ``cues.json``."""
    data = read_lists("cues.json")
    words = {name: frozenset(text.split()) for name, text in data["classes"].items()}
    words["light"] |= words["evidence verb"] | words["inquire"]
    words["relation"] = words["relation noun"] | words["evidence noun"]
    words["common"] = _COMMON | words["relation"] | words["inquiry noun"]
    affirming: dict[str, list[Rule]] = {}
    rules: dict[str, list[Rule]] = {}
    for phrase in data["affirming"]:
        _add(affirming, phrase, {"reason": "", "scope": ""}, words)
    for rule in data["cues"]:
        for phrase in rule["phrases"]:
            _add(rules, phrase, rule, words)
    needs = frozenset({"?", "cannot", "t"}).union(
        *(one.needs for all_ in rules.values() for one in all_)
    )
    loss = "|".join(sorted(words["loss"]))
    pattern = re.compile(rf"\b(?:{loss}) (?:\w+ ){{0,2}}{ENTITY}\b|{ENTITY} (?:- )?(?:{loss})\b")
    return Cues(affirming, rules, needs, words, pattern)


def _add(
    rules: dict[str, list[Rule]],
    phrase: str,
    fields: Mapping[str, Any],
    classes: Mapping[str, frozenset[str]],
) -> None:
    """Read a phrase, and file it under each of the words that it may begin with."""
    parts = re.findall(r"(?:<[^>]*>|[^ <])+", phrase)
    at_start = parts[0] == "^"
    parts = parts[at_start:]
    common = classes["common"]
    breaks = "|".join(map(re.escape, sorted(classes["break"])))
    adverbs = "|".join(sorted(classes["adverb"]))
    pattern = ""
    needs = frozenset(_expand(parts[0], classes))
    for part in parts:
        if part == "~":
            pattern += rf"(?:(?:{adverbs}|\w{{3,}}ly) )*"
        elif part == "!":
            pattern += r"(?=[.;,:?!)]|$)"
        elif part[0] == "[":
            pattern += rf"(?:(?!(?:{breaks}) )[\w'’/+-]+ ){{0,{part[1:-1]}}}"  # noqa: RUF001
        else:
            optional = "?" if part.endswith("?") else ""
            words = _expand(part.removesuffix("?"), classes)
            one = "|".join(map(re.escape, words)).replace(r"\*", r"\w+")
            pattern += rf"(?:(?:{one}) ){optional}"
            is_open = optional or "*" in part
            if not is_open and len(common & {*words}) < len(common & needs):
                needs = frozenset(words)
    rule = Rule(
        pattern,
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


def without_affirming(tokens: list[str], cues: Cues) -> list[str]:
    """Take away the phrases that look like cues and affirm: no doubt, never failed to."""
    tokens, free = [*tokens], 0
    for cue in _find(tokens, cues.affirming, cues):
        if cue.start >= free:
            free = cue.end
            for i in range(cue.start, cue.end):
                tokens[i] = tokens[i] if tokens[i] in (ENTITY, OTHER) else _TAKEN
    return tokens


def find_cues(tokens: list[str], cues: Cues) -> Iterable[Cue]:
    """Find the cues of a sentence; at one place the longest of each scope and reason."""
    return _find(tokens, cues.rules, cues)


def _find(tokens: list[str], rules: Mapping[str, list[Rule]], cues: Cues) -> Iterator[Cue]:
    known = frozenset(tokens)
    if rules.keys().isdisjoint(known):
        return
    text, starts = " ".join([*tokens, ""]), [0]
    for token in tokens:
        starts.append(starts[-1] + len(token) + 1)
    for i in [i for i, token in enumerate(tokens) if token in rules]:
        found: dict[tuple[str, str], Cue] = {}
        for rule in rules[text[starts[i] : starts[i + 1] - 1]]:
            if rule.needs.isdisjoint(known) or (
                rule.at_start and not opens_clause(tokens, i, cues)
            ):
                continue
            if match := _compiled(rule.pattern).match(text, starts[i]):
                end = bisect_left(starts, match.end())
                key = rule.scope, rule.reason
                if key not in found or end > found[key].end:
                    found[key] = Cue(i, end, rule)
        yield from found.values()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a phrase compiled, which takes long: of all phrases a text has few."""
    return re.compile(pattern)


def opens_clause(tokens: list[str], i: int, cues: Cues) -> bool:
    """Return whether a clause may begin at a position."""
    return i == 0 or tokens[i - 1] in cues.words["break"] or tokens[i - 1] in (",", "and")
