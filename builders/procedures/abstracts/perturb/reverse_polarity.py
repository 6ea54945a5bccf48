"""LPR: replace a term of interaction by its antonym.

``antonyms.json`` is our own list, which a user may replace. Its pairs go both ways; where a term
stands in several the first decides, those of ``verbs`` before ``nouns``, ``terms`` and ``manner``.
Verbs stand in all their inflections, nouns in both numbers, the others as they are; a term that
begins with a hyphen may follow a name (``TNF-induced``). ``manner`` has adjectives and adverbs,
which are changed where nothing else can be, ``left_alone`` phrases in which no term is changed.

Source:
    BioNLI, section 3.3.1, "Lexical Polarity Reversal"; Table 4. The section speaks of terms that
    are swapped "when encountered"; its example has several and changes one (``increase``, while
    ``induction`` stays). So one is changed here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from .....loaders.errors import UsageError
from .....loaders.json_text import parse_json
from ..mechanisms.mechanism import Mechanism
from .grammar import fit_article, form_gerund, form_participle, form_past, form_third
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

_FORM = (
    '{"verbs": [["A", "B"], ...], "nouns": ..., "terms": ..., "manner": ..., '
    '"left_alone": ["PHRASE", ...]}'
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
#: Where an antonym does not fit: blocks X from acting, both up- and downregulation.
_UNFIT = re.compile(
    r"\bfrom [a-z]+ing\b|\b(?:up|down|pro|anti)(?:- |/)|\b(?:both|either|dual)\b", re.IGNORECASE
)
_REACH = 40
#: Verbs of which an antonym takes no infinitive: allows cells to divide.
_WITH_INFINITIVE = re.compile(r"(?:caus|allow|enabl)\w* [^,;.]{1,40}? to [a-z]", re.IGNORECASE)
#: What stands between a noun before the first entity and that entity: inhibition of the serum X.
_OF_FIRST = re.compile(r"(?: [\w-]+)? (?:of|in|by|on|to|for|with|against)(?: [\w-]+){0,3} ")
_OF_SECOND = re.compile(r"(?:\([^()]*\))?[ -]?")


def _inflect(verb: str) -> list[str]:
    forms = form_third(verb), form_gerund(verb), form_past(verb), form_participle(verb)
    return [verb, *forms]


def _count(noun: str) -> list[str]:
    head, *rest = noun.split(" ", 1)
    return [noun, " ".join([form_third(head), *rest])]  # which is a noun's plural too


def _keep(term: str) -> list[str]:
    return [term.lower()]


#: The sections of a file of antonyms, and how their terms are inflected.
_SECTIONS: Mapping[str, Callable[[str], list[str]]] = {
    "verbs": _inflect,
    "nouns": _count,
    "terms": _keep,
    "manner": _keep,
}


@dataclass(frozen=True)
class Antonyms:
    """Terms of interaction and their antonyms.

    Attributes:
        forms: The antonym of each term, lowercase and inflected.
        manner: Adjectives and adverbs, which are changed where nothing else can be.
        left_alone: Phrases in which no term is changed.
    """

    forms: Mapping[str, str]
    manner: frozenset[str] = frozenset()
    left_alone: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: Path | None = None) -> "Antonyms":
        """Read antonyms from a JSON file of the form of ``antonyms.json``; None reads ours.

        Raises:
            UsageError: The file is missing or not of that form, or a term is its own antonym.
        """
        source = path or files(__package__) / "antonyms.json"
        forms: dict[str, str] = {}
        try:
            sections = parse_json(source.read_bytes())
            left_alone = frozenset(map(str.lower, sections.pop("left_alone", [])))
            if unknown := sorted(sections.keys() - _SECTIONS):
                raise ValueError(f"unknown sections {unknown}")
            for section, inflect in _SECTIONS.items():
                for pair in sections.get(section, []):
                    for one, other in zip(*map(inflect, pair), strict=True):
                        if not one.strip() or not other.strip() or one == other:
                            raise ValueError(f"{one!r} and {other!r} are not two terms")
                        forms.setdefault(one, other)
                        forms.setdefault(other, one)
            manner = frozenset(word for pair in sections.get("manner", []) for word in pair)
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{source} holds no antonyms ({error}); expected {_FORM}.") from error
        return cls(forms, manner, left_alone)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Match a whole term or phrase, the longest first."""
        terms = _any_of({*self.forms, *self.left_alone})
        dashes = "‐‑–-"  # noqa: RUF001
        return re.compile(rf"(?:(?<![\w{dashes}])|(?=-))(?:{terms})(?![\w{dashes}])", re.IGNORECASE)


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
        if not found or _UNFIT.search(marked.masked):
            return NO_TERM
        if _PARTIAL.search(marked.masked):
            return PARTIAL
        if is_denied(marked):
            return DENIED

        def is_manner(edit: TextEdit) -> bool:
            return marked.text[edit.start : edit.end].lower() in self.antonyms.manner

        related = [edit for edit in found if _relates(marked, edit)]
        for edit in sorted(choices.shuffle(related, "term"), key=is_manner):
            yield Perturbed.of(marked.text, [edit, *fit_article(marked.text, edit.start, edit.new)])
        return None

    def _find_terms(self, masked: str) -> Iterator[TextEdit]:
        """Find the terms of a sentence, each with its antonym."""
        for match in self.antonyms.pattern.finditer(masked):
            new = self.antonyms.forms.get(match[0].lower())
            near = masked[max(match.start() - _REACH, 0) : match.end() + _REACH].lower()
            if (
                new is not None
                and not match[0].isupper()  # LOW or ACTIVATOR is a name
                and not re.search(rf"\b{re.escape(new)}\b", near)  # an increase or a decrease
                and not _WITH_INFINITIVE.match(masked, match.start())
            ):
                new = new.capitalize() if match[0][0].isupper() else new
                yield TextEdit(match.start(), match.end(), new)


def _relates(marked: MarkedSentence, term: TextEdit) -> bool:
    """Return whether a term stands between the two entities, or beside them as their noun."""
    first, second = marked.in_order
    if term.end <= first.start:
        return _OF_FIRST.fullmatch(marked.masked, term.end, first.start) is not None
    if term.start >= second.end:
        return _OF_SECOND.fullmatch(marked.masked, second.end, term.start) is not None
    return True
