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
