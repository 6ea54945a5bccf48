"""Choosing papers and pairs in memory, the obvious way: what SQL is compared with."""

import numpy as np
from nlihub.builders.core.schema import SPLITS
from nlihub.builders.procedures.papers.balance import balance
from nlihub.builders.procedures.papers.statements import SAME_ID, SAME_PAPER, SAME_TEXT


def doubled_papers(papers):
    """Which papers have the id or the text of another before them, by number.

    Args:
        papers: A list of (id, hash, year, domain), None in place of those that are in no split.
    """
    reasons, of_id, of_text = {}, {}, {}
    numbers = [n for n, paper in enumerate(papers) if paper is not None]
    for number in sorted(numbers, key=lambda n: papers[n][1:]):
        first = of_id.setdefault(papers[number][0], number)
        if first != number:
            reasons[number] = SAME_PAPER if papers[number] == papers[first] else SAME_ID
    for number in sorted((n for n in numbers if n not in reasons), key=lambda n: papers[n]):
        if of_text.setdefault(papers[number][1], number) != number:
            reasons[number] = SAME_TEXT
    return reasons


def are_again(texts, order, is_candidate):
    """Which candidates have the texts of one that comes before them."""
    ranked = np.lexsort((order, texts))
    ranked = ranked[is_candidate[ranked]]
    again = np.zeros(len(texts), bool)
    again[ranked[1:]] = texts[ranked[1:]] == texts[ranked[:-1]]
    return again


def are_in_two_splits(split, one, other):
    """Which pairs have a sentence that a pair of an earlier split has."""
    found = np.zeros(len(split), bool)
    seen = np.zeros(0, one.dtype)
    for name in ("test", "train", "validation"):
        members = np.flatnonzero(split == SPLITS.index(name))
        doubled = np.isin(one[members], seen) | np.isin(other[members], seen)
        found[members[doubled]] = True
        left = members[~doubled]
        seen = np.unique(np.concatenate([seen, one[left], other[left]]))
    return found


def select_pairs(pairs, split, domain, label, sizes):
    """Which pairs are dropped again or for two splits, the split of the others, and which are left.

    Args:
        pairs: Columns of n pairs.
        split: n numbers of the splits of their papers, -1 where these are not taken.
        domain: n numbers of domains.
        label: n numbers of labels.
        sizes: Returns the sizes of classes, of splits.
    """
    again = are_again(pairs["texts_key"], pairs["order_key"], split >= 0)
    split = np.where(again, -1, split)
    doubled = are_in_two_splits(split, pairs["premise_key"], pairs["second_key"])
    split = np.where(doubled, -1, split)
    is_balanced = balance(label, split, domain, pairs["draw_key"], sizes(split))
    return again, doubled, split, is_balanced
