"""SREO: an entity is replaced by one of its type that the abstract does not name.

Source:
    BioNLI, section 3.3.1, "Swap Random Entity with Out of text entity"; Table 4. The authors' code
    may draw the very name that it replaces, and counts that as a change; this cannot happen here.
"""

from collections.abc import Iterable, Iterator

from ..mechanisms.mechanism import Mechanism
from .choices import Choices
from .denial import DENIED, denies
from .marked import MarkedSentence, find_name
from .naming import may_be_same
from .pool import EntityPool
from .replace_inside import NO_TYPE, replace_entity, types_of
from .strategy import Perturbed, Refused, Strategy


class ReplaceOutside(Strategy):
    """SREO: one of the two entities becomes one of its type from a pool.

    Attributes:
        pool: The entities of a corpus.
    """

    name = "SREO"
    precondition = "an entity has a type, and the pool one of that type that is not in the abstract"
    otherwise = "no entity of its type in the pool that is not in the abstract"
    others = (DENIED, NO_TYPE)

    def __init__(self, pool: EntityPool) -> None:
        self.pool = pool

    def _propose(
        self, marked: MarkedSentence, mechanism: Mechanism, choices: Choices
    ) -> Iterable[Perturbed] | Refused:
        if denies(marked):
            return Refused(DENIED)
        types = types_of(mechanism)
        if not types:
            return Refused(NO_TYPE)
        roles = choices.arrange(sorted(types), "role")
        return (
            replace_entity(marked, mechanism, role, name)
            for role in roles
            for name in self._names(mechanism, types[role], choices.draw(role))
        )

    def _names(self, mechanism: Mechanism, type_: str, start: int) -> Iterator[str]:
        supporting = " ".join(mechanism.supporting)
        text = f"{supporting} {mechanism.conclusion}"
        known = (mechanism.regulator, mechanism.regulated, *(m.text for m in mechanism.mentions))
        for name in self.pool.walk(type_, start):
            if not find_name(name, text, ignore_case=True) and not any(
                may_be_same(name, one, text) for one in known
            ):
                yield name
