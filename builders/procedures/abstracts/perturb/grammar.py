"""Replace a name in a sentence, with what must change beside it: article, verb, capitals."""

import re
from collections.abc import Iterable, Iterator

from ..mechanisms.mechanism import Mechanism
from .inflection import plural_to_third, third_to_plural
from .marked import EntityPlace, MarkedSentence
from .names import find_name
from .strategy import Edit

_ARTICLE = re.compile(r"(?<![\w-])(an?|An?)(\s+(?:<re> |<el> )?)$")
_SPOKEN_WITH_VOWEL = frozenset("AEFHILMNORSX")
_GREEK_VOWELS = frozenset("αεηιουωΑΕΗΙΟΥΩ")
_NO_VOWEL_SOUND = re.compile(r"(?:uni(?!n|m)|u[bkrst][aeiou]|eu|ew|one(?!i)|once)", re.IGNORECASE)
_SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:[A-Z][A-Za-z ]+:)?[\s\"'“‘(\[]*(?:<re> |<el> )?")  # noqa: RUF001
_PLAIN_WORD = re.compile(r"[a-z]{3,}(?!\w)")
_CAPITAL_WORD = re.compile(r"[A-Z][a-z]{2,}(?!\w)")
_LONG_WORD = 6
_SINGULAR_ENDS = ("ss", "us", "is", "as", "os", "ys")
_SINGULAR_WORDS = frozenset({"diabetes", "herpes", "rabies", "series", "species", "scabies"})


def put_name(
    marked: MarkedSentence, place: EntityPlace, new: str, mechanism: Mechanism
) -> Iterator[Edit]:
    """Put a name at a marked place, and fit its article and the verb after it.

    Args:
        marked: The sentence.
        place: The place of the name that goes.
        new: The name that comes, as found anywhere in the corpus.
        mechanism: The mechanism of the sentence.

    Yields:
        The edits of the name, its article and its verb.
    """
    inside = as_inside(new, (*mechanism.supporting, mechanism.conclusion))
    name = fit_capital(inside, starts_sentence(marked.text, place.start))
    yield Edit(place.name_start, place.name_end, name)
    if is_plural(name) and _ends_phrase(marked.masked, place.end):
        yield from drop_article(marked.text, place.start)
    else:
        yield from fit_article(marked.text, place.start, name)
    if not _is_joined(marked, place):
        yield from fit_agreement(marked.masked, place.end, marked.name_at(place), name)


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


def fit_article(text: str, start: int, new: str) -> Iterator[Edit]:
    """Change ``a`` to ``an``, or back, where a new word needs it.

    Args:
        text: The sentence.
        start: Offset where the new word will begin; a marker may stand between.
        new: The new word or words.

    Yields:
        The edit of the article, if it changes.
    """
    found = _ARTICLE.search(text[:start])
    wanted = choose_article(new)
    if found is None or wanted is None or (found[1] == "A" and found.start() > 0):
        return  # a capital A inside a sentence is a name, as in vitamin A
    article = wanted.capitalize() if found[1][0] == "A" else wanted
    if article != found[1]:
        yield Edit(found.start(1), found.end(1), article)


def drop_article(text: str, start: int) -> Iterator[Edit]:
    """Remove ``a`` or ``an`` before a plural; a capital article stays.

    Args:
        text: The sentence.
        start: Offset where the plural will begin.

    Yields:
        The edit of the article, if there is one.
    """
    found = _ARTICLE.search(text[:start])
    if found is not None and found[1].islower():
        yield Edit(found.start(1), found.start(2) + 1, "")


def starts_sentence(text: str, start: int) -> bool:
    """Return whether only a heading or an opening bracket stands before an offset."""
    return _SENTENCE_START.fullmatch(text[:start]) is not None


def fit_capital(name: str, at_start: bool) -> str:
    """Capitalize a name where it starts a sentence: ``insulin`` becomes ``Insulin``.

    Args:
        name: The name as written inside a sentence; p53 and mTOR never change.
        at_start: Whether it will start a sentence.

    Returns:
        The name as written at that place.
    """
    return name[0].upper() + name[1:] if at_start and _PLAIN_WORD.match(name) else name


def as_inside(name: str, sentences: Iterable[str]) -> str:
    """Lowercase the first letter of a name that is a capital only by its place in a sentence.

    ``Insulin`` becomes ``insulin`` where a sentence writes it so, or where it is a longer word and
    starts every sentence that has it. Ras and Akt stay.

    Args:
        name: The name as found.
        sentences: The sentences that may have it.

    Returns:
        The name as written inside a sentence.
    """
    word = _CAPITAL_WORD.match(name)
    if word is None:
        return name
    small = name[0].lower() + name[1:]
    found = [(s, m) for s in sentences for m in find_name(name, s, ignore_case=True)]
    if any(match[0] == small for _, match in found):
        return small
    is_capital_by_place = all(starts_sentence(s, match.start()) for s, match in found)
    return small if len(word[0]) >= _LONG_WORD and is_capital_by_place else name


def like(new: str, old: str) -> str:
    """Write a word in the capitals of the one that it replaces."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new


def is_plural(name: str) -> bool:
    """Return whether a name looks plural: statins, T cells; not Ras, diabetes, virus."""
    word = re.split(r"[\s-]", name)[-1]
    return (
        len(word) >= 5
        and word[1:].islower()
        and word.isalpha()
        and word.endswith("s")
        and not word.endswith(_SINGULAR_ENDS)
        and word not in _SINGULAR_WORDS
    )


def fit_agreement(masked: str, end: int, old: str, new: str) -> Iterator[Edit]:
    """Inflect the verb right after a name, where the new name differs in number.

    Args:
        masked: The sentence with its names masked.
        end: Offset of the end of the old name, marker included.
        old: The old name.
        new: The new name.

    Yields:
        The edit of the verb, if it changes.
    """
    if is_plural(old) == is_plural(new):
        return
    found = re.compile(r"\s+(?:\w+ly\s+|also\s+)?([a-z]+)(?![\w-])").match(masked, end)
    if found is None:
        return
    change = third_to_plural if is_plural(new) else plural_to_third
    if (verb := change(found[1])) is not None:
        yield Edit(found.start(1), found.end(1), verb)


def _ends_phrase(masked: str, end: int) -> bool:
    """Return whether no noun follows that an article before the name would belong to."""
    return (
        re.match(
            r"[.,;:?!)\]]|\s+\(|\s+(?:of|in|that|which|and|or|is|was|has|by|for|to|on)\b|$",
            masked[end:],
        )
        is not None
    )


def _is_joined(marked: MarkedSentence, place: EntityPlace) -> bool:
    """Return whether the name is not the subject alone: after ``and`` or a preposition."""
    before = marked.masked[: place.start]
    return re.search(r"\b(?:and|or|of|in|to|by|with|for|from|on|between)\s+$", before) is not None
