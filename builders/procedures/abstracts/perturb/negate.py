"""VNeg: flip the polarity of one predicate, in either direction.

Source:
    BioNLI, section 3.3.1, "Verb Negation"; Table 4. The release calls the directions ``posToNeg``
    and ``negToPos``. The paper does not say how predicates are found; the authors' code negates or
    affirms what matches regular expressions for was, were, do, can and is. Here rules and a list
    of verbs find predicates of any verb, and leave alone what they do not understand.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace

from .....loaders.errors import UsageError
from ..mechanisms.mechanism import Mechanism
from .affirmation import DENIED, MIXED, QUESTIONED, WEAK, Judgement, judge_relation
from .clauses import (
    AUXILIARIES,
    BE,
    BEFORE_NOT,
    DETERMINERS,
    DO,
    HAVE,
    MODALS,
    NEEDS_NEGATION,
    POSSIBILITY,
    PREPOSITIONS,
    SCOPED,
    Words,
    is_negative,
    is_reporting,
    read_words,
    verbs_joined,
)
from .grammar import (
    base_of_past,
    base_of_third,
    choose_article,
    form_past,
    form_third,
    is_base,
    is_participle,
    verb_lists,
    word_list,
)
from .names import MarkedSentence
from .relation import predicate_relates
from .strategy import Choices, NoNegative, Perturbed, Proposals, Strategy, TextEdit

DIRECTIONS = ("both", "posToNeg", "negToPos")
#: Why no predicate is flipped where some could be.
OTHER_PREDICATE = "the predicate that relates the two entities cannot be flipped by rule"
POSSIBLE = (
    "the sentence states a possibility, or part of the cases: its negation may be true as well"
)


class Negate(Strategy):
    """VNeg: ``increases`` becomes ``does not increase``, ``did not bind`` becomes ``bound``.

    Only the predicate that relates the two entities is flipped, and only where the sentence affirms
    or denies the relation. Left alone are predicates that report (``it was concluded that``), as
    their negation leaves the mechanism as it is, and those that state a possibility (``may
    inhibit``, ``it is possible that``), as ``may not`` does not contradict ``may``.

    Attributes:
        direction: ``posToNeg`` only negates, ``negToPos`` only removes negations, in the terms of
            the release; ``both`` does either.
    """

    name = "VNeg"
    otherwise = "no predicate whose polarity can be flipped by rule"
    others = (OTHER_PREDICATE, POSSIBLE, WEAK, QUESTIONED, MIXED)

    def __init__(self, *, direction: str = "both") -> None:
        if direction not in DIRECTIONS:
            raise UsageError(
                f"The direction {direction!r} is unknown; expected one of {', '.join(DIRECTIONS)}."
            )
        self.direction = direction

    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        words = read_words(marked)
        affirmed = find_affirmations(marked, words) if self.direction != "posToNeg" else ()
        denied = find_denials(marked, words) if self.direction != "negToPos" else ()
        judged = judge_relation(marked)
        if judged.reason not in (None, DENIED):
            return NoNegative(judged.reason)
        found = choices.arrange([*affirmed, *denied], "predicate")
        if found and not (found := _relating(found, marked, words, judged)):
            return NoNegative(OTHER_PREDICATE)
        certain = [flip for flip in found if not flip.is_possible]
        if found and not certain:
            return NoNegative(POSSIBLE)
        return (Perturbed.of(marked.text, flip.edits) for flip in certain)


def _relating(
    flips: "list[Flip]", marked: MarkedSentence, words: Words, judged: Judgement
) -> "list[Flip]":
    """Return the flips of what relates the two entities: of its denial, or of its predicate."""
    if judged.reason is None:
        return [flip for flip in flips if flip.denies and predicate_relates(marked, flip.at)]
    ends = {word.start: word.end for word in words}
    cues = [(start, ends[start]) for start in judged.cues]
    return [
        flip
        for flip in flips
        if not flip.denies
        and any(edit.start < end and start < edit.end for edit in flip.edits for start, end in cues)
    ]


#: What cannot be contradicts what can.
_CANNOT = frozenset({"can", "could"})
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
#: Words before which ``not`` means something else, or is ungrammatical.
_NO_NOT_BEFORE = word_list("no not before")
_NO_SUBJECT = (
    (DETERMINERS - {"this", "these", "both", "all"})
    | PREPOSITIONS
    | AUXILIARIES
    | {"be", "been", "being", "having", "not", "never", "only", "either", ",", "(", "or"}
)
_SUBJECT_NOUNS = word_list("subjects")
_INTRANSITIVE = word_list("intransitive")
#: Words joined to a name, often without their hyphen.
_AFTER_NAMES = word_list("after names")
_HAVE_OBJECTS = DETERMINERS | word_list("adjectives after have")


@dataclass(frozen=True, slots=True)
class Flip:
    """The flip of a predicate's polarity.

    Attributes:
        edits: The edits that flip it.
        is_possible: Whether the sentence says of the predicate, with and without the negation, that
            it may be.
        at: Position of the word that it begins with.
        denies: Whether a negation is added, not removed.
    """

    edits: tuple[TextEdit, ...]
    is_possible: bool = False
    at: int = -1
    denies: bool = False


def find_affirmations(marked: MarkedSentence, words: Words) -> Iterator[Flip]:
    """Find negations of a sentence that can be removed, in its order.

    Left alone are ``not only ... but`` and the like, negations that another word needs
    (``not ... any``, ``not ... or``), and verbs that are not listed.
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


