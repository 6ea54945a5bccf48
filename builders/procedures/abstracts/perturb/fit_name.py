"""Put a name in the place of another of its kind: in part of speech, number and article.

Annotation calls adjectives diseases (nephrotoxic), and types say nothing of number or article. The
ending of a name decides; a name of another kind is refused, and no grammar is mended.
"""

import re
from typing import NamedTuple

from ..mechanisms.mechanism import Mechanism
from .grammar import starts_sentence, uncapitalize_name, word_list
from .names import EntityPlace, MarkedSentence
from .strategy import TextEdit

#: Why no name can be put at a place.
UNFIT = "no name fits its place in part of speech, number or article"
_PLAIN_WORD = re.compile(r"[a-z]{3,}(?!\w)")
#: What makes two names of one, or an adjective or a plural of a name.
_COMPOSED = re.compile(r"[(),;\[\]]|\b(?:and|or|with|plus)\b")
_ADJECTIVE = re.compile(r"[a-z]{2,}(?:ic|ous|ive|ian|al|ed|ar|less)$", re.IGNORECASE)
_ACRONYM_PLURAL = re.compile(r"[A-Z][A-Z0-9]+s")
_SINGULAR_ENDS = ("ss", "us", "is", "as", "os", "ys")
_INDEFINITE = re.compile(r"(?<![\w-])an?\s+$", re.IGNORECASE)


class NameKind(NamedTuple):
    """What must be alike in two names of which one stands in the place of the other."""

    is_adjective: bool
    is_plural: bool
    takes_the: bool


def kind_of_name(name: str) -> NameKind:
    """Tell by its last word whether a name is an adjective, a plural, and takes an article."""
    word = re.split(r"[\s-]", name)[-1]
    is_adjective = _ADJECTIVE.match(word) is not None
    return NameKind(is_adjective, is_plural(word), word in word_list("with the"))


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
    if starts_sentence(marked.text, place.start) and _PLAIN_WORD.match(name):
        name = name[0].upper() + name[1:]  # p53 and mTOR stay
    return TextEdit(place.name_start, place.name_end, name)
