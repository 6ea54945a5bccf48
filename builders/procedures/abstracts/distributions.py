"""Which of the negatives that were made a dataset has: BioNLI's two distributions.

Source:
    BioNLI, section 3.4, Tables 2 and 3. In both, a training mechanism has one negative, and those
    for validation and test have all. The paper does not tell how the one is drawn: here each
    category that has one is equally likely. Nor does it tell how the balanced training set was
    sampled, only that no rule-based category is above 500: here the larger ones are cut to that,
    and a positive goes with its negative.
"""

from collections import Counter
from collections.abc import Sequence

from ...core.keyed import keyed_number
from .mechanisms.mechanism import Mechanism
from .negatives import Negative
from .perturb.apply import NAMES

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
    category = categories[keyed_number(seed, "category", pmid) % len(categories)]
    of_it = sorted((one for one in made if one.category == category), key=lambda one: one.kind)
    return of_it[keyed_number(seed, "negative", pmid) % len(of_it)]


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
        key=lambda n: keyed_number(seed, "balanced", mechanisms[n].pmid),
    ):
        for negative in full[n]:
            name = negative.category
            if name not in NAMES or taken[name] < max_per_category:
                taken[name] += 1
                is_in[n] = True
    return is_in
