"""Slow, obvious versions of the metrics, in exact arithmetic, straight from the papers."""

from collections import defaultdict
from fractions import Fraction


def by_group(groups, *columns):
    """Rows of each group, sorted by group."""
    found = defaultdict(list)
    for group, *row in zip(groups, *columns, strict=True):
        found[group].append(row)
    return dict(sorted(found.items()))


def group_accuracies(predictions, references, groups):
    return {
        group: Fraction(sum(p == r for p, r in rows), len(rows))
        for group, rows in by_group(groups, predictions, references).items()
    }


def pattern_accuracy(predictions, references, groups, threshold):
    """SpaceNLI, section 4.2.2: PA_t. Also BioNLI's share of groups solved to at least t."""
    accuracies = group_accuracies(predictions, references, groups).values()
    solved = [accuracy >= Fraction(threshold) for accuracy in accuracies]
    return Fraction(sum(solved), len(solved))


def larger_sides(predictions, references, groups):
    """BioNLI's src/prediction.py: the right rows of one label, of all; also if all were right."""
    found, perfect = [], []
    for rows in by_group(groups, predictions, references).values():
        right = [sum(p == r == label for p, r in rows) for label in (0, 1)]
        of_label = [sum(r == label for _, r in rows) for label in (0, 1)]
        found.append(Fraction(max(right), len(rows)))
        perfect.append(Fraction(max(of_label), len(rows)))
    return found, perfect


def share_reached(shares, threshold):
    return Fraction(sum(share >= threshold for share in shares), len(shares))


def accuracy(predictions, references):
    right = [p == r for p, r in zip(predictions, references, strict=True)]
    return Fraction(sum(right), len(right))


def area(predictions, references, groups):
    """The integral of PA_t over t from 0 to 1."""
    accuracies = list(group_accuracies(predictions, references, groups).values())
    return sum(accuracies) / len(accuracies)


def f1(predictions, references, label):
    pairs = list(zip(predictions, references, strict=True))
    both = sum(p == r == label for p, r in pairs)
    either = sum(p == label for p, _ in pairs) + sum(r == label for _, r in pairs)
    return Fraction(2 * both, either) if either else Fraction(0)


def pairwise_agreement(predictions, groups):
    """Share of agreeing pairs, by group of two or more; listed pair by pair."""
    shares = []
    for rows in by_group(groups, predictions).values():
        pairs = [(a, b) for i, a in enumerate(rows) for b in rows[i + 1 :]]
        if pairs:
            shares.append(Fraction(sum(a == b for a, b in pairs), len(pairs)))
    return sum(shares) / len(shares) if shares else None
