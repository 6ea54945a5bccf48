r"""The base of the strategies: named ways to turn a conclusion into one that does not follow.

Conclusions that may deny, doubt, ask or contrast may be as true with other entities. A list of
words tells them, wherever in the sentence they stand. It refuses some sentences that affirm
(``in the absence of X``), which does no harm, and hardly passes one that denies.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import ClassVar, Generic, TypeVar

from .....loaders.errors import UsageError
from ....core.keyed import keyed_number
from ..mechanisms.mechanism import Mechanism
from .names import MarkedSentence, TextEdit, find_places, locate_entities, names_both

#: Why no strategy takes a conclusion whose markers are not as expected.
BROKEN_MARKERS = "the markers are broken or not around the two entities"
#: Why no negative is made of what was proposed, or written.
SAME_AS_POSITIVE = "equals the positive"
SAME_AS_ANOTHER = "equals another negative"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choices:
    """Random choices of a strategy for an abstract, hashed from the three names alone.

    Attributes:
        seed: Seed of every choice.
        pmid: PubMed id of the abstract.
        strategy: Name of the strategy.
    """

    seed: int
    pmid: str
    strategy: str

    def draw(self, purpose: str) -> int:
        """Draw a number of 64 bits for a purpose."""
        return keyed_number(self.seed, "perturb", f"{self.pmid}\0{self.strategy}\0{purpose}")

    def shuffle(self, options: Sequence[T], purpose: str) -> list[T]:
        """Return the options in a random order; the first is the one to take."""
        order = sorted(range(len(options)), key=lambda i: self.draw(f"{purpose}:{i}"))
        return [options[i] for i in order]


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A conclusion that was made wrong.

    Attributes:
        text: The sentence, markers included.
        detail: The changes for a reader, e.g. ``"increase -> decrease"``.
        edits: The changes, by offsets in the positive; they do not overlap.
    """

    text: str
    detail: str
    edits: tuple[TextEdit, ...]

    @classmethod
    def of(cls, conclusion: str, edits: Iterable[TextEdit]) -> "Perturbed":
        """Apply edits to a conclusion.

        Args:
            conclusion: The original conclusion.
            edits: The changes, which must not overlap; those that change nothing are left out.
        """
        real = sorted(e for e in edits if conclusion[e.start : e.end] != e.new)
        parts, details, end = [], [], 0
        for edit in real:
            parts += [conclusion[end : edit.start], edit.new]
            old = conclusion[edit.start : edit.end].strip()
            details.append(f"{old} -> {edit.new}")
            end = edit.end
        return cls("".join(parts) + conclusion[end:], "; ".join(details), tuple(real))


@dataclass(frozen=True, slots=True)
class NoNegative:
    """Why a strategy, or a model, makes no negative of a mechanism.

    Attributes:
        reason: The reason, in a few words; the same for all of its kind.
    """

    reason: str


#: Negatives in the order in which they are drawn, and reasons why there are no more of them.
Proposals = Iterator[Perturbed | str]


class Strategy(ABC):
    """A way to make a conclusion wrong.

    Attributes:
        name: The paper's name, e.g. ``"SEN"``; a category of the dataset.
        otherwise: The reason where it finds nothing to change.
    """

    name: ClassVar[str]
    otherwise: ClassVar[str]

    def propose(
        self,
        mechanism: Mechanism,
        choices: Choices,
        *,
        limit: int | None = None,
        taken: Collection[str] = (),
    ) -> tuple[Perturbed, ...] | NoNegative:
        """Make negatives, in the order in which they are drawn.

        Args:
            mechanism: The positive.
            choices: The random choices for its abstract.
            limit: Greatest number of negatives; None means all.
            taken: Texts of other negatives, which it does not make.

        Returns:
            One negative or more, all different from the positive; or why there is none.
        """
        marked = locate_entities(mechanism)
        if marked is None:
            return NoNegative(BROKEN_MARKERS)
        reason, is_taken = self.otherwise, False
        made: dict[str, Perturbed] = {}
        for one in self._propose(marked, mechanism, choices):
            if isinstance(one, str):
                reason = one
            elif one.text in taken:
                is_taken = True
            elif one.text != mechanism.conclusion and find_places(one.text) is not None:
                made.setdefault(one.text.casefold(), one)
                if len(made) == limit:
                    break
        return tuple(made.values()) or NoNegative(SAME_AS_ANOTHER if is_taken else reason)

    @abstractmethod
    def _propose(self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices) -> Proposals:
        """Propose changes of a well-formed conclusion, in the order in which they are drawn."""


