"""Put a name in the place of another, and mend what must agree with it; or find that it cannot."""

import re
from dataclasses import dataclass

from ..mechanisms.mechanism import Mechanism
from .grammar import (
    base_of_past,
    base_of_third,
    choose_article,
    fit_article,
    is_base,
    plural_to_third,
    starts_sentence,
    third_to_plural,
    uncapitalize_name,
    word_list,
)
from .name_uses import (
    Uses,
    is_adjective,
    is_many,
    is_modifier,
    observe_uses,
    takes_article,
)
from .names import EntityPlace, MarkedSentence
from .strategy import TextEdit

#: Why no name can be put at a place.
UNFIT = "no name fits its place in part of speech, number or article"
_PLAIN_WORD = re.compile(r"[a-z]{3,}(?!\w)")
_DETERMINER = re.compile(r"(?<![\w-])(the|an?|The|An?)\s+$")
#: Behind a name that ends its noun phrase for certain; not "the CSA and CSB genes".
_PHRASE_END = re.compile(
    r"[.;:?!)]|\s+(?:of|in|by|for|on|to|that|which|is|was|has|may|can|at|from|with|during)\b|$"
)
_BEFORE = re.compile(r"([\w'’-]+|[^\s\w])\s*$")  # noqa: RUF001
_COUNTING = frozenset(
    [
        "these",
        "those",
        "both",
        "several",
        "many",
        "few",
        "various",
        "all",
        "each",
        "every",
        "this",
        "that",
    ]
)
_AFTER_VERB = re.compile(r"\s+(?:\w+ly\s+|also\s+)?([a-z]+)(?![\w-])")
_ADVERB_FIRST = re.compile(r"\w+,?\s+(?:the\s+)?")
#: A second verb of the same subject, or what may be one: "and were safe", "but also reduces".
_SECOND_VERB = re.compile(r"\b(?:and|but|or)\s+(?:\w+ly\s+|also\s+|not\s+)?([a-z]+)(?![\w-])")
_CLAUSE_END = re.compile(r"[.;:]\s|$")
_RELATIVE = re.compile(r",?\s+(?:that|which|who)\b")
#: Names that are two, or hold a bracket, fit nowhere but where they are.
_COMPOSED = re.compile(r"[(),;\[\]]|\b(?:and|or|with|plus)\b")
_SUBJECT_BEFORE = frozenset({"", "that", "whether", "because", "although", "while", ":", ";"})


@dataclass(frozen=True, slots=True)
class NewName:
    """A name for a place, with its uses where it comes from."""

    text: str
    uses: Uses = Uses.NONE

    @classmethod
    def of(cls, name: str, mechanism: Mechanism) -> "NewName":
        """Take a name of the mechanism itself."""
        return cls(name, observe_uses(name, mechanism.sentences))


def replace_name(
    marked: MarkedSentence, place: EntityPlace, new: NewName, mechanism: Mechanism
) -> list[TextEdit] | None:
    """Put a name at a marked place, and fit its article and the verb after it.

    Args:
        marked: The sentence.
        place: The place of the old name.
        new: The new name.
        mechanism: The mechanism of the sentence.

    Returns:
        The changes; None where the name is of another part of speech, or of another number and
        what agrees with it is not certain.
    """
    if _COMPOSED.search(new.text):
        return None
    old = NewName.of(marked.name_at(place), mechanism)
    if is_adjective(new.text, new.uses) != is_adjective(old.text, old.uses):
        return None
    name = uncapitalize_name(new.text, mechanism.sentences)
    is_first = starts_sentence(marked.text, place.start)
    if is_first and _PLAIN_WORD.match(name):
        name = name[0].upper() + name[1:]  # p53 and mTOR stay
    edits = [TextEdit(place.name_start, place.name_end, name)]
    numbers = is_many(old.text, old.uses), is_many(new.text, new.uses)
    if is_modifier(marked.masked, place.end) and not marked.masked.startswith(
        " such as", place.end
    ):
        # Modifiers are singular: statin-induced. The article is that of the noun.
        if numbers[1] and not numbers[0]:
            return None
        return [*edits, *fit_article(marked.text, place.start, name)]
    agreed = _fit_number(marked, place, numbers)
    article = _fit_article(marked.text, place.start, place.end, name, numbers, new.uses)
    return None if agreed is None or article is None else [*edits, *agreed, *article]


def _fit_number(
    marked: MarkedSentence, place: EntityPlace, numbers: tuple[bool, bool]
) -> list[TextEdit] | None:
    """Inflect the verb after a subject that changes its number; None where it is not certain."""
    old, new = numbers
    if old == new:
        return []
    before, masked = marked.masked[: place.start], marked.masked
    words = re.findall(r"[\w'’-]+|[^\s\w]", before)[-2:]  # noqa: RUF001
    if any(word.lower() in _COUNTING - {"that"} for word in words):
        return None
    if _RELATIVE.match(masked, place.end) or masked.startswith(" such as", place.end):
        return None
    if words and words[-1].lower() in ("a", "an", "the"):
        words.pop()
    last = words[-1].lower() if words else ""
    if last in word_list("prepositions"):
        return []
    is_first = _ADVERB_FIRST.fullmatch(before) and last in word_list("before not") | {","}
    if last not in _SUBJECT_BEFORE and not is_first:
        return _object_edits(last)
    verb = _AFTER_VERB.match(masked, place.end)
    if verb is None:
        return None
    change = third_to_plural if new else plural_to_third
    ends = _CLAUSE_END.search(masked, verb.end())
    second = _SECOND_VERB.finditer(masked, verb.end(), ends.start() if ends else len(masked))
    is_bare = verb[1] in {*word_list("modals"), "do", "does"}
    # After a modal a bare verb stays: may worsen and prolong; an auxiliary does not: and are toxic.
    if any(change(one[1]) and not (is_bare and is_base(one[1])) for one in second):
        return None
    if verb[1] in word_list("modals") or verb[1].endswith("ed"):
        return []
    inflected = change(verb[1])
    return None if inflected is None else [TextEdit(verb.start(1), verb.end(1), inflected)]


def _object_edits(before: str) -> list[TextEdit] | None:
    """Return no edit after a verb, whose object agrees with nothing; None after other words."""
    is_verb = base_of_third(before) or base_of_past(before) or is_base(before)
    return [] if is_verb else None


def _fit_article(
    text: str, start: int, end: int, name: str, numbers: tuple[bool, bool], uses: Uses
) -> list[TextEdit] | None:
    """Fit the article of a noun phrase that ends with the name; None where it cannot be."""
    found = _DETERMINER.search(text[:start])
    needs = takes_article(uses)
    if found is not None and found[1] in ("a", "an"):
        if numbers[1]:
            return [TextEdit(found.start(), found.end(), "")]
        if needs is False:
            return None
        wanted = choose_article(name)
        return [TextEdit(found.start(1), found.end(1), wanted)] if wanted else []
    if found is not None and found[1] == "the" and needs is False:
        ends = _PHRASE_END.match(text, end)
        return [TextEdit(found.start(), found.end(), "")] if ends else None
    if found is None and needs and not numbers[1]:
        before = _BEFORE.search(text[:start])
        is_apart = before is not None and (
            before[1] in word_list("prepositions") | {"and", "or", "that", ","}
            or _object_edits(before[1]) is not None
        )
        return [TextEdit(start, start, "the ")] if is_apart else None
    return []
