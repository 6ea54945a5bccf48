"""Balance the classes of a split: how many pairs of each it has, and which.

Source:
    SciNLI, section 3.4: the larger classes are cut to the size of the smallest, in each split.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from ....loaders.errors import CorpusError
from ...core.schema import SPLITS
from .arrays import Flags, Numbers, Words

#: The size of the classes of a split and domain, by their numbers.
Sizes = Mapping[tuple[int, int], int]


def class_sizes(
    counts: Mapping[tuple[int, int, int], int],
    splits: Sequence[str],
    domains: Sequence[str],
    labels: Sequence[str],
    quotas: Mapping[str, int],
) -> Sizes:
    """Return how many pairs of each class a split and domain has when its classes are balanced.

    Args:
        counts: The number of pairs by the numbers of split, domain and label.
        splits: The splits that have pairs.
        domains: The domains.
        labels: The label set.
        quotas: By split, pairs of each class and domain; without one, those of its smallest class.

    Raises:
        CorpusError: A split and domain has no pair of a class, or fewer than its quota.
    """
    sizes: dict[tuple[int, int], int] = {}
    problems = []
    for name, (number, its_domain) in product(splits, enumerate(domains)):
        key = (SPLITS.index(name), number)
        found = [counts.get((*key, label), 0) for label in range(len(labels))]
        sizes[key] = wanted = quotas.get(name, max(min(found), 1))
        if min(found) < wanted:
            listed = ", ".join(f"{n:,} {label}" for label, n in zip(labels, found, strict=True))
            problems.append(
                f"{name} of {its_domain} has {listed}, expected {wanted:,} or more of each"
            )
    if problems:
        raise CorpusError(
            f"The corpus is too small: {'; '.join(problems)}. Give more papers, split them "
            "otherwise, or ask for less."
        )
    return sizes


def balance(label: Numbers, split: Numbers, domain: Numbers, hashes: Words, sizes: Sizes) -> Flags:
    """Return which pairs are left: of each class of a split and domain those of lowest hash.

    Args:
        label: n ids of labels.
        split: n numbers of splits, -1 for what is not taken.
        domain: n numbers of domains.
        hashes: n hashes. Rows must stand in the order of others, or their places tell their labels.
        sizes: As ``class_sizes`` gives them.
    """
    is_left = np.zeros(len(label), bool)
    ranked = np.lexsort((hashes, label, domain, split))
    keys = np.stack([split[ranked], domain[ranked], label[ranked]])
    begins = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
    for begin in begins if len(ranked) else ():
        size = sizes.get((int(keys[0, begin]), int(keys[1, begin])), 0)
        is_left[ranked[begin : begin + size]] = True
    return is_left
