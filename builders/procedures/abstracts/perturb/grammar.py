"""English grammar: inflect verbs and nouns, choose articles and capitals.

``verbs.json`` is our own list of what biomedical entities do to one another.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from .names import find_name
from .strategy import TextEdit

_VOWELS = "aeiou"
_TO_PLURAL = {"is": "are", "was": "were", "has": "have", "does": "do"}


@cache
def read_lists(file: str) -> dict[str, Any]:
    """Return the lists of one of this folder's JSON files."""
    found: dict[str, Any] = json.loads((files(__package__) / file).read_text(encoding="utf-8"))
    return found


def verb_lists() -> dict[str, Any]:
    """Return the lists of biomedical verbs of ``verbs.json``."""
    return read_lists("verbs.json")


def word_list(name: str) -> frozenset[str]:
    """Return a closed class of words, by its name in ``words.json``."""
    return frozenset(read_lists("words.json")[name].split())


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


_ARTICLE = re.compile(r"(?<![\w-])(an?|An?)(\s+(?:<re> |<el> )?)$")
_SPOKEN_WITH_VOWEL = frozenset("AEFHILMNORSX")
_GREEK_VOWELS = frozenset("αεηιουωΑΕΗΙΟΥΩ")
_NO_VOWEL_SOUND = re.compile(r"(?:uni(?!n|m)|u[bkrst][aeiou]|eu|ew|one(?!i)|once)", re.IGNORECASE)
_SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:[A-Z][A-Za-z ]+:)?[\s\"'“‘(\[]*(?:<re> |<el> )?")  # noqa: RUF001
_CAPITAL_WORD = re.compile(r"[A-Z][a-z]{2,}(?!\w)")
_SINGULAR_ENDS = ("ss", "us", "is", "as", "os", "ys")
_SINGULAR_WORDS = frozenset(
    [
        "diabetes",
        "herpes",
        "rabies",
        "scabies",
        "caries",
        "series",
        "species",
        "measles",
        "rickets",
        "ascites",
        "shingles",
    ]
)
_IRREGULAR_PLURALS = frozenset(
    [
        "mice",
        "children",
        "men",
        "women",
        "people",
        "bacteria",
        "mitochondria",
        "data",
        "metastases",
        "fungi",
        "nuclei",
        "stimuli",
        "phenomena",
        "criteria",
        "ova",
        "spermatozoa",
    ]
)
_ACRONYM_PLURAL = re.compile(r"[A-Z][A-Z0-9]+s")


def choose_article(word: str) -> str | None:
    """Return ``a`` or ``an`` for a word; None where spelling does not decide, as for RAS."""
    first = re.match(r"\w+", word)
    if first is None:
        return None
    head, letter = first[0], first[0][0]
    if letter.isdigit():
        return "an" if letter == "8" or re.match(r"1[18](?!\d)", word) else "a"
    if not letter.isascii():
        return "an" if letter in _GREEK_VOWELS else "a"
    if len(head) == 1 or (head[:2].isupper() and not re.search("[AEIOUY]", head[:3])):
        return "an" if letter.upper() in _SPOKEN_WITH_VOWEL else "a"  # NMDA, FGF, N-terminal
    if letter in "AEIOaeio":
        return "a" if _NO_VOWEL_SOUND.match(head) else "an"
    if letter in "Uu":
        return "a" if _NO_VOWEL_SOUND.match(head) or head.isupper() else "an"
    if head.isupper() and letter in _SPOKEN_WITH_VOWEL:
        return None
    return "an" if _SILENT_H.match(head) else "a"


def fit_article(text: str, start: int, new: str) -> Iterator[TextEdit]:
    """Change ``a`` to ``an``, or back, where a new word needs it.

    Args:
        text: The sentence.
        start: Offset where the new word will begin; a marker may stand between.
        new: The new word or words.
    """
    found = _ARTICLE.search(text[:start])
    wanted = choose_article(new)
    if found is None or wanted is None or (found[1] == "A" and found.start() > 0):
        return  # a capital A inside a sentence is a name, as in vitamin A
    article = wanted.capitalize() if found[1][0] == "A" else wanted
    if article != found[1]:
        yield TextEdit(found.start(1), found.end(1), article)


def starts_sentence(text: str, start: int) -> bool:
    """Return whether only a heading or an opening bracket stands before an offset."""
    return _SENTENCE_START.fullmatch(text[:start]) is not None


def uncapitalize_name(name: str, sentences: Iterable[str]) -> str:
    """Lowercase the first letter of a name that is a capital only by its place in a sentence.

    ``Insulin`` becomes ``insulin`` where it starts every sentence that has it so, and one has its
    first word in small letters. Where nothing tells, the capital stays: Wilson's disease.
    """
    word = _CAPITAL_WORD.match(name)
    if word is None:
        return name
    small = name[0].lower() + name[1:]
    texts = [text for text in sentences if word[0].casefold() in text.casefold()]
    found = [(text, match.start()) for text in texts for match in find_name(name, text)]
    if not found or not all(_is_at_start(text, start) for text, start in found):
        return name
    first = word[0].lower()
    return small if any(find_name(first, text) for text in texts) else name


def _is_at_start(text: str, start: int) -> bool:
    return starts_sentence(text, start) or text[:start].endswith(". ")


def match_capitals(new: str, old: str) -> str:
    """Write a word in the capitals of the one that it replaces."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


def is_plural(name: str) -> bool:
    """Return whether a name looks plural: statins, T cells, SSRIs; not Ras, diabetes, virus."""
    word = re.split(r"[\s-]", name)[-1]
    if word in _IRREGULAR_PLURALS or _ACRONYM_PLURAL.fullmatch(word):
        return True
    return (
        len(word) >= 5
        and word[1:].islower()
        and word.isalpha()
        and word.endswith("s")
        and not word.endswith(_SINGULAR_ENDS)
        and word not in _SINGULAR_WORDS
    )
