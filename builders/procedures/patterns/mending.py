"""Mends the text defects of SpaceNLI's release in fresh samples, and lists every mend."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from .sampling import PatternSample

_PLURAL_NOUNS = "glasses|jeans|pants|shorts|sweatpants"
_PLURAL_VERBS = {"is": "are", "was": "were", "has": "have"}


@dataclass(frozen=True)
class Mend:
    """A sentence that was changed.

    Attributes:
        rule: The rule that changed it.
        problem: Id of the problem.
        before: The sentence as the authors' generator writes it.
        after: The sentence as it is now.
    """

    rule: str
    problem: str
    before: str
    after: str


def _underscore(sentence: str) -> str:
    """An optional word keeps the underscores of its variable's name: "at_least twice"."""
    return re.sub(r"(?<=\w)_(?=\w)", " ", sentence)


def _spelling(sentence: str) -> str:
    """The mini world misspells a noun: "the potatoe"."""
    return re.sub(r"\bpotatoe\b", "potato", sentence)


def _agreement(sentence: str) -> str:
    """A plural noun as subject has a singular verb: "The glasses is in the cup".

    Only at the beginning of a sentence is the noun surely the subject: "the boy in the jeans is".
    """
    return re.sub(
        rf"^(The (?:{_PLURAL_NOUNS})) ({'|'.join(_PLURAL_VERBS)})\b",
        lambda match: f"{match[1]} {_PLURAL_VERBS[match[2]]}",
        sentence,
    )


#: The rules, in the order in which they are applied.
RULES: dict[str, Callable[[str], str]] = {
    "underscore": _underscore,
    "spelling": _spelling,
    "agreement": _agreement,
}


def mend_sample(sample: PatternSample, id_infix: str = "") -> tuple[PatternSample, list[Mend]]:
    """Mend the sentences of a sample.

    Args:
        sample: The sample.
        id_infix: Stands between a pattern's id and the number of the problem, so that no id is one
            of the release.

    Returns:
        The mended sample, its phrases mended likewise, and a mend for each rule and sentence.
    """
    mends: list[Mend] = []
    sentences = []
    for column in sample.sentences:
        mended_column = []
        for number, sentence in enumerate(column):
            text = sentence
            for name, rule in RULES.items():
                mended = rule(text)
                if mended != text:
                    problem = f"{sample.pattern.id}-{id_infix}{number}"
                    mends.append(Mend(name, problem, text, mended))
                    text = mended
            mended_column.append(text)
        sentences.append(mended_column)
    phrases = [tuple(_spelling(_underscore(p)) for p in row) for row in sample.phrases]
    return replace(sample, sentences=sentences, phrases=phrases), mends
