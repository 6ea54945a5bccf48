"""LPR: replace a term of interaction by its antonym.

``antonyms.json`` is our own list, which a user may replace or extend. Of its sections, ``verbs``
stand in all their inflections, ``nouns`` in both numbers, the others as they are; pairs under
``both`` go both ways, those under ``one_way`` only from the first to the second. ``prefixes`` are
exchanged before their stems, ``after_hyphen`` has the words that may follow a name and a hyphen
(``TNF-induced``), and ``not_before`` the words before which a term means something else. A form has
one antonym: pairs under ``both`` come first, then the order in the file decides.

Source:
    BioNLI, section 3.3.1, "Lexical Polarity Reversal"; Table 4. The section speaks of terms that
    are swapped "when encountered"; its example has several and changes one (``increase``, while
    ``induction`` stays). So one is changed here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from .....loaders.errors import UsageError
from .....loaders.json_text import parse_json
from ..mechanisms.mechanism import Mechanism
from .grammar import (
    base_of_past,
    base_of_third,
    fit_article,
    form_gerund,
    form_participle,
    form_past,
    form_third,
    is_base,
    verb_lists,
)
from .names import MarkedSentence
from .strategy import (
    DENIED,
    PARTIAL,
    Choices,
    Perturbed,
    Proposals,
    Strategy,
    TextEdit,
    is_denied,
)

_SECTIONS = ("verbs", "nouns", "adjectives", "adverbs", "terms")
_FORM = (
    '{"verbs": {"both": [["A", "B"], ...], "one_way": [...]}, "nouns": ..., "adjectives": ..., '
    '"adverbs": ..., "terms": ..., "prefixes": {"pairs": ..., "stems": {"PREFIX": [...]}}, '
    '"after_hyphen": {"A": "B"}, "not_before": {"A": ["WORD", ...]}}'
)
#: Why no term is replaced.
NO_TERM = "no term of interaction"
#: Words of part of the cases: in some patients.
_PARTIAL = re.compile(
    r"\b(?:some|several|certain|selected|various|few|sometimes|occasionally"
    r"|at times|in (?:one|two|three)|(?:a|one) (?:third|quarter|half|minority)|\d+ of \d+"
    r"|(?:half|subsets?|fraction|portion|proportion|majority|minority|isoforms?) of)\b",
    re.IGNORECASE,
)
_REACH = 40
_NOUNS = frozenset(verb_lists()["also_nouns"])
_AS_NOUN = re.compile(r"\s+(?:of|for|in|to)\b")
_BEFORE_NOUN = re.compile(
    r"\b(?:an?|the|this|its|no|any|main|major|common|\w+(?:al|ic|ive|ant|ent|able|ible))\s+$",
    re.IGNORECASE,
)
_WITH_INFINITIVE = {
    "cause", "allow", "enable", "stimulate", "induce", "trigger", "sensitize", "activate",
    "promote",
}  # fmt: skip
_INFINITIVE = re.compile(r"\bto ([a-z]+)\b")
#: What stands between a noun before the first entity and that entity: inhibition of the serum X.
_OF_FIRST = re.compile(r"(?: [\w-]+)? (?:of|in|by|on|to|for|with|against)(?: [\w-]+){0,3} ")
_OF_SECOND = re.compile(r"(?:\([^()]*\))?[ -]")


@dataclass(frozen=True)
class Antonyms:
    """Terms of interaction and their antonyms.

    Attributes:
        forms: The antonym of each term, lowercase and inflected.
        after_hyphen: The antonym of each second part of a compound.
        not_before: For a term the words that must not follow it.
        manner: Adjectives and adverbs, which are changed where no verb or noun can be.
    """

    forms: Mapping[str, str]
    after_hyphen: Mapping[str, str]
    not_before: Mapping[str, tuple[str, ...]]
    manner: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: Path | None = None) -> "Antonyms":
        """Read antonyms from a JSON file of the form of ``antonyms.json``; None reads ours.

        Raises:
            UsageError: The file is missing or not of that form, or a term is its own antonym.
        """
        source = path or files(__package__) / "antonyms.json"
        try:
            return cls.parse(parse_json(source.read_bytes()))
        except UsageError as error:
            raise UsageError(f"{source}: {error}") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{source} holds no antonyms ({error!r}); expected {_FORM}."
            ) from error

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> "Antonyms":
        """Make antonyms from the sections of ``antonyms.json``, each of which may be missing.

        Raises:
            UsageError: A term is empty or its own antonym, or a section is unknown.
            KeyError, TypeError, ValueError, AttributeError: A section is not of the file's form.
        """
        known = {*_SECTIONS, "prefixes", "after_hyphen", "not_before"}
        if unknown := sorted(set(fields) - known):
            raise UsageError(f"Unknown sections {unknown}; expected {sorted(known)}.")
        forms: dict[str, str] = {}
        manner: set[str] = set()
        for direction in ("both", "one_way"):
            for section in _SECTIONS:
                for old, new in _pairs(section, direction, fields.get(section, {})):
                    forms.setdefault(old, new)
                    if section in ("adjectives", "adverbs"):
                        manner |= {old, new}
        for old, new in _prefixed(fields.get("prefixes", {})):
            forms.setdefault(old, new)
        after_hyphen = dict(fields.get("after_hyphen", {}))
        for old, new in [*forms.items(), *after_hyphen.items()]:
            if not old.strip() or not new.strip() or old == new:
                raise UsageError(
                    f"{old!r} cannot have the antonym {new!r}; expected two different terms, "
                    "neither empty."
                )
        not_before = {
            form: tuple(words)
            for term, words in fields.get("not_before", {}).items()
            for form in {term, *_inflect(term, {})}
        }
        return cls(forms, after_hyphen, not_before, frozenset(manner))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Match a whole term in group 1, or one after a hyphen in group 2; longest first."""
        whole, joined = map(_any_of, (self.forms, self.after_hyphen))
        return re.compile(
            rf"(?<![\w‐‑–-])({whole})(?![\w‐‑–-])"  # noqa: RUF001
            rf"|(?<=[‐‑–-])({joined})(?![\w‐‑–-])",  # noqa: RUF001
            re.IGNORECASE,
        )


