"""Which of the negatives that were made a dataset has: BioNLI's two distributions.

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

from ...core.keyed import key_of
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
    return [perturb_mechanism(mechanism, strategies, seed) for mechanism in mechanisms]


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


FULL, BALANCED = "full", "balanced"


def choose_full(
    mechanisms: Sequence[Mechanism],
    splits: Sequence[str],
    negatives: Sequence[Sequence[Negative]],
    seed: int,
) -> list[Sequence[Negative]]:
    """The negatives of the full distribution.

    Args:
        mechanisms: n mechanisms.
        splits: The split of each.
        negatives: All that were made of each.
        seed: Decides which one a training mechanism has.

    Returns:
        For each mechanism its negatives.
    """
    chosen: list[Sequence[Negative]] = []
    for mechanism, split, made in zip(mechanisms, splits, negatives, strict=True):
        if split == "train" and made:
            made = [_draw(made, mechanism.pmid, seed)]
        chosen.append(made)
    return chosen


def _draw(made: Sequence[Negative], pmid: str, seed: int) -> Negative:
    """One of the negatives: first a category, each equally likely, then one of it."""
    categories = sorted({one.category for one in made})
    category = categories[key_of(seed, "category", pmid) % len(categories)]
    of_it = sorted((one for one in made if one.category == category), key=lambda one: one.kind)
    return of_it[key_of(seed, "negative", pmid) % len(of_it)]


def choose_balanced(
    mechanisms: Sequence[Mechanism],
    splits: Sequence[str],
    full: Sequence[Sequence[Negative]],
    max_per_category: int,
    seed: int,
) -> list[bool]:
    """The mechanisms that the balanced distribution has, with their negatives of the full one.

    Args:
        mechanisms: n mechanisms.
        splits: The split of each.
        full: The negatives of each in the full distribution.
        max_per_category: How many training rows of a rule-based category there are at most.
        seed: Decides which are cut.

    Returns:
        For each mechanism whether it is in; training mechanisms without a negative are not.
    """
    is_in = [split != "train" for split in splits]
    taken: Counter[str] = Counter()
    for n in sorted(
        (n for n, split in enumerate(splits) if split == "train"),
        key=lambda n: key_of(seed, "balanced", mechanisms[n].pmid),
    ):
        for negative in full[n]:
            name = negative.category
            if name not in NAMES or taken[name] < max_per_category:
                taken[name] += 1
                is_in[n] = True
    return is_in
