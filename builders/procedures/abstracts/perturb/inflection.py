"""Forms of English verbs and nouns: rules, and lists of exceptions.

``verbs.json`` is our own list of what biomedical entities do to one another.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

_VOWELS = "aeiou"
_TO_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do"}


@cache
def _read(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files(__package__) / file).read_text(encoding="utf-8"))
    return found


def verb_lists() -> dict[str, Any]:
    """Return the lists of ``verbs.json``."""
    return _read("verbs.json")


def word_list(name: str) -> frozenset[str]:
    """Return a closed class of words, by its name in ``words.json``."""
    return frozenset(_read("words.json")[name].split())


def form_third(base: str) -> str:
    """Form the third person singular, or a noun's plural: activates, crosses, modifies.

    >>> form_third("modify"), form_third("suppress"), form_third("have")
    ('modifies', 'suppresses', 'has')
    """
    if base in ("have", "do"):
        return {"have": "has", "do": "does"}[base]
    if base.endswith("is"):
        return base[:-2] + "es"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def form_past(base: str) -> str:
    """Form the past tense: inhibited, controlled, bound.

    >>> form_past("modify"), form_past("control"), form_past("undergo"), form_past("reduce")
    ('modified', 'controlled', 'underwent', 'reduced')
    """
    return str(verb_lists()["past"].get(base, [_add_ed(base)])[0])


def form_participle(base: str) -> str:
    """Form the past participle: inhibited, given.

    >>> form_participle("undergo"), form_participle("inhibit")
    ('undergone', 'inhibited')
    """
    return str(verb_lists()["past"].get(base, [_add_ed(base)])[-1])


def form_gerund(base: str) -> str:
    """Form the gerund: inhibiting, controlling.

    >>> form_gerund("reduce"), form_gerund("control"), form_gerund("underlie")
    ('reducing', 'controlling', 'underlying')
    """
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    return _double(base) + "ing"


def _add_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    return _double(base) + "ed"


def _double(base: str) -> str:
    return base + base[-1] if base in verb_lists()["doubled"] else base


@cache
def _bases() -> frozenset[str]:
    lists = verb_lists()
    return frozenset([*lists["predicates"], *lists["reporting"], *lists["past"]])


def is_base(word: str) -> bool:
    """Return whether a word is the base form of a listed verb."""
    return word in _bases()


@cache
def _by_form(form: str) -> dict[str, str]:
    inflect = {"third": form_third, "past": form_past, "participle": form_participle}[form]
    return {inflect(base): base for base in _bases()}


def base_of_third(word: str) -> str | None:
    """Return the base of a listed verb in the third person; None for other words."""
    return _by_form("third").get(word)


def base_of_past(word: str) -> str | None:
    """Return the base of a listed verb in the past tense; None for other words."""
    return _by_form("past").get(word)


def is_participle(word: str) -> bool:
    """Return whether a word is, or looks like, a past participle."""
    return word == "been" or word in _by_form("participle") or (len(word) > 4 and word[-2:] == "ed")


def third_to_plural(word: str) -> str | None:
    """Change a singular verb to plural: is, are; None for words that are not listed."""
    return _TO_PLURAL.get(word) or base_of_third(word)


def plural_to_third(word: str) -> str | None:
    """Change a plural verb to singular: are, is; None for words that are not listed."""
    singular = {plural: word for word, plural in _TO_PLURAL.items()}
    return singular.get(word) or (form_third(word) if is_base(word) else None)
