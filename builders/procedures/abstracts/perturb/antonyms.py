"""Terms of interaction and their antonyms: data, which others may replace or extend.

``antonyms.json`` is our own list. Of its sections, ``verbs`` stand in all their inflections,
``nouns`` in both numbers, the others as they are; pairs under ``both`` go both ways, those under
``one_way`` only from the first to the second. ``prefixes`` are exchanged before their stems,
``after_hyphen`` has the words that may follow a name and a hyphen (``TNF-induced``), and
``not_before`` the words before which a term means something else. A form has one antonym: the
pairs under ``both`` come first, the order within them decides.
"""

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from .....loaders.errors import UsageError
from .inflection import form_gerund, form_participle, form_past, form_third

_SECTIONS = ("terms", "verbs", "nouns", "adjectives", "adverbs")
_FORM = (
    '{"verbs": {"both": [["A", "B"], ...], "one_way": [...]}, "nouns": ..., "adjectives": ..., '
    '"adverbs": ..., "terms": ..., "prefixes": {"pairs": ..., "stems": {"PREFIX": [...]}}, '
    '"after_hyphen": {"A": "B"}, "not_before": {"A": ["WORD", ...]}}'
)


@dataclass(frozen=True)
class Antonyms:
    """What stands for what.

    Attributes:
        forms: By term, in small letters and inflected, its antonym.
        after_hyphen: The same for the second part of a compound.
        not_before: By term the words that must not follow it.
    """

    forms: Mapping[str, str]
    after_hyphen: Mapping[str, str]
    not_before: Mapping[str, tuple[str, ...]]

    @classmethod
    def read(cls, path: Path | None = None) -> "Antonyms":
        """Reads them from a JSON file of the form of ``antonyms.json``.

        Args:
            path: The file; None takes ours.

        Raises:
            UsageError: The file is missing, or not of that form, or a term is its own antonym.
        """
        source = path or files(__package__) / "antonyms.json"
        try:
            return cls.parse(orjson.loads(source.read_bytes()))
        except UsageError as error:
            raise UsageError(f"{source}: {error}") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{source} holds no antonyms ({error!r}); expected {_FORM}."
            ) from error

    @classmethod
    @cache
    def ours(cls) -> "Antonyms":
        """Those of ``antonyms.json``, read once."""
        return cls.read()

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> "Antonyms":
        """Makes them of plain values, of the form of the file; every section may be missing.

        Raises:
            UsageError: A term is empty or its own antonym, or a section is not known.
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
                raise UsageError(f"{old!r} cannot have the antonym {new!r}.")
        not_before = {
            form: tuple(words)
            for term, words in fields.get("not_before", {}).items()
            for form in {term, *_inflect(term, {})}
        }
        return cls(forms, after_hyphen, not_before)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches a term as a whole in group 1, or one after a hyphen in group 2; longest first."""
        whole, joined = (_one_of(set(terms)) or "(?!)" for terms in (self.forms, self.after_hyphen))
        return re.compile(
            rf"(?<![\w‐‑–-])({whole})(?![\w‐‑–-])"  # noqa: RUF001
            rf"|(?<=[‐‑–-])({joined})(?![\w‐‑–-])",  # noqa: RUF001
            re.IGNORECASE,
        )


def _one_of(terms: Set[str]) -> str:
    """A pattern of terms, longer ones first, that looks at what they share once."""
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
    return [noun, " ".join([_pluralize(head), *rest])]


def _pluralize(noun: str) -> str:
    return form_third(noun)


def _keep(word: str, _: Mapping[str, Any]) -> list[str]:
    return [word]


def _prefixed(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for one, other in fields.get("pairs", []):
        for stem in fields["stems"].get(one, []):
            yield one + stem, other + stem
            yield other + stem, one + stem
