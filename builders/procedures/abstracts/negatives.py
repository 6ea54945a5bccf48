"""The negatives of many mechanisms, by rule and by models."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ...core.workers import map_in_order
from .generate.sentence_kinds import KINDS
from .mechanisms.mechanism import Mechanism
from .perturb.apply import SAME_AS_ANOTHER, SAME_AS_POSITIVE, Negatives, make_strategies, perturb
from .perturb.replace_entities import EntityPool
from .perturb.strategy import NoNegative, Perturbed, Strategy

Outcomes = Mapping[str, Perturbed | NoNegative]


class Writer(Protocol):
    """Makes negatives with models."""

    def write(self, mechanisms: Sequence[Mechanism]) -> Sequence[Outcomes]:
        """For each of n mechanisms by kind its negative, or why there is none.

        Args:
            mechanisms: The mechanisms.
        """

    def parameters(self) -> Mapping[str, Any]:
        """All that the sentences depend on, besides the mechanisms."""


_CHUNK = 50


@dataclass(frozen=True, slots=True)
class Negative:
    """A negative of a mechanism.

    Attributes:
        category: How it was made, in the paper's terms.
        kind: The same, finer where the category is ``GEN-ND``.
        text: The sentence, markers included.
        edit: What was changed into what, or in what a new sentence is wrong.
    """

    category: str
    kind: str
    text: str
    edit: str


def category_of(kind: str) -> str:
    """The category of a kind, which is finer where models are asked under constraints."""
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
        mechanisms: n mechanisms.
        strategies: The names of the rule-based ones.
        seed: Decides every random choice.
        num_proc: Processes to use; what comes out does not depend on it.
        writer: Makes further ones; None makes none.

    Returns:
        The negatives of each mechanism, and for each kind how often it was refused, by reason.
    """
    every = make_strategies(EntityPool.of(mechanisms))
    job = partial(_perturb, [every[name] for name in strategies], seed)
    chunks = [mechanisms[n : n + _CHUNK] for n in range(0, len(mechanisms), _CHUNK)]
    outcomes = [one for some in map_in_order(job, chunks, num_proc) for one in some]
    refused: dict[str, Counter[str]] = {name: Counter() for name in strategies}
    written: Sequence[Outcomes] = writer.write(mechanisms) if writer else [{}] * len(mechanisms)
    made = []
    for mechanism, by_rule, by_model in zip(mechanisms, outcomes, written, strict=True):
        both = _join(mechanism, by_rule, by_model)
        made.append([_as_negative(k, one) for k, one in both.items() if isinstance(one, Perturbed)])
        for kind, one in both.items():
            reasons = refused.setdefault(kind, Counter())
            if isinstance(one, NoNegative):
                reasons[one.reason] += 1
    return made, refused


def _perturb(
    strategies: Sequence[Strategy], seed: int, mechanisms: Sequence[Mechanism]
) -> list[Negatives]:
    return [perturb(mechanism, strategies, seed) for mechanism in mechanisms]


def _join(mechanism: Mechanism, by_rule: Negatives, by_model: Outcomes) -> Outcomes:
    """Both, without what a model wrote that is there already."""
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


def _as_negative(kind: str, one: Perturbed) -> Negative:
    return Negative(category_of(kind), kind, one.text, one.detail)
