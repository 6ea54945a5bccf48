"""The unit that is perturbed: a conclusion, and the sentences that support it."""

from dataclasses import dataclass


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
