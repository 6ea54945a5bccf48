"""The negatives of many mechanisms, by rule and by models."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ...workers import map_in_order
from ..mechanisms.mechanism import Mechanism
from ..perturb.battery import make_strategies
from ..perturb.pool import EntityPool
from ..perturb.run import SAME_AS_ANOTHER, SAME_AS_POSITIVE, Negatives, perturb
from ..perturb.strategy import Perturbed, Refused, Strategy

#: Makes negatives with models: for each of n mechanisms what it made and refused, by name: ``GEN``,
#: or ``GEN-ND-`` and the kind of constraints.
Generate = Callable[[Sequence[Mechanism]], Sequence[Negatives]]

_CHUNK = 50


@dataclass(frozen=True, slots=True)
class Negative:
    """A negative of a mechanism.

    Attributes:
        category: How it was made, in the paper's terms.
        kind: The same, finer where the category is ``GEN-ND``.
        text: The sentence, markers included.
        edit: What was changed into what; null where the sentence is new.
    """

    category: str
    kind: str
    text: str
    edit: str | None


def make_negatives(
    mechanisms: Sequence[Mechanism],
    strategies: Sequence[str],
    seed: int,
    num_proc: int,
    generate: Generate | None,
) -> tuple[Sequence[Sequence[Negative]], Mapping[str, Counter[str]]]:
    """Applies every strategy once to every mechanism.

    Args:
        mechanisms: n mechanisms.
        strategies: The names of the rule-based ones.
        seed: Decides every random choice.
        num_proc: Processes to use; what comes out does not depend on it.
        generate: Makes further ones; None makes none.

    Returns:
        The negatives of each mechanism, and for each kind how often it was refused, by reason.
    """
    every = make_strategies(EntityPool.of(mechanisms))
    job = partial(_perturb, [every[name] for name in strategies], seed)
    chunks = [mechanisms[n : n + _CHUNK] for n in range(0, len(mechanisms), _CHUNK)]
    outcomes = [one for some in map_in_order(job, chunks, num_proc) for one in some]
    refused: dict[str, Counter[str]] = {name: Counter() for name in strategies}
    generated = generate(mechanisms) if generate else [Negatives({}, {})] * len(mechanisms)
    made = []
    for mechanism, by_rule, by_model in zip(mechanisms, outcomes, generated, strict=True):
        both = _join(mechanism, by_rule, by_model)
        for kind, why in both.refused.items():
            refused.setdefault(kind, Counter())[why.reason] += 1
        made.append(list(_as_negatives(both.made)))
    return made, refused


def _perturb(
    strategies: Sequence[Strategy], seed: int, mechanisms: Sequence[Mechanism]
) -> list[Negatives]:
    return [perturb(mechanism, strategies, seed) for mechanism in mechanisms]


def _join(mechanism: Mechanism, by_rule: Negatives, by_model: Negatives) -> Negatives:
    """Both, without what a model wrote that is there already."""
    made: dict[str, Perturbed] = dict(by_rule.made)
    refused: dict[str, Refused] = {**by_rule.refused, **by_model.refused}
    taken = {mechanism.conclusion: SAME_AS_POSITIVE}
    taken |= {one.text: SAME_AS_ANOTHER for one in by_rule.made.values()}
    for kind, one in by_model.made.items():
        if one.text in taken:
            refused[kind] = Refused(taken[one.text])
        else:
            made[kind] = one
            taken[one.text] = SAME_AS_ANOTHER
    return Negatives(made, refused)


def _as_negatives(made: Mapping[str, Perturbed]) -> Iterator[Negative]:
    for kind, one in made.items():
        category = "GEN-ND" if kind.startswith("GEN-ND") else kind
        yield Negative(category, kind, one.text, one.detail if one.edits else None)
