"""The unit that is perturbed: a conclusion, and the sentences that support it."""

from collections.abc import Iterable
from dataclasses import dataclass

from .....loaders.corpora.abstracts.markers import read_marked
from .....loaders.errors import UsageError


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity that is mentioned besides the two main ones.

    Attributes:
        text: As it is written.
        type: Its type as annotated, e.g. ``"Gene"``.
        where: ``"supporting"`` or ``"conclusion"``.
    """

    text: str
    type: str
    where: str


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism that an abstract concludes.

    Attributes:
        pmid: The abstract.
        supporting: The sentences before the conclusion.
        conclusion: The conclusion, with ``<re> X <er>`` around the regulator and ``<el> Y <le>``
            around the regulated entity; without ``"<re> "``, ``" <er>"``, ``"<el> "`` and
            ``" <le>"`` it is the sentence as written.
        regulator: How the regulator is written there.
        regulated: How the regulated entity is written there.
        regulator_type: Its type as annotated; None where that is not told.
        regulated_type: Its type as annotated; None where that is not told.
        mentions: The other entities of the supporting set and the conclusion, each once; of nested
            ones the outermost.
        polarity: ``"positive"`` or ``"negative"``; None where it is not told.
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
    ) -> "Mechanism":
        """Makes one of a sentence with markers.

        Args:
            conclusion: The sentence; runs of blanks become one.
            supporting: The sentences before it; many strategies need none.
            pmid: What it is called, which decides what is drawn for it; None takes the sentence.
            regulator_type: Type of the regulator, where another may take its place.
            regulated_type: Type of the regulated entity.
            mentions: Other entities of these sentences.

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
        )


NO_PHRASE = "no conclusion phrase"
#: Why an abstract or a record gives no mechanism, in the order in which it is asked.
REASONS = {
    "markers in the text": "the text holds <re>, <er>, <el> or <le> already",
    NO_PHRASE: "no sentence has one of the phrases",
    "conclusion not at the end": "too many sentences stand behind the last with a phrase",
    "supporting set too short": "too few sentences stand before the conclusion",
    "supporting set too long": "too many sentences stand before the conclusion",
    "no relation": "no relation between two entities is annotated that tells a mechanism",
    "entity not in the conclusion": "no relation has both of its entities there",
    "mentions overlap": "one mention overlaps the other, or lies in a longer one",
    "one name for both": "both entities are written alike",
    "direction not told": "nothing tells which of them regulates the other",
}


@dataclass(frozen=True, slots=True)
class NoMechanism:
    """An abstract or a record that gives no mechanism.

    Attributes:
        file: The file that it was read from, as the user named it.
        line: Its line there, from 1; 0 where the file tells no lines.
        pmid: Its pmid.
        reason: Why, one of ``REASONS``.
        detail: What exactly is wrong, expected against got.
    """

    file: str
    line: int
    pmid: str
    reason: str
    detail: str
