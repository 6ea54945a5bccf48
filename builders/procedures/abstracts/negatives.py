"""Make the negatives of mechanisms, by rules and by a writer, shard by shard."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import orjson

from ....loaders.atomic_write import whole_folder
from ...core.keyed import keyed_number
from .balance_negation import FLIPPED, is_negated
from .declaration import POSITIVE
from .extract import read_mechanism
from .generate.sentence_kinds import KINDS
from .mechanisms.mechanism import Mechanism
from .perturb.apply import (
    SAME_AS_ANOTHER,
    SAME_AS_POSITIVE,
    Negatives,
    make_strategies,
    perturb_mechanism,
)
from .perturb.entity_pool import Pool
from .perturb.strategy import NoNegative, Perturbed, Strategy
from .tables import MECHANISMS, ROWS, TableWriter, read_table

Outcomes = Mapping[str, Perturbed | NoNegative]
_COUNTS = "counts.json"


class Writer(Protocol):
    """A writer of negatives besides those by rule, such as a model."""

    def write(self, mechanisms: Sequence[Mechanism]) -> Sequence[Outcomes]:
        """Return for each mechanism by kind its negative, or why there is none."""

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that the sentences depend on, besides the mechanisms."""


@dataclass(frozen=True, slots=True)
class Negative:
    """A negative of a mechanism.

    Attributes:
        category: The strategy or ``GEN`` or ``GEN-ND``, as in the paper.
        kind: The category, finer for ``GEN-ND``.
        text: The sentence, markers included.
        edit: The changes for a reader, or the error of a written sentence.
    """

    category: str
    kind: str
    text: str
    edit: str


def category_of_negative(kind: str) -> str:
    """Return the category of a kind of negative; the kinds of ``GEN-ND`` have one."""
    return KINDS[kind].category if kind in KINDS else kind


@dataclass(frozen=True)
class MechanismShard:
    """The mechanisms of a shard that are taken, and the folder for their rows.

    Attributes:
        found: The folder with what was read of the shard.
        taken: The places of the mechanisms in it, in order.
        target: The folder to make.
        written: What a writer made of the mechanisms, by place.
    """

    found: Path
    taken: npt.NDArray[np.int64]
    target: Path
    written: Mapping[int, Outcomes] = field(default_factory=dict)

    def read_mechanisms(self) -> Iterator[tuple[int, Mechanism]]:
        """Read the mechanisms with their places, in order."""
        wanted = set(self.taken.tolist())
        for batch in read_table(self.found, MECHANISMS, ["seq", "json"]):
            for seq, content in zip(batch["seq"].to_pylist(), batch["json"], strict=True):
                if seq in wanted:
                    yield seq, read_mechanism(content.as_py())


@dataclass(frozen=True)
class PerturbingJob:
    """Makes the negatives of a shard; it can be sent to another process or machine.

    Attributes:
        strategies: The names of the rule-based strategies.
        seed: Seed of every random choice.
        pool: The entities that SREO draws from.
    """

    strategies: Sequence[str]
    seed: int
    pool: Pool

    def run(self, shard: MechanismShard) -> None:
        """Apply every strategy once to every mechanism, and write all rows; see ``tables``.

        Raises:
            OutputError: The folder cannot be written.
        """
        every = make_strategies(self.pool)
        strategies = [every[name] for name in self.strategies]
        counts = NegativeCounts()
        with whole_folder(shard.target, lambda _: True) as work:
            with TableWriter(work, ROWS) as rows:
                for seq, mechanism in shard.read_mechanisms():
                    written = shard.written.get(seq, {})
                    made = self._make(mechanism, strategies, written, counts)
                    place = seq, mechanism.pmid
                    is_denied = is_negated(mechanism.conclusion)
                    rows.add(
                        *place, POSITIVE, POSITIVE, mechanism.conclusion, None, is_denied, None
                    )
                    for one in made:
                        negated = is_negated(one.text)
                        balance = None
                        if negated and one.category == FLIPPED:
                            number = keyed_number(self.seed, "balance", mechanism.pmid)
                            balance = number - (1 << 63)
                        text = one.text, one.edit
                        rows.add(*place, one.kind, one.category, *text, negated, balance)
            counts.write(work)

    def _make(
        self,
        mechanism: Mechanism,
        strategies: Sequence[Strategy],
        written: Outcomes,
        counts: "NegativeCounts",
    ) -> list[Negative]:
        by_rule = perturb_mechanism(mechanism, strategies, self.seed)
        made: list[Negative] = []
        for kind, one in join_outcomes(mechanism, by_rule, written).items():
            if isinstance(one, NoNegative):
                counts.refuse(kind, one.reason, mechanism.pmid)
            else:
                made.append(Negative(category_of_negative(kind), kind, one.text, one.detail))
        counts.add(mechanism, made)
        return made


