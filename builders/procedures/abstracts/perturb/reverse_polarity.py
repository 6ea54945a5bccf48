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
    ``induction`` stays). So one is changed here, and all of them on demand.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from .....loaders.errors import UsageError
from .....loaders.json_text import parse_json
from ..mechanisms.mechanism import Mechanism
from .affirmation import NOT_AFFIRMED, why_not_affirmed
from .clauses import PREPOSITIONS, Words, read_words
from .grammar import (
    base_of_past,
    base_of_third,
    fit_article,
    form_gerund,
    form_participle,
    form_past,
    form_third,
    is_base,
    match_capitals,
    verb_lists,
)
from .names import MarkedSentence
from .relation import term_relates
from .strategy import Choices, NoNegative, Perturbed, Proposals, Strategy, TextEdit

_SECTIONS = ("terms", "verbs", "nouns", "adjectives", "adverbs")
_FORM = (
    '{"verbs": {"both": [["A", "B"], ...], "one_way": [...]}, "nouns": ..., "adjectives": ..., '
    '"adverbs": ..., "terms": ..., "prefixes": {"pairs": ..., "stems": {"PREFIX": [...]}}, '
    '"after_hyphen": {"A": "B"}, "not_before": {"A": ["WORD", ...]}}'
)
#: Why no term is replaced.
NO_TERM = "no term of interaction"
OTHER_TERM = "no term of interaction says how the two entities relate"
_REACH = 40
_NOUNS = frozenset(verb_lists()["also_nouns"])
_BEFORE_VERB = re.compile(r"\b(?:to|not|can|could|may|might|will|would|should|must)\s+$")
_AS_NOUN = re.compile(r"\s+(?:of|for|in|to)\b")
_BEFORE_NOUN = re.compile(
    r"\b(?:an?|the|this|its|no|any|main|major|common|\w+(?:al|ic|ive|ant|ent|able|ible))\s+$",
    re.IGNORECASE,
)
#: What a sentence leads to is no relation where it is a claim.
_CLAIM = re.compile(
    r"(?:\s+(?:the|an?|our|this))?(?:\s+\w+)?\s+(?:conclusion|hypothesis|suggestion|idea|view|notion"
    r"|proposal|assumption|belief|possibility|conviction|inference|speculation|concept|model)s?\b",
    re.IGNORECASE,
)
_WITH_INFINITIVE = frozenset(
    {
        "cause",
        "allow",
        "enable",
        "stimulate",
        "induce",
        "trigger",
        "sensitize",
        "activate",
        "promote",
    }
)
_INFINITIVE = re.compile(r"\bto ([a-z]+)\b")


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
        for directions in ("both", "one_way"):
            for section in _SECTIONS:
                for old, new in _pairs(section, directions, fields.get(section, {})):
                    forms.setdefault(old, new)
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
        manner = {
            term
            for directions in ("both", "one_way")
            for section in ("adjectives", "adverbs")
            for pair in _pairs(section, directions, fields.get(section, {}))
            for term in pair
        }
        return cls(forms, after_hyphen, not_before, frozenset(manner))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Match a whole term in group 1, or one after a hyphen in group 2; longest first."""
        whole, joined = (_one_of(set(terms)) or "(?!)" for terms in (self.forms, self.after_hyphen))
        return re.compile(
            rf"(?<![\w‐‑–-])({whole})(?![\w‐‑–-])"  # noqa: RUF001
            rf"|(?<=[‐‑–-])({joined})(?![\w‐‑–-])",  # noqa: RUF001
            re.IGNORECASE,
        )


@cache
def _read_ours() -> Antonyms:
    return Antonyms.read()


class _Term(NamedTuple):
    start: int
    end: int
    new: str
    is_manner: bool = False


class ReversePolarity(Strategy):
    """LPR: ``increase`` becomes ``decrease``, ``-dependent`` becomes ``-independent``.

    Attributes:
        antonyms: The terms and their antonyms.
        every: Whether to change all terms at once. Two changes may cancel out: ``blocks the
            increase`` says much the same as ``triggers the decrease``.
    """

    name = "LPR"
    otherwise = "its terms of interaction stand under a negation or beside their antonyms"
    others = (NO_TERM, *NOT_AFFIRMED, OTHER_TERM)

    def __init__(self, antonyms: Antonyms | None = None, *, every: bool = False) -> None:
        self.antonyms = antonyms or _read_ours()
        self.every = every

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        found = list(self._find_terms(marked.masked))
        if not found:
            return NoNegative(NO_TERM)
        words = read_words(marked)
        terms = [term for term in found if _is_safe(marked.masked, words, term)]
        if terms and not self.every:
            if reason := why_not_affirmed(marked):
                return NoNegative(reason)
            terms = [
                term
                for term in terms
                if term_relates(marked, words.index_at(term.start), words.index_at(term.end - 1))
            ]
            if not terms:
                return NoNegative(OTHER_TERM)
            first, second = marked.in_order
            return [
                Perturbed.of(marked.text, _replace(marked.text, term))
                for term in sorted(
                    choices.arrange(terms, "term"),
                    key=lambda term: (term.is_manner, not first.end <= term.start < second.end),
                )
            ]
        if self.every:
            edits = [edit for term in terms for edit in _replace(marked.text, term)]
            return [Perturbed.of(marked.text, edits)] if terms else []
        return (
            Perturbed.of(marked.text, _replace(marked.text, term))
            for term in choices.arrange(terms, "term")
        )

    def _find_terms(self, masked: str) -> Iterable[_Term]:
        for match in self.antonyms.pattern.finditer(masked):
            old = match[0].lower()
            forms = self.antonyms.after_hyphen if match[1] is None else self.antonyms.forms
            if match[0].isupper() or self._means_else(masked, old, forms[old], match.span()):
                continue  # LOW or ACTIVATOR is a name
            new = match_capitals(forms[old], match[0])
            yield _Term(match.start(), match.end(), new, old in self.antonyms.manner)

    def _means_else(self, masked: str, term: str, new: str, span: tuple[int, int]) -> bool:
        start, end = span
        if re.search(r"\bat least\s+$", masked[:start]):
            return True  # at least partly
        if term == "lower" and _BEFORE_VERB.search(masked[:start]):
            return True  # tends to lower: a verb, not the comparative
        following = re.match(r"\s+(\w+)", masked[end:])
        words = self.antonyms.not_before.get(term, ())
        if _CLAIM.match(masked, end):
            return True  # lead to the conclusion that
        base = base_of_third(term) or term
        if base in _NOUNS and new not in _NOUNS and _is_noun(masked, start, end):
            return True  # a cause of
        if _WITH_INFINITIVE.isdisjoint((base, base_of_past(term))):
            infinitive = None
        else:
            infinitive = _INFINITIVE.search(masked, end)
        if infinitive is not None and is_base(infinitive[1]):
            return True  # causes cells to divide
        *_, last = term.split()
        if last in PREPOSITIONS and re.search(rf"\b(?:and|or) (?:\w+ly )?{last}\b", masked[end:]):
            return True  # leads to an increase and to a gain
        if "from" in words and re.search(r"\bfrom\b", masked[end:]):
            return True  # prevents cells from dying
        return following is not None and following[1] in words


def _is_noun(masked: str, start: int, end: int) -> bool:
    before = masked[max(start - _REACH, 0) : start]
    return bool(_AS_NOUN.match(masked, end) or _BEFORE_NOUN.search(before))


def _is_safe(masked: str, words: Words, term: _Term) -> bool:
    """Return whether the change makes the sentence wrong: no negation, no antonym nearby."""
    at = words.index_at(term.start)
    if words.is_under_negation(at):
        return False
    near = masked[max(term.start - _REACH, 0) : term.end + _REACH].lower()
    return re.search(rf"\b{re.escape(term.new.lower())}\b", near) is None


def _replace(text: str, term: _Term) -> list[TextEdit]:
    return [TextEdit(term.start, term.end, term.new), *fit_article(text, term.start, term.new)]


def _one_of(terms: Set[str]) -> str:
    """Build a pattern of terms, longer ones first, with shared beginnings factored out."""
    rests: dict[str, set[str]] = {}
    for term in sorted(terms - {""}):
        rests.setdefault(term[0], set()).add(term[1:])
    branches = "|".join(re.escape(first) + _one_of(rest) for first, rest in rests.items())
    return branches and f"(?:{branches})" + ("?" if "" in terms else "")


def _pairs(section: str, directions: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for old, new in fields.get(directions, []):
        inflect = {"verbs": _inflect, "nouns": _count}.get(section, _keep)
        past = fields.get("past", {})
        for one, other in zip(inflect(old, past), inflect(new, past), strict=True):
            yield one, other
            if directions == "both":
                yield other, one


def _inflect(base: str, past: Mapping[str, Any]) -> list[str]:
    irregular = past.get(base, [form_past(base), form_participle(base)])
    return [base, form_third(base), form_gerund(base), *irregular]


def _count(noun: str, _: Mapping[str, Any]) -> list[str]:
    head, *rest = noun.split(" ", 1)
    return [noun, " ".join([form_third(head), *rest])]  # which is a noun's plural too


def _keep(word: str, _: Mapping[str, Any]) -> list[str]:
    return [word]


def _prefixed(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for one, other in fields.get("pairs", []):
        for stem in fields["stems"].get(one, []):
            yield one + stem, other + stem
            yield other + stem, one + stem
