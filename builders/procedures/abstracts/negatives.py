"""Make the negatives of mechanisms, and choose those of BioNLI's two distributions.

Source:
    BioNLI, section 3.4, Tables 2 and 3. In both, a training mechanism has one negative, and those
    for validation and test have all. The paper does not tell how the one is drawn: here each
    category that has one is equally likely. Nor does it tell how the balanced training set was
    sampled, only that no rule-based category is above 500: here the larger ones are cut to that,
    and a positive goes with its negative.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ...core.keyed import keyed_number
from ...core.workers import map_in_order
from .generate.sentence_kinds import KINDS
from .mechanisms.mechanism import Mechanism
from .perturb.apply import (
    NAMES,
    SAME_AS_ANOTHER,
    SAME_AS_POSITIVE,
    Negatives,
    make_strategies,
    perturb_mechanism,
)
from .perturb.replace_entities import EntityPool
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


FULL, BALANCED = "full", "balanced"


def choose_full_negatives(
    mechanisms: Sequence[Mechanism],
    splits: Sequence[str],
    negatives: Sequence[Sequence[Negative]],
    seed: int,
) -> list[Sequence[Negative]]:
    """Choose the negatives of each mechanism in the full distribution.

    Args:
        mechanisms: The mechanisms.
        splits: The split of each.
        negatives: All negatives of each.
        seed: Seed of the one of a training mechanism.
    """
    return [
        [_draw(made, mechanism.pmid, seed)] if split == "train" and made else made
        for mechanism, split, made in zip(mechanisms, splits, negatives, strict=True)
    ]


def _draw(made: Sequence[Negative], pmid: str, seed: int) -> Negative:
    """Draw a category, each equally likely, then one of its negatives."""
    categories = sorted({one.category for one in made})
    category = categories[keyed_number(seed, "category", pmid) % len(categories)]
    of_it = sorted((one for one in made if one.category == category), key=lambda one: one.kind)
    return of_it[keyed_number(seed, "negative", pmid) % len(of_it)]


def choose_balanced_mechanisms(
    mechanisms: Sequence[Mechanism],
    splits: Sequence[str],
    full: Sequence[Sequence[Negative]],
    max_per_category: int,
    seed: int,
) -> list[bool]:
    """Choose the mechanisms of the balanced distribution; they keep their negatives.

    Args:
        mechanisms: The mechanisms.
        splits: The split of each.
        full: The negatives of each in the full distribution.
        max_per_category: Greatest number of training rows of a rule-based category.
        seed: Seed of the choice.

    Returns:
        For each mechanism whether it is in; training mechanisms without a negative are not.
    """
    is_in = [split != "train" for split in splits]
    taken: Counter[str] = Counter()
    for n in sorted(
        (n for n, split in enumerate(splits) if split == "train"),
        key=lambda n: keyed_number(seed, "balanced", mechanisms[n].pmid),
    ):
        for negative in full[n]:
            name = negative.category
            if name not in NAMES or taken[name] < max_per_category:
                taken[name] += 1
                is_in[n] = True
    return is_in