def find_denials(marked: MarkedSentence, words: Words) -> Iterator[Flip]:
    """Find predicates of a sentence that can be negated, in clauses without a negation."""
    for i in range(1, len(words)):
        if words.is_glued(i) or _opens_no_predicate(words, i):
            continue
        do = None
        if words.at(i) not in AUXILIARIES and (do := _find_do(words, i)) is None:
            continue
        if words.is_under_negation(i) or words.is_contrasted(i):
            continue
        found = _deny_auxiliary(marked, words, i)
        if do is not None:
            found = _deny_verb(marked, words, i, do)
        is_possible = _is_possible(words)
        yield from (replace(flip, at=i, denies=True, is_possible=is_possible) for flip in found)


def _is_finite(words: Words, i: int) -> bool:
    return (base_of_third(words.at(i)) or base_of_past(words.at(i))) is not None


def _may_go(words: Words, i: int) -> bool:
    """Return whether the words after a negation can stand without it."""
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
    verb = words.skip_adverbs(after)
    if is_reporting(words, verb):
        return
    if auxiliary not in DO:
        edit = _replace(words, i, after - 1, auxiliary)
        yield Flip((edit,), is_possible=_is_possible(words, _CANNOT))
        return
    base = words.at(verb)
    if not is_base(base) or words.is_glued(verb) or any(verbs_joined(words, verb + 1)):
        return
    adverbs = marked.text[words[after].start : words[verb].start]
    new = adverbs + _AUXILIARY_OF[auxiliary](base)
    yield Flip((_replace(words, i, verb, new),), is_possible=_is_possible(words, _CANNOT))


def _is_possible(words: Words, besides: Set[str] = frozenset()) -> bool:
    """Return whether a sentence says that something may be, or holds in part, wherever it does.

    A contraction such as ``could've`` counts too, since the rules do not split it.
    """
    texts = {word.text for word in words}
    has_contraction = any(text.endswith(("'ve", "’ve")) for text in texts)  # noqa: RUF001
    return has_contraction or not (POSSIBILITY - besides).isdisjoint(texts)


def _drop_no(marked: MarkedSentence, words: Words, i: int) -> Iterator[Flip]:
    """Turn ``had no effect`` into ``had an effect``, ``no changes`` into ``changes``."""
    noun = i + 1
    while words.at(noun) in _BEFORE_NOUN:
        noun += 1
    if noun >= len(words) or not _may_go(words, i + 1) or words.is_glued(noun):
        return
    if sum(map(is_negative, words.clause(i))) > 1:
        return
    new = words.at(i + 1)
    if words.at(noun) in _WITH_ARTICLE:
        new = f"{choose_article(new)} {new}"
    elif words.at(noun) not in _WITHOUT_ARTICLE:
        return
    if i == 0:
        new = new[0].upper() + new[1:]
    yield Flip((_replace(words, i, i + 1, new),))


