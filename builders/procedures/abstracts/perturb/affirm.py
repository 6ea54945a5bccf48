"""Takes a negation away: negative predicates become positive."""

from collections.abc import Callable, Iterator

from .clauses import (
    AUXILIARIES,
    DO,
    HEDGES,
    NEEDS_NEGATION,
    SCOPED,
    Flip,
    Words,
    is_negative,
    is_reporting,
    verbs_joined,
)
from .grammar import choose_article
from .inflection import base_of_past, base_of_third, form_past, form_third, is_base, word_list
from .marked import MarkedSentence
from .strategy import Edit

_SHORT = {
    "isn't": "is", "aren't": "are", "wasn't": "was", "weren't": "were", "can't": "can",
    "couldn't": "could", "hasn't": "has", "haven't": "have", "hadn't": "had", "won't": "will",
    "wouldn't": "would", "doesn't": "does", "don't": "do", "didn't": "did",
}  # fmt: skip
_WITH_ARTICLE = word_list("nouns with article")
_WITHOUT_ARTICLE = word_list("nouns without article")
_BEFORE_NOUN = word_list("adjectives after no")
_AFTER_BUT = word_list("clause after but")
_FORM_OF: dict[str, Callable[[str], str]] = {"fail": str, "fails": form_third, "failed": form_past}
_AUXILIARY_OF: dict[str, Callable[[str], str]] = {"does": form_third, "did": form_past, "do": str}


def affirm(marked: MarkedSentence, words: Words) -> Iterator[Flip]:
    """Finds negations that can be taken away.

    Left alone are ``not only ... but`` and the like, negations that something else in the sentence
    needs (``not ... any``, ``not ... or``), and verbs that are not in the list.
    """
    for i in range(len(words)):
        text = words.at(i)
        if words.is_glued(i):
            continue
        if text == "cannot" and _may_go(words, i + 1):
            yield Flip((_replace(words, i, i, "can"),))
        elif text.replace("’", "'") in _SHORT:  # noqa: RUF001
            yield from _drop_not(marked, words, i, i + 1, _SHORT[text.replace("’", "'")])  # noqa: RUF001
        elif text in AUXILIARIES and words.at(i + 1) in ("not", "never"):
            yield from _drop_not(marked, words, i, i + 2, text)
        elif text == "never" and _is_finite(words, i + 1) and _may_go(words, i + 1):
            yield Flip((_replace(words, i, i + 1, words.at(i + 1)),))
        elif text == "no":
            yield from _drop_no(marked, words, i)
        elif text in ("fail", "fails", "failed") and words.at(i + 1) == "to":
            yield from _drop_fail(words, i)


def _is_finite(words: Words, i: int) -> bool:
    return (base_of_third(words.at(i)) or base_of_past(words.at(i))) is not None


def _may_go(words: Words, i: int) -> bool:
    """Whether what follows a negation can stand without it."""
    if words.at(i) in SCOPED:
        return False
    rest = words.rest(i)
    if NEEDS_NEGATION & set(rest) or "at all" in " ".join(rest):
        return False
    return all(
        word != "but" or (rest[k - 1 : k] == [","] and rest[k + 1 : k + 2][0] in _AFTER_BUT)
        for k, word in enumerate(rest[:-1])
    )


def _drop_not(
    marked: MarkedSentence, words: Words, i: int, after: int, auxiliary: str
) -> Iterator[Flip]:
    if not _may_go(words, after) or words.at(i - 1) == "or":
        return  # may or may not
    if auxiliary not in DO:
        reports = is_reporting(words, words.skip_adverbs(after))
        edit = _replace(words, i, after - 1, auxiliary)
        yield Flip((edit,), is_hedged=auxiliary in HEDGES, is_reporting=reports)
        return
    verb = words.skip_adverbs(after)
    base = words.at(verb)
    if not is_base(base) or words.is_glued(verb) or any(verbs_joined(words, verb + 1)):
        return
    adverbs = marked.text[words[after].start : words[verb].start]
    new = adverbs + _AUXILIARY_OF[auxiliary](base)
    yield Flip((_replace(words, i, verb, new),), is_reporting=is_reporting(words, verb))


def _drop_no(marked: MarkedSentence, words: Words, i: int) -> Iterator[Flip]:
    """``had no effect`` becomes ``had an effect``, ``no changes`` becomes ``changes``."""
    noun = i + 1
    while words.at(noun) in _BEFORE_NOUN:
        noun += 1
    if noun >= len(words) or not _may_go(words, i + 1) or words.is_glued(noun):
        return
    others = words.clause(i)
    if sum(map(is_negative, others)) > 1:
        return
    article = ""
    if words.at(noun) in _WITH_ARTICLE:
        article = f"{choose_article(words.at(i + 1))} "
    elif words.at(noun) not in _WITHOUT_ARTICLE:
        return
    following = words.at(i + 1)
    new = article + following
    if i == 0:
        new = new[0].upper() + new[1:]
    yield Flip((_replace(words, i, i + 1, new),))


def _drop_fail(words: Words, i: int) -> Iterator[Flip]:
    """``failed to induce`` becomes ``induced``."""
    base = words.at(i + 2)
    if not is_base(base) or any(verbs_joined(words, i + 3)) or not _may_go(words, i + 2):
        return
    if words.at(i) == "fail" and words.at(words.skip_adverbs(i - 1, -1)) in (*AUXILIARIES, "to"):
        form = base
    else:
        form = _FORM_OF[words.at(i)](base)
    if words.at(i) == "failed" and words.at(words.skip_adverbs(i - 1, -1)) in AUXILIARIES:
        return  # has failed to
    yield Flip((_replace(words, i, i + 2, form),))


def _replace(words: Words, first: int, last: int, new: str) -> Edit:
    return Edit(words[first].start, words[last].end, new)
