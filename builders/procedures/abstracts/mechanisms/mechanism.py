"""The unit to perturb (a conclusion and its supporting sentences), and the rules for finding it.

``phrases.json`` holds conclusion phrases in sets. ``paper`` has the thirteen phrases of BioNLI's
Table 7. The other sets are ours, for abstracts that use other words: ``conclude`` has other forms
of "conclude" and the headings of structured abstracts, ``results`` phrases that report findings
("these data suggest"), ``inference`` words that draw a conclusion ("thus", "suggesting that"), and
``hedge`` words that claim it cautiously ("may play"). The later a set comes in this list, the more
often it matches sentences that their authors do not call conclusions.

A phrase matches whole words, ignoring case and the amount of whitespace. ``a/b`` in a phrase stands
for either word; ``:`` may directly follow a word.

Source: BioNLI, section 3.1 and Table 7 (Appendix A), after Bastan et al. (2022).
"""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Annotated, Any

from cyclopts import Parameter

from .....loaders.corpora.abstracts.mechanism_records import read_marked
from .....loaders.errors import UnknownNameError, UsageError
from ....core.options import parse_names, read_by

#: The words by which a sentence relates two entities.
ROLES: dict[str, Any] = json.loads((files(__package__) / "roles.json").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of an entity other than the regulator and the regulated one.

    Attributes:
        text: The mention as written.
        type: Its annotated type, e.g. ``"Gene"``.
        where: ``"supporting"``, ``"conclusion"``, or ``"elsewhere"``: in the title, or behind the
            conclusion.
        ids: Its concept ids; empty where unknown.
    """

    text: str
    type: str
    where: str
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism that an abstract concludes.

    Attributes:
        pmid: PubMed id of the abstract.
        supporting: The sentences before the conclusion.
        conclusion: The conclusion, with ``<re> X <er>`` around the regulator and ``<el> Y <le>``
            around the regulated entity; without ``"<re> "``, ``" <er>"``, ``"<el> "`` and
            ``" <le>"`` it is the sentence as written.
        regulator: The regulator as written in the conclusion.
        regulated: The regulated entity as written in the conclusion.
        regulator_type: Annotated type of the regulator; None where unknown.
        regulated_type: Annotated type of the regulated entity; None where unknown.
        mentions: The other entities of the abstract, each once in a part; of nested ones the
            outermost.
        polarity: ``"positive"`` or ``"negative"``; None where unknown.
        regulator_ids: Concept ids of the regulator; empty where unknown.
        regulated_ids: Concept ids of the regulated entity; empty where unknown.
        related: Pairs of ids that the annotations of the abstract relate to one another.
    """

    pmid: str
    supporting: tuple[str, ...]
    conclusion: str
    regulator: str
    regulated: str
    regulator_type: str | None
    regulated_type: str | None
    mentions: tuple[Mention, ...]
    polarity: str | None
    regulator_ids: tuple[str, ...] = ()
    regulated_ids: tuple[str, ...] = ()
    related: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, str]:
        """Return the regulator and the regulated entity."""
        return self.regulator, self.regulated

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return the supporting sentences and the conclusion."""
        return *self.supporting, self.conclusion

    @classmethod
    def of(
        cls,
        conclusion: str,
        supporting: Iterable[str] = (),
        *,
        pmid: str | None = None,
        regulator_type: str | None = None,
        regulated_type: str | None = None,
        mentions: Iterable[Mention] = (),
        regulator_ids: Iterable[str] = (),
        regulated_ids: Iterable[str] = (),
    ) -> "Mechanism":
        """Make a mechanism, without a polarity, from a sentence with markers.

        Args:
            conclusion: The sentence, with ``<re> X <er>`` around the regulator and
                ``<el> Y <le>`` around what it regulates; runs of whitespace become one space.
            supporting: The sentences before it; many strategies need none.
            pmid: Identifier that seeds every random choice; None takes the sentence itself.
            regulator_type: Type of the regulator; needed to replace it by another entity.
            regulated_type: Type of the regulated entity; needed to replace it by another entity.
            mentions: Other entities of these sentences.
            regulator_ids: Concept ids of the regulator, where known.
            regulated_ids: Concept ids of the regulated entity, where known.

        Raises:
            UsageError: The markers are broken.

        Example:
            >>> one = Mechanism.of("We conclude that <re> foxin <er> inhibits <el> henase <le>.")
            >>> one.regulator, one.regulated
            ('foxin', 'henase')
        """
        marked = read_marked(" ".join(conclusion.split()))
        if isinstance(marked, str):
            raise UsageError(f"{conclusion!r:.80} has broken markers: {marked}.")
        return cls(
            marked.text if pmid is None else pmid,
            tuple(supporting),
            marked.text,
            marked.regulator,
            marked.regulated,
            regulator_type,
            regulated_type,
            tuple(mentions),
            None,
            tuple(regulator_ids),
            tuple(regulated_ids),
        )


NO_PHRASE = "no conclusion phrase"


@dataclass(frozen=True, slots=True)
class NoMechanism:
    """An abstract or a record that gives no mechanism.

    Attributes:
        file: The file that it was read from, as the user named it.
        line: Its line in the file, from 1; 0 where the format has no lines.
        pmid: Its PubMed id.
        reason: Why, in a few words; the same for all of its kind.
        detail: What exactly is wrong, expected against got.
    """

    file: str
    line: int
    pmid: str
    reason: str
    detail: str


#: The name of the paper's set of phrases.
PAPER = ("paper",)
#: Greatest number of sentences after a conclusion.
MAX_AFTER = 2

Phrases = Mapping[str, tuple[str, ...]]


def read_phrases(sets: Sequence[str] = PAPER) -> Phrases:
    """Return the phrases of conclusions, by the name of their set.

    Args:
        sets: The names of the sets; ``all`` alone takes all. Those of an earlier set are preferred.

    Raises:
        UnknownNameError: There is no set of that name.
    """
    found = json.loads((files(__package__) / "phrases.json").read_text(encoding="utf-8"))
    names = found if list(sets) == ["all"] else sets
    for name in names:
        if name not in found:
            raise UnknownNameError.of("set of phrases", name, found)
    return {name: tuple(found[name]) for name in names}


@dataclass(frozen=True)
class MechanismRules:
    """How to find mechanisms.

    Attributes:
        phrases: The phrases that mark a conclusion, by set; see ``read_phrases``.
        by_order: Whether to take the entity mentioned first for the regulator where nothing tells
            the direction. Swapping the names in "A and B interact" makes no negative, so by
            default such abstracts give no mechanism.
        min_supporting: Least number of sentences in a supporting set; 0 allows an empty one.
        max_supporting: Greatest number of sentences in a supporting set.
    """

    phrases: Phrases = field(default_factory=read_phrases)
    by_order: bool = False
    min_supporting: int = 3
    max_supporting: int = 15

    @cached_property
    def patterns(self) -> list[re.Pattern[str]]:
        """A pattern of the phrases of each set, in order."""
        choices = ("|".join(map(_as_pattern, some)) for some in self.phrases.values())
        return [re.compile(rf"(?<!\w)(?:{choice})(?!\w)", re.IGNORECASE) for choice in choices]


def _as_pattern(phrase: str) -> str:
    words = (f"(?:{'|'.join(map(re.escape, word.split('/')))})" for word in phrase.split())
    return r"\s+".join(words).replace(r"\s+(?::)", r"\s*:")


#: The options on mechanisms.
FINDING = Parameter(group="Mechanisms")


@Parameter(name="*")
@dataclass(frozen=True)
class MechanismOptions:
    """How the conclusion of an abstract is found, and which entity regulates which."""

    phrase_sets: Annotated[Sequence[str], FINDING, read_by(parse_names, "SET,...")] = PAPER
    """Sets of conclusion phrases: paper (BioNLI's), conclude, results, inference, hedge, or all."""
    by_order: Annotated[bool, FINDING] = False
    """Where nothing states the direction, take the entity mentioned first as the regulator instead
    of skipping the abstract."""

    def rules(self, *, any_length: bool = False) -> MechanismRules:
        """Return how mechanisms are found.

        Args:
            any_length: Whether a supporting set may have any number of sentences, or none;
                otherwise it has 3 to 15, as in BioNLI.

        Raises:
            UnknownNameError: There is no set of a name.
        """
        phrases = read_phrases(self.phrase_sets)
        if any_length:
            return MechanismRules(phrases, self.by_order, 0, sys.maxsize)
        return MechanismRules(phrases, self.by_order)
