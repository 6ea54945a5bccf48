"""Choosing papers and pairs in memory, the obvious way: what SQL is compared with."""

import numpy as np
from nlihub.builders.core.schema import SPLITS
from nlihub.builders.procedures.papers.choose import SAME_ID, SAME_PAPER, SAME_TEXT


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
    """Which pairs have a sentence that another split has, test before validation before train."""
    found = np.zeros(len(split), bool)
    seen = np.zeros(0, one.dtype)
    for name in ("test", "validation", "train"):
        members = np.flatnonzero(split == SPLITS.index(name))
        found[members] = np.isin(one[members], seen) | np.isin(other[members], seen)
        seen = np.unique(np.concatenate([seen, one[members], other[members]]))
    return found


def are_balanced(classes, draw, sizes):
    """Which pairs are left of each class of a split and domain: those of least draw.

    Args:
        classes: For each pair its split, domain and label, by their numbers.
        draw: n numbers.
        sizes: The sizes of classes, by split and domain.
    """
    left = [sizes.get((split, domain), 0) for split, domain, _ in classes]
    taken, found = {}, np.zeros(len(classes), bool)
    for number in np.argsort(draw, kind="stable").tolist():
        place = taken[classes[number]] = taken.get(classes[number], 0) + 1
        found[number] = place <= left[number]
    return found
