"""Make the negatives of mechanisms, by rules and by a writer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ...core.workers import map_in_order
from .generate.sentence_kinds import KINDS
from .mechanisms.mechanism import Mechanism
from .perturb.apply import (
    SAME_AS_ANOTHER,
    SAME_AS_POSITIVE,
    Negatives,
    make_strategies,
    perturb_mechanism,
)
from .perturb.entity_pool import EntityPool
from .perturb.strategy import NoNegative, Perturbed, Strategy

Outcomes = Mapping[str, Perturbed | NoNegative]


class Writer(Protocol):
    """A writer of negatives besides those by rule, such as a model."""

    def write(self, mechanisms: Sequence[Mechanism]) -> Sequence[Outcomes]:
        """Return for each mechanism by kind its negative, or why there is none."""

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that the sentences depend on, besides the mechanisms."""


_CHUNK = 50


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


def make_negatives(
    mechanisms: Sequence[Mechanism],
    strategies: Sequence[str],
    seed: int,
    num_proc: int,
    writer: Writer | None,
) -> tuple[Sequence[Sequence[Negative]], Mapping[str, Counter[str]]]:
    """Apply every strategy once to every mechanism.

    Args:
        mechanisms: The positives.
        strategies: The names of the rule-based strategies.
        seed: Seed of every random choice.
        num_proc: Number of processes; the result does not depend on it.
        writer: Writer of further negatives; None writes none.

    Returns:
        The negatives of each mechanism, and for each kind the counts of reasons for none.
    """
    every = make_strategies(EntityPool.of(mechanisms))
    job = partial(_perturb, [every[name] for name in strategies], seed)
    chunks = [mechanisms[n : n + _CHUNK] for n in range(0, len(mechanisms), _CHUNK)]
    outcomes = [one for some in map_in_order(job, chunks, num_proc) for one in some]
    refused: dict[str, Counter[str]] = {name: Counter() for name in strategies}
    written: Sequence[Outcomes] = writer.write(mechanisms) if writer else [{}] * len(mechanisms)
    made: list[list[Negative]] = []
    for mechanism, by_rule, by_model in zip(mechanisms, outcomes, written, strict=True):
        made.append([])
        for kind, one in _join(mechanism, by_rule, by_model).items():
            reasons = refused.setdefault(kind, Counter())
            if isinstance(one, NoNegative):
                reasons[one.reason] += 1
            else:
                made[-1].append(Negative(category_of_negative(kind), kind, one.text, one.detail))
    return made, refused


def _perturb(
    strategies: Sequence[Strategy], seed: int, mechanisms: Sequence[Mechanism]
) -> list[Negatives]:
    return [perturb_mechanism(mechanism, strategies, seed) for mechanism in mechanisms]


def _join(mechanism: Mechanism, by_rule: Negatives, by_model: Outcomes) -> Outcomes:
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