def _drop_fail(words: Words, i: int) -> Iterator[Flip]:
    """Turn ``failed to induce`` into ``induced``."""
    base = words.at(i + 2)
    if not is_base(base) or any(verbs_joined(words, i + 3)) or not _may_go(words, i + 2):
        return
    if words.at(i) == "failed" and words.at(words.skip_adverbs(i - 1, -1)) in AUXILIARIES:
        return  # has failed to
    yield Flip((_replace(words, i, i + 2, _FORM_OF[words.at(i)](base)),))


def _replace(words: Words, first: int, last: int, new: str) -> TextEdit:
    return TextEdit(words[first].start, words[last].end, new)


def _opens_no_predicate(words: Words, i: int) -> bool:
    """Return whether no negation can stand here, whatever the verb.

    As often as was X; not only abolished but reversed; by which released ADA binds to it.
    """
    before = words.at(i - 1)
    if before in ("as", "than"):
        return True
    if before in ("but", "also"):
        return any(words.at(k) == "only" and words.at(k - 1) == "not" for k in range(1, i))
    return before == "which" and words.at(i - 2) in PREPOSITIONS


def _deny_auxiliary(marked: MarkedSentence, words: Words, i: int) -> Iterator[Flip]:
    text = words.at(i)
    place = i + 1
    while words.at(place) in BEFORE_NOT:
        place += 1
    following = words.at(place)
    if following in _NO_NOT_BEFORE or words.at(i + 1) in _NO_NOT_BEFORE or place >= len(words):
        return
    verb = words.skip_adverbs(place)
    if text in HAVE and not is_participle(words.at(verb)):
        yield from _deny_have(words, i)
        return
    if is_reporting(words, verb):
        return
    if text in HAVE and words.at(words.skip_adverbs(i - 1, -1)) in {*MODALS, "to"}:
        return  # could have caused: could is negated
    if text in MODALS and not _is_infinitive(words.at(verb)):
        return
    if text in DO and not is_base(words.at(verb)):
        return
    last = words[place - 1]
    yield Flip((TextEdit(last.start, last.end, f"{marked.text[last.start : last.end]} not"),))


def _is_infinitive(text: str) -> bool:
    return text in ("be", "have") or is_base(text) or not (text == "" or text.endswith(("s", "ed")))


def _deny_have(words: Words, i: int) -> Iterator[Flip]:
    """Turn ``has a role`` into ``does not have a role``."""
    before = words.at(words.skip_adverbs(i - 1, -1))
    if words.at(i + 1) not in _HAVE_OBJECTS or before in {*MODALS, *DO, "to"}:
        return
    do = {"has": "does", "have": "do", "had": "did"}[words.at(i)]
    yield Flip((TextEdit(words[i].start, words[i].end, f"{do} not have"),))


def _find_do(words: Words, i: int) -> tuple[str, str] | None:
    """Find the form of ``do`` for a finite verb, and the verb's base; None for other words.

    A word in -s may be a noun, one in -ed a participle, a base form an infinitive. So,
    unless the word alone decides, the word before must pass as a subject and the one after as an
    object.
    """
    before = words.skip_adverbs(i - 1, -1)
    subject = words.at(before)
    if subject in _NO_SUBJECT or before < 0 or words.at(i - 1) == "by":
        return None
    text = words.at(i)
    lists = verb_lists()
    if (base := base_of_third(text)) is not None and text not in HAVE:
        is_certain = base not in lists["also_nouns"] or _has_object(words, i, base)
        return ("does", base) if is_certain or _follows_name(words, i, before) else None
    if (base := base_of_past(text)) is not None and text not in HAVE:
        return ("did", base) if _is_past(words, i, before, base) else None
    if is_base(text) and _is_plural_subject(words, before):
        is_certain = text not in lists["also_nouns"] or _has_object(words, i, text)
        return ("do", text) if is_certain else None
    return None