@dataclass(frozen=True, slots=True)
class Negatives(Generic[T]):
    """The negatives of a mechanism by each strategy, or why there is none.

    Attributes:
        made: The negative, or the tuple of all, by strategy, in the order of the strategies.
        refused: The reason by strategy, for those without a negative.
    """

    made: dict[str, T]
    refused: dict[str, NoNegative]


def perturb_mechanism(
    mechanism: Mechanism, strategies: Iterable[Strategy], seed: int
) -> Negatives[Perturbed]:
    """Make one negative of a mechanism by each strategy; see ``perturb_mechanism_all``.

    So does BioNLI: its Tables 2 and 3 have as many SEN as positives where "each instance is
    perturbed as many times as possible".
    """
    found = perturb_mechanism_all(mechanism, strategies, seed, limit=1)
    return Negatives({name: made[0] for name, made in found.made.items()}, found.refused)


def perturb_mechanism_all(
    mechanism: Mechanism, strategies: Iterable[Strategy], seed: int, *, limit: int | None = None
) -> Negatives[tuple[Perturbed, ...]]:
    """Make all negatives of a mechanism by each strategy.

    Where a proposal equals another negative, the strategy's next proposal is taken. Strategies
    choose in the order of their names, whatever order they are given in.

    Args:
        mechanism: The positive.
        strategies: The strategies, each name once.
        seed: Seed of every choice, together with the pmid and the strategy's name.
        limit: Greatest number of negatives by one strategy; None means all.

    Returns:
        Each strategy's negatives, or why it made none.

    Raises:
        UsageError: Two strategies have one name, or the limit is less than 1.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"The limit is {limit} negatives by one strategy; expected 1 or more.")
    given = list(strategies)
    by_name = {strategy.name: strategy for strategy in given}
    if len(by_name) < len(given):
        names = ", ".join(strategy.name for strategy in given)
        raise UsageError(f"The strategies are {names}; expected each once.")
    taken: set[str] = set()
    made, refused = {}, {}
    for name in sorted(by_name):
        choices = Choices(seed, mechanism.pmid, name)
        one = by_name[name].propose(mechanism, choices, limit=limit, taken=taken)
        if isinstance(one, NoNegative):
            refused[name] = one
        else:
            made[name] = one
            taken.update(negative.text for negative in one)
    return Negatives(
        {name: made[name] for name in by_name if name in made},
        {name: refused[name] for name in by_name if name in refused},
    )


#: Why the entities of a sentence are left as they are.
DENIED = "a word of denial, doubt, question or contrast"

_WORDS = """
    not none nothing nobody nowhere never neither cannot without zero nought few fewer little hardly
    scarcely barely rarely seldom merely too whether unless despite except unlike instead otherwise
    whatever notwithstanding weak poor limited mixed minor vain chance bias wrong wrongly opinion
    myth moot notion noise unity jury open spared spares leaves leaving inactive rare normally
    persisted resist resists resisted fail fails failed failing thin equally alike stayed
"""
_BEGINNINGS = """
    abandon absen accidental accus acquit alleg ambigu anecdot anomal artefact artifact asked
    assertion assuming attempt await baseless belied blam bystander caution claim clarif
    coinciden conflict confound conjectur constant contaminant contention contradict contrary
    controvers credul debat debunk decoupl denial denie deny deserv despair determined devoid
    disagre disappear disappoint disavow disclaim discord discourag discredit discrep dismiss
    disown dispel dispens disprov disput divorc dogma doubt dubio elsewhere elucidat elusive
    enigma enquir epiphenomen equivocal erroneous establish evaporat exaggerat examin exception
    exclud exonerat extrapolat fabricat fallac false fanciful far-fetched flaw flimsy folklore
    fortuit fraud futile groundless guess harmless hesita hollow illusion illusory immaterial
    imperv implausib impossib improbab inadequa incapab incidental inconclus inconsist incredib
    independen indifferen indistinguish ineffect ineffic inert infrequent innocent innocuous
    inquir insensitiv insignifican insufficien investigat irrelevan irreproducib irrespectiv
    lack legend marginal meager meagre minimal mirage misattrib misconcep misinterp misle
    missing mistak murky myster naive negligib nonsignifican nullif oblivious obscure obsolete
    obstina optimis orthogonal outlier overestimat overrat overstat overturn pending powerless
    prelim prematur provisional purport puzzl question rebut recant redundan refractor refus
    refut regardless reject reluct remain renounc repudiat retract rumor rumour scant scapegoat
    scarc sceptic scrutin shaky simplistic skeptic slender sought sparse speculat spurious
    stubborn superfluous supersed suppos surmise tentativ tenuous touted trivial undermin
    underpower useless vague vanish wary wishful withstand withstood wonder worthless