def _any_of(terms: Iterable[str]) -> str:
    """Return a pattern of any term, by first letters: a thousand terms one by one take long."""
    by_letter = groupby(sorted(terms, key=lambda term: (term[0], -len(term))), lambda t: t[0])
    choices = (
        re.escape(letter) + f"(?:{'|'.join(re.escape(term[1:]) for term in some)})"
        for letter, some in by_letter
    )
    return "|".join(choices) or "(?!)"


@cache
def _read_ours() -> Antonyms:
    return Antonyms.read()


class _Term(NamedTuple):
    start: int
    end: int
    new: str
    is_manner: bool


class ReversePolarity(Strategy):
    """LPR: ``increase`` becomes ``decrease``, ``-dependent`` becomes ``-independent``.

    Attributes:
        antonyms: The terms and their antonyms.
    """

    name = "LPR"
    otherwise = "no term of interaction says how the two entities relate"
    others = (NO_TERM, PARTIAL, DENIED)

    def __init__(self, antonyms: Antonyms | None = None) -> None:
        self.antonyms = antonyms or _read_ours()

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        found = list(self._find_terms(marked.masked))
        if not found:
            return NO_TERM
        if _PARTIAL.search(marked.masked):
            return PARTIAL
        if is_denied(marked):
            return DENIED
        terms = choices.shuffle([term for term in found if _relates(marked, term)], "term")
        for term in sorted(terms, key=lambda term: term.is_manner):
            edit = TextEdit(term.start, term.end, term.new)
            yield Perturbed.of(marked.text, [edit, *fit_article(marked.text, edit.start, edit.new)])
        return None

    def _find_terms(self, masked: str) -> Iterator[_Term]:
        for match in self.antonyms.pattern.finditer(masked):
            old = match[0].lower()
            new = (self.antonyms.after_hyphen if match[1] is None else self.antonyms.forms)[old]
            near = masked[max(match.start() - _REACH, 0) : match.end() + _REACH].lower()
            if match[0].isupper() or re.search(rf"\b{re.escape(new)}\b", near):
                continue  # LOW or ACTIVATOR is a name; an increase or a decrease
            if not self._means_else(masked, old, new, match.span()):
                new = new.capitalize() if match[0][0].isupper() else new
                yield _Term(match.start(), match.end(), new, old in self.antonyms.manner)

    def _means_else(self, masked: str, term: str, new: str, span: tuple[int, int]) -> bool:
        start, end = span
        base = base_of_third(term) or term
        is_noun = _AS_NOUN.match(masked, end) or _BEFORE_NOUN.search(
            masked, max(start - _REACH, 0), start
        )
        if base in _NOUNS and new not in _NOUNS and is_noun:
            return True  # a cause of
        if {base, base_of_past(term)} & _WITH_INFINITIVE:
            infinitive = _INFINITIVE.search(masked, end, end + _REACH)
            if infinitive is not None and is_base(infinitive[1]):
                return True  # causes cells to divide
        following = re.compile(r"\s+(\w+)").match(masked, end)
        words = self.antonyms.not_before.get(term, ())
        return following is not None and following[1] in words


def _relates(marked: MarkedSentence, term: _Term) -> bool:
    """Return whether a term stands between the two entities, or beside them as their noun."""
    first, second = marked.in_order
    if term.end <= first.start:
        return _OF_FIRST.fullmatch(marked.masked, term.end, first.start) is not None
    if term.start >= second.end:
        return _OF_SECOND.fullmatch(marked.masked, second.end, term.start) is not None
    return True


def _pairs(section: str, direction: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    past = fields.get("past", {})
    for pair in fields.get(direction, []):
        forms = [
            _inflect(one, past)
            if section == "verbs"
            else _count(one)
            if section == "nouns"
            else [one]
            for one in pair
        ]
        for one, other in zip(*forms, strict=True):
            yield one, other
            if direction == "both":
                yield other, one


def _inflect(base: str, past: Mapping[str, Any]) -> list[str]:
    irregular = past.get(base, [form_past(base), form_participle(base)])
    return [base, form_third(base), form_gerund(base), *irregular]


def _count(noun: str) -> list[str]:
    head, *rest = noun.split(" ", 1)
    return [noun, " ".join([form_third(head), *rest])]  # which is a noun's plural too


def _prefixed(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for one, other in fields.get("pairs", []):
        for stem in fields["stems"].get(one, []):
            yield one + stem, other + stem
            yield other + stem, one + stem