def _has_object(words: Words, i: int, base: str) -> bool:
    """Return whether an object or the verb's own preposition follows."""
    following = words.skip_adverbs(i + 1)
    is_noun = following < len(words) and words[following].is_name
    return is_noun or words.at(following) in DETERMINERS or _has_preposition(words, i, base)


def _has_preposition(words: Words, i: int, base: str) -> bool:
    prepositions = verb_lists()["with_preposition"].get(base, "").split("|")
    following = words.at(words.skip_adverbs(i + 1))
    return following != "" and following in prepositions


def _is_past(words: Words, i: int, before: int, base: str) -> bool:
    if words.at(words.skip_adverbs(i + 1)) in ("by", "with") and base != "correlate":
        return False
    if _has_finite_after(words, i):
        return False
    if _has_preposition(words, i, base):
        return base != "bind"  # bound to is a participle as often
    if _has_object(words, i, base):
        return True
    if words.at(words.skip_adverbs(i + 1)) in PREPOSITIONS and base not in _INTRANSITIVE:
        return False  # cyclin E produced in bacteria
    if words.at(i) in _AFTER_NAMES:
        return False  # E2F-1 mediated repression
    return words[before].is_name or words.at(before) in _SUBJECT_NOUNS


def _has_finite_after(words: Words, i: int) -> bool:
    """Return whether another finite verb follows: TNF induced apoptosis is, so not induced."""
    for k in range(i + 1, len(words)):
        text = words.at(k)
        if text in (",", ";", "and", "but", "that", "which", "whereas", "while", "when", "who"):
            return False
        if text in BE | HAVE | MODALS:
            return True
    return False


def _follows_name(words: Words, i: int, before: int) -> bool:
    """Return whether a possible noun stands between a name and an object: TNF causes shock."""
    following = words.at(words.skip_adverbs(i + 1))
    return words[before].is_name and following.isalpha() and following not in _NO_SUBJECT


def _is_plural_subject(words: Words, before: int) -> bool:
    """Return whether a verb's subject is plural: mutations of X, X and Y, both A and B."""
    if words[before].is_plural:
        return True
    linked = words.at(before - 1)
    if linked in ("of", "in"):
        return before >= 2 and words[before - 2].is_plural
    if linked != "and" or before < 2:
        return False
    first = [words.at(k) for k in range(before - 1)]
    return (words[before].is_name and words[before - 2].is_name) or "both" in first


def _deny_verb(marked: MarkedSentence, words: Words, i: int, do: tuple[str, str]) -> Iterator[Flip]:
    """Turn ``increases`` into ``does not increase``, with adverbs of manner after ``not``."""
    auxiliary, base = do
    if words.at(i + 1) in ("and", "or") and _is_verb(words.at(words.skip_adverbs(i + 2))):
        return  # binds and activates: one negation would leave two forms
    if words.at(i - 1) == "or" and _is_verb(words.at(i - 2)):
        return
    if is_reporting(words, i):
        return
    start = i
    while _is_manner(words.at(start - 1)):
        start -= 1
    verb = TextEdit(words[i].start, words[i].end, base)
    edits: tuple[TextEdit, ...]
    if start == i:
        edits = (TextEdit(verb.start, verb.end, f"{auxiliary} not {base}"),)
    else:
        first = words[start]
        manner = marked.text[first.start : first.end]
        edits = (TextEdit(first.start, first.end, f"{auxiliary} not {manner}"), verb)
    yield Flip(edits)


def _is_verb(text: str) -> bool:
    return is_base(text) or (base_of_third(text) or base_of_past(text)) is not None


def _is_manner(text: str) -> bool:
    """Return whether a word is an adverb of manner, which stands after ``not``."""
    return text.endswith("ly") and len(text) > 4 and text not in BEFORE_NOT
