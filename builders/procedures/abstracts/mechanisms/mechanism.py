"""The unit that is perturbed, a conclusion and its supporting sentences; or why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass

from .....loaders.corpora.abstracts.markers import read_marked
from .....loaders.errors import UsageError


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
#: Why an abstract or a record gives no mechanism, in the order of the checks.
REASONS = (
    "markers in the text",
    NO_PHRASE,
    "conclusion not at the end",
    "supporting set too short",
    "supporting set too long",
    "conclusion too long",
    "no relation",
    "entity not in the conclusion",
    "mentions overlap",
    "one name for both",
    "direction not told",
)


@dataclass(frozen=True, slots=True)
class NoMechanism:
    """An abstract or a record that gives no mechanism.

    Attributes:
        file: The file that it was read from, as the user named it.
        line: Its line in the file, from 1; 0 where the format has no lines.
        pmid: Its PubMed id.
        reason: One of ``REASONS``.
        detail: What exactly is wrong, expected against got.
    """

    file: str
    line: int
    pmid: str
    reason: str
    detail: str