def join_outcomes(mechanism: Mechanism, by_rule: Negatives, by_model: Outcomes) -> Outcomes:
    """Join the outcomes, and refuse what a model wrote that is there already."""
    outcomes: dict[str, Perturbed | NoNegative] = {**by_rule.made, **by_rule.refused}
    taken = {mechanism.conclusion: SAME_AS_POSITIVE}
    taken |= {one.text: SAME_AS_ANOTHER for one in by_rule.made.values()}
    for kind, one in by_model.items():
        outcomes[kind] = one
        if isinstance(one, Perturbed) and one.text in taken:
            outcomes[kind] = NoNegative(taken[one.text])
        elif isinstance(one, Perturbed):
            taken[one.text] = SAME_AS_ANOTHER
    return outcomes


@dataclass
class NegativeCounts:
    """How many negatives mechanisms have.

    Attributes:
        n_mechanisms: Number of mechanisms.
        made: Number of negatives by kind.
        with_category: Number of mechanisms that have a negative of a category.
        negated: Number of negated sentences: positives, negatives, and the ``VNeg`` among these.
        refused: By kind and reason, the number of mechanisms without a negative, and the least of
            their pmids.
    """

    n_mechanisms: int = 0
    made: Counter[str] = field(default_factory=Counter)
    with_category: Counter[str] = field(default_factory=Counter)
    negated: Counter[str] = field(default_factory=Counter)
    refused: dict[str, dict[str, tuple[int, str]]] = field(default_factory=dict)

    @classmethod
    def of_shards(cls, shards: Sequence[MechanismShard]) -> "NegativeCounts":
        """Sum up the counts of shards."""
        total = cls()
        for shard in shards:
            found = orjson.loads((shard.target / _COUNTS).read_bytes())
            total.n_mechanisms += found["n_mechanisms"]
            for name in ("made", "with_category", "negated"):
                getattr(total, name).update(found[name])
            for kind, reasons in found["refused"].items():
                for reason, (n, pmid) in reasons.items():
                    total.refuse(kind, reason, pmid, n)
        return total

    def refuse(self, kind: str, reason: str, pmid: str, n: int = 1) -> None:
        """Count mechanisms without a negative of a kind."""
        reasons = self.refused.setdefault(kind, {})
        before, least = reasons.get(reason, (0, pmid))
        reasons[reason] = before + n, min(least, pmid)

    def add(self, mechanism: Mechanism, made: Sequence[Negative]) -> None:
        """Count the negatives of a mechanism."""
        self.n_mechanisms += 1
        self.made.update(one.kind for one in made)
        self.with_category.update({one.category for one in made})
        negated = [one for one in made if is_negated(one.text)]
        self.negated["positives"] += is_negated(mechanism.conclusion)
        self.negated["negatives"] += len(negated)
        self.negated[FLIPPED] += sum(one.category == FLIPPED for one in negated)

    def write(self, folder: Path) -> None:
        """Write the counts into the folder of a shard."""
        counts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        (folder / _COUNTS).write_bytes(orjson.dumps(counts))

    def reasons(self, kind: str) -> dict[str, int]:
        """Return the numbers of mechanisms without a negative of a kind by reason.

        The most frequent reason comes first; of equals that of the mechanism with the least pmid.
        """
        found = self.refused.get(kind, {}).items()
        ordered = sorted(found, key=lambda item: (-item[1][0], item[1][1]))
        return {reason: n for reason, (n, _) in ordered}
