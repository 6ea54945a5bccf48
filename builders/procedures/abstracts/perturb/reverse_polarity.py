"""LPR: a term of interaction is replaced by its antonym.

Source:
    BioNLI, section 3.3.1, "Lexical Polarity Reversal"; Table 4. The section speaks of terms that
    are swapped "when encountered"; its example has several and changes one (``increase``, while
    ``induction`` stays). So one is changed here, and all of them on demand.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..mechanisms.mechanism import Mechanism
from .antonyms import Antonyms
from .choices import Choices
from .clauses import PREPOSITIONS, Words, read_words
from .grammar import fit_article, like
from .marked import MarkedSentence
from .strategy import Edit, Perturbed, Refused, Strategy

#: Why no term is replaced.
NO_TERM = "no term of interaction"
_REACH = 40


@dataclass(frozen=True, slots=True)
class _Term:
    start: int
    end: int
    new: str


class ReversePolarity(Strategy):
    """LPR: ``increase`` becomes ``decrease``, ``-dependent`` becomes ``-independent``.

    Attributes:
        antonyms: The terms.
        every: Whether all terms are changed at once. Two changes may cancel out: ``blocks the
            increase`` says much the same as ``triggers the decrease``.
    """

    name = "LPR"
    precondition = "a term of interaction outside names and not under a negation"
    otherwise = "its terms of interaction stand under a negation or beside their antonyms"
    others = (NO_TERM,)

    def __init__(self, antonyms: Antonyms | None = None, *, every: bool = False) -> None:
        self.antonyms = antonyms or Antonyms.ours()
        self.every = every

    def _propose(
        self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices
    ) -> Iterable[Perturbed] | Refused:
        found = list(self._find_terms(marked.masked))
        if not found:
            return Refused(NO_TERM)
        words = read_words(marked)
        terms = [term for term in found if _is_safe(marked.masked, words, term)]
        if self.every:
            edits = [edit for term in terms for edit in _replace(marked.text, term)]
            return [Perturbed.of(marked.text, edits)] if terms else []
        return (
            Perturbed.of(marked.text, _replace(marked.text, term))
            for term in choices.arrange(terms, "term")
        )

    def _find_terms(self, masked: str) -> Iterable[_Term]:
        for match in self.antonyms.pattern.finditer(masked):
            old = match[0].lower()
            if match[0].isupper() or self._means_else(masked, old, match.span()):
                continue  # LOW or ACTIVATOR is a name
            forms = self.antonyms.after_hyphen if match[1] is None else self.antonyms.forms
            yield _Term(match.start(), match.end(), like(forms[old], match[0]))

    def _means_else(self, masked: str, term: str, span: tuple[int, int]) -> bool:
        start, end = span
        if re.search(r"\bat least\s+$", masked[:start]):
            return True  # at least partly
        following = re.match(r"\s+(\w+)", masked[end:])
        words = self.antonyms.not_before.get(term, ())
        *_, last = term.split()
        if last in PREPOSITIONS and re.search(rf"\b(?:and|or) (?:\w+ly )?{last}\b", masked[end:]):
            return True  # leads to an increase and to a gain
        if "from" in words and re.search(r"\bfrom\b", masked[end:]):
            return True  # prevents cells from dying
        return following is not None and following[1] in words


def _is_safe(masked: str, words: Words, term: _Term) -> bool:
    """Whether the change makes the sentence wrong: not under a negation, its antonym not near."""
    at = next(i for i, word in enumerate(words) if word.start <= term.start < word.end)
    if words.is_under_negation(at):
        return False
    near = masked[max(term.start - _REACH, 0) : term.end + _REACH].lower()
    return re.search(rf"\b{re.escape(term.new.lower())}\b", near) is None


def _replace(text: str, term: _Term) -> list[Edit]:
    return [Edit(term.start, term.end, term.new), *fit_article(text, term.start, term.new)]