"""
_UN = """
    ab affect alter answer associat aware certain chang clear common confirm connect control
    convinc correlat corrobor decid detect determin diminish disturb document establish event
    explor found help hinder impair import impress influenc involv known likel link moved necess
    persua perturb product promis prove relat reliab remark replicat resolv respons scath settl
    stud substant success support tenab test touch tru verif warrant wise
"""
_PHRASES = (
    r"n['’]t\b",  # noqa: RUF001
    r"\?",
    r"\b0 ?(?:of|/|%)",
    r"(?-i:\b[Nn]or?\b|\b[Ii]f\b|\b[Nn]il\b)",  # NO and NOR are names
    r"^(?:should|were|had) ",
    r"(?:in|by) contrast|as opposed to|rather than|other than|anything but|free (?:of|from)",
    r"\bat (?:best|most|(?:its |the |their )?baseline)\b|the same|just as|far from|short of",
    r"as (?:much|often|many|frequently|common) ",
    r"rul\w+ out|failure to|resistant to|hard to",
    r"\blos(?:t|es?) (?:its |the |their |statistical )?(?:ability|capacity|effect|significance)",
    r"(?:comparable|identical|similar(?:ly)?) (?:in|between|among|across)|\b[Pp] ?[=>] ?0?\.[1-9]",
    r"once (?:thought|believed|held)|ongoing|future|under (?:study|investigation|way|trial)",
    r"\bas (?:did|do|does|were|was|in) (?:the )?(?:control|placebo|wild|vehicle|untreated)",
    r"apart from|save for|barring|(?:argu\w+|evidence|speak\w*) against",
    r"(?:against|contest|challeng\w+) (?:an?|any|the|this) (?:role|effect|view|idea|notion|link)",
    r"(?:yet|has|have|had|needs?|ought) to be|(?:needed|required|necessary) before",
    r"further (?:stud|work|research|trial|evidence|exper)|null (?:effect|result|find|hyp)",
    r"left (?:the |\ue000)",  # or a name; not left ventricular
    r"\b(?:be|been|was|were) (?:\w+ly |also |now )?(?:addressed|analy[sz]ed|assessed|compared"
    r"|confirmed|evaluated|explored|known|normal|proved|proven|replicated|studied|tested|validated"
    r"|verified)\b",
    r"(?:aim|purpose|goal|objective)s? (?:of|was|is)",
)
_DENIAL = re.compile(
    rf"\b(?:{'|'.join(_WORDS.split())})\b"
    rf"|\b(?:{'|'.join(_BEGINNINGS.split())}|un(?:{'|'.join(_UN.split())}))"
    rf"|{'|'.join(_PHRASES)}",
    re.IGNORECASE,
)


def has_denial(sentence: str) -> bool:
    """Return whether a sentence has a word of denial, doubt, question or contrast."""
    return _DENIAL.search(sentence) is not None


#: Between the two entities: X blocks iron, but Y rises.
_CONTRAST = re.compile(r";|\b(?:although|but|however|though|whereas|while|yet)\b")


@lru_cache(maxsize=1)  # the strategies ask of the same conclusion one after the other
def find_denials(marked: MarkedSentence) -> tuple[str, ...]:
    """Find the words for which a sentence may not assert the relation of its two entities."""
    first, second = marked.in_order
    contrasts = _CONTRAST.finditer(marked.masked, first.end, second.start)
    return tuple(one[0] for one in chain(_DENIAL.finditer(marked.masked), contrasts))


#: Why a sentence is not changed that states something of some cases, or at some times.
PARTIAL = "the sentence is about part of the cases, and its opposite may be true of others"
#: Words of part of the cases: in some patients, often.
PARTLY = re.compile(
    r"(?:%|percent|per cent) of\b|\bin \d[\d.,]* ?%|\d ?(?:/|(?:out )?of(?: the)?) ?\d"
    r"|\b(?:in (?:one|two|three)|thirds?|quarters?|cases|some|several|many|various|selected|certain"
    r"|few|others|often|frequently|usually|generally|typically|commonly|sometimes|occasionally"
    r"|somewhere|somewhat|part|partly|partially|mainly|largely|half|halves|subsets?|proportion"
    r"|portion|fraction|majority|minority|at times|isoforms? of"
    r"|one (?:study|trial|report|case|patient|group))\b",
    re.IGNORECASE,
)
#: Why a sentence is not changed into one that the abstract may state.
SUPPORTED = "a supporting sentence of both entities may say so"


def is_supported(mechanism: Mechanism, says: Callable[[str], bool]) -> bool:
    """Return whether a supporting sentence that names both entities says something."""
    return any(
        names_both(mechanism, sentence) and says(sentence) for sentence in mechanism.supporting
    )
