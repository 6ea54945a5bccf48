"""English grammar: inflect verbs, choose articles and capitals, put a name in another's place.

``verbs.json`` is our own list of what biomedical entities do to one another. Annotation calls
adjectives diseases (nephrotoxic), and types say nothing of number or article. So the ending of a
name decides its kind; a name of another kind is refused, and no grammar is mended.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from .....loaders.releases.bionli import strip_markers
from ..mechanisms.mechanism import Mechanism
from .names import EntityPlace, MarkedSentence
from .strategy import TextEdit

_VOWELS = "aeiou"


@cache
def read_lists(file: str) -> dict[str, Any]:
    """Return the lists of one of this folder's JSON files."""
    lists: dict[str, Any] = json.loads((files(__package__) / file).read_text(encoding="utf-8"))
    return lists


def verb_lists() -> dict[str, Any]:
    """Return the lists of biomedical verbs of ``verbs.json``."""
    return read_lists("verbs.json")


@cache
def word_list(name: str) -> frozenset[str]:
    """Return a closed class of words, by its name in ``words.json``."""
    return frozenset(read_lists("words.json")[name].split())


def form_third(base: str) -> str:
    """Form the third person singular, or a noun's plural: activates, crosses, modifies.

    >>> form_third("modify"), form_third("suppress")
    ('modifies', 'suppresses')
    """
    if base == "have":
        return "has"
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


def _add_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    return _double(base) + "ed"


def _double(base: str) -> str:
    return base + base[-1] if base in verb_lists()["doubled"] else base


_ARTICLE = re.compile(r"(?<![\w-])(an?|An?)\s+$")
_VOWEL_SOUND = re.compile(r"[aio]|e(?!u)|u(?!ni(?![mn])|s)|h(?:our|onest)|8|1[18]\b", re.IGNORECASE)


def fit_article(text: str, start: int, new: str) -> Iterator[TextEdit]:
    """Change ``a`` to ``an``, or back, where a new English word or number needs it.

    Args:
        text: The sentence.
        start: Offset where the new word will begin.
        new: The new word or words; no names, whose sound their spelling does not tell.
    """
    article = _ARTICLE.search(text, max(start - 5, 0), start)
    if article is not None:
        is_vowel = _VOWEL_SOUND.match(new) and not new.lower().startswith("one")
        yield TextEdit(*article.span(1), article[1][0] + ("n" if is_vowel else ""))


#: What may stand before the first word of a sentence: a heading, an opening bracket.
_SENTENCE_START = re.compile(r"(?:[A-Z][A-Za-z ]+:)?[\s\"'“‘(\[]*(?:<re> |<el> )?")  # noqa: RUF001
_CAPITAL_WORD = re.compile(r"[A-Z][a-z]{2,}(?!\w)")


def uncapitalize_name(name: str, sentences: Iterable[str]) -> str:
    """Lowercase the first letter of a name that is a capital only by its place in a sentence.

    ``Insulin`` becomes ``insulin`` where it starts every sentence that has it so, and one has its
    first word in small letters. Where nothing tells, the capital stays: Wilson's disease.
    """
    word = _CAPITAL_WORD.match(name)
    if word is None:
        return name
    text = strip_markers(" ".join(sentences))
    small = re.search(rf"(?<!\w){re.escape(word[0].lower())}(?!\w)", text)
    inside = re.search(rf"[^.:?!\s]\s*{re.escape(name)}(?!\w)", text)
    return name if small is None or inside else name[0].lower() + name[1:]


#: Why no name can be put at a place.
UNFIT = "no name fits its place in part of speech, number or article"
_PLAIN_WORD = re.compile(r"[a-z]{3,}(?!\w)")
#: What makes two names of one, or an adjective or a plural of a name.
_COMPOSED = re.compile(r"[(),;\[\]]|\b(?:and|or|with|plus|of|to|for|from|against|in)\b")
_ADJECTIVE = re.compile(r"[a-z]{2,}(?:ic|ous|ive|ian|al|ed|ar|less)$", re.IGNORECASE)
_ACRONYM_PLURAL = re.compile(r"[A-Z][A-Z0-9]+s")
_SINGULAR_ENDS = ("ss", "us", "is", "as", "os", "ys")
_INDEFINITE = re.compile(r"(?<![\w-])an?\s+$", re.IGNORECASE)


def kind_of_name(name: str) -> tuple[bool, bool, bool]:
    """Tell by its last word whether a name is an adjective, a plural, and takes an article.

    Of two names of which one stands in the place of the other all three must be alike.
    """
    word = re.split(r"[\s-]", name)[-1]
    is_adjective = _ADJECTIVE.match(word) is not None
    return is_adjective, is_plural(word), word in word_list("with the")


def is_plural(word: str) -> bool:
    """Return whether a noun looks plural: statins, SSRIs; not Ras, diabetes, virus."""
    if word in word_list("irregular plurals") or _ACRONYM_PLURAL.fullmatch(word):
        return True
    is_word = len(word) >= 5 and word[1:].islower() and word.isalpha()
    ends = word.endswith("s") and not word.endswith(_SINGULAR_ENDS)
    return is_word and ends and word not in word_list("singular in s")


def replace_name(
    marked: MarkedSentence, place: EntityPlace, new: str, mechanism: Mechanism
) -> TextEdit | None:
    """Put a name at a marked place, with a capital where it starts the sentence.

    Args:
        marked: The sentence.
        place: The place of the old name.
        new: The new name.
        mechanism: The mechanism of the sentence.

    Returns:
        The change; None where the name is of another kind, or stands behind ``a`` or ``an``.
    """
    if _COMPOSED.search(new) or kind_of_name(new) != kind_of_name(marked.name_at(place)):
        return None
    if _INDEFINITE.search(marked.text, max(place.start - 5, 0), place.start):
        return None
    name = uncapitalize_name(new, mechanism.sentences)
    if _SENTENCE_START.fullmatch(marked.text, 0, place.start) and _PLAIN_WORD.match(name):
        name = name[0].upper() + name[1:]  # p53 and mTOR stay
    return TextEdit(place.name_start, place.name_end, name)
