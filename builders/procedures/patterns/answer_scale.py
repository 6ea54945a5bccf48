"""The 5-point scale of SpaceNLI's annotators, and the mappings of it onto the three labels.

Source: SpaceNLI, section 3.1: for each annotator the mapping is picked that maximises the agreement
between annotators, measured as the mean of Cohen's kappa over the pairs of annotators.

The paper does not list the mappings. Here they are the monotone ones in which ``unknown`` is
neutral, so that each annotator's "most likely" points are free and the others mean what they say.
Without that bound kappa is often the largest where labels merge: annotators who differ mostly
between neutral and entailment, and seldom say "most likely", agree best if ``unknown`` is
entailment too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

#: The answers, from the lowest point of the scale to the highest.
SCALE = (
    "definitely false",
    "most likely false",
    "unknown",
    "most likely true",
    "definitely true",
)
#: The labels in the order of the scale.
LABELS_BY_POINT = ("contradiction", "neutral", "entailment")
#: Up to so many annotators every combination of mappings is tried.
MAX_EXHAUSTIVE = 7

#: For two annotators, how often one gave point i and the other point j of the scale.
Counts = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class ScaleMapping:
    """A monotone mapping of the scale onto the labels: each label has a block of points.

    Attributes:
        n_false: Number of points, from the lowest, that are ``contradiction``.
        n_unknown: Number of the points after them that are ``neutral``; the rest, 1 or more, are
            ``entailment``.
    """

    n_false: int
    n_unknown: int

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each point, from the lowest."""
        n_true = len(SCALE) - self.n_false - self.n_unknown
        blocks = zip(LABELS_BY_POINT, (self.n_false, self.n_unknown, n_true), strict=True)
        return tuple(label for label, size in blocks for _ in range(size))

    @property
    def label_of(self) -> dict[str, str]:
        """The label of each answer of the scale."""
        return dict(zip(SCALE, self.labels, strict=True))

    def __str__(self) -> str:
        """Return the sizes of the blocks: ``2-1-2``."""
        return f"{self.n_false}-{self.n_unknown}-{len(SCALE) - self.n_false - self.n_unknown}"


#: Both "false" points are contradictions, both "true" points entailments.
SYMMETRIC = ScaleMapping(2, 1)
#: The mappings to choose from; the first of equals is taken.
MAPPINGS = (SYMMETRIC, ScaleMapping(1, 2), ScaleMapping(2, 2), ScaleMapping(1, 3))


def exact_kappa(counts: Counts) -> Fraction | None:
    """Return Cohen's kappa of two annotators: agreement beyond chance.

    Args:
        counts: A square table: how often one gave category i and the other category j.

    Returns:
        From -1 to 1, higher is better, 0 for agreement by chance. None where it is undefined:
        without subjects, or where both gave one and the same category alone.

    Source: Cohen (1960), A coefficient of agreement for nominal scales.

    Example:
        >>> exact_kappa([[20, 5], [10, 15]])
        Fraction(2, 5)
    """
    n = sum(map(sum, counts))
    columns = [sum(column) for column in zip(*counts, strict=True)]
    by_chance = sum(sum(row) * column for row, column in zip(counts, columns, strict=True))
    if by_chance == n * n:
        return None
    agreed = sum(row[place] for place, row in enumerate(counts))
    return Fraction(n * agreed - by_chance, n * n - by_chance)


def show_kappa(kappa: float | None) -> str:
    """Show a kappa as text, with the reason where it is undefined."""
    if kappa is None:
        return "undefined (there are no answers, or all are the same)"
    return f"{kappa:.2f}"


def mapped_kappa(counts: Counts, first: ScaleMapping, second: ScaleMapping) -> Fraction | None:
    """Return Cohen's kappa of two annotators over the three labels; see ``exact_kappa``.

    Args:
        counts: How often one gave point i and the other point j of the scale.
        first: The mapping of the annotator in the rows.
        second: The mapping of the one in the columns.
    """
    table = [[0] * len(LABELS_BY_POINT) for _ in LABELS_BY_POINT]
    for label, row in zip(first.labels, counts, strict=True):
        for other, count in zip(second.labels, row, strict=True):
            table[LABELS_BY_POINT.index(label)][LABELS_BY_POINT.index(other)] += count
    return exact_kappa(table)


def choose_mappings(
    annotators: Sequence[str], counts: Mapping[tuple[str, str], Counts]
) -> dict[str, ScaleMapping]:
    """Choose a mapping for each annotator, all together, that maximises the mean of the kappas.

    An undefined kappa counts as 0. Of equal means the one with the most symmetric mappings is
    chosen, then that whose mappings come first in ``MAPPINGS``, annotator by annotator. With more
    than ``MAX_EXHAUSTIVE`` annotators, one mapping after the other is improved from the symmetric
    ones on, until none can be: a maximum that no single change improves.

    Args:
        annotators: The annotators; their order decides between equals.
        counts: For each pair of annotators, in that order, how often they gave which points.

    Source: SpaceNLI, section 3.1. The mappings to choose from and the rule for equals are ours.
    """
    kappas = {
        pair: {
            (one, other): mapped_kappa(table, one, other) or Fraction(0)
            for one in MAPPINGS
            for other in MAPPINGS
        }
        for pair, table in counts.items()
    }
    if len(annotators) <= MAX_EXHAUSTIVE:
        found = _extend({}, Fraction(0), list(annotators), kappas)
        best = max(found, key=lambda each: _merit(each[0], each[1]))[0]
        return dict(best)
    chosen = dict.fromkeys(annotators, SYMMETRIC)
    while True:
        changes = [{**chosen, name: one} for name in annotators for one in MAPPINGS]
        best = max(changes, key=lambda each: _merit(each, _total(each, kappas)))
        if _total(best, kappas) <= _total(chosen, kappas):
            return chosen
        chosen = best


_Kappas = Mapping[tuple[str, str], Mapping[tuple[ScaleMapping, ScaleMapping], Fraction]]


def _merit(
    chosen: Mapping[str, ScaleMapping], total: Fraction
) -> tuple[Fraction, int, tuple[int, ...]]:
    places = [MAPPINGS.index(mapping) for mapping in chosen.values()]
    return total, places.count(0), tuple(-place for place in places)


def _total(chosen: Mapping[str, ScaleMapping], kappas: _Kappas) -> Fraction:
    return sum(
        (table[chosen[one], chosen[other]] for (one, other), table in kappas.items()), Fraction(0)
    )


def _extend(
    chosen: dict[str, ScaleMapping], total: Fraction, left: Sequence[str], kappas: _Kappas
) -> Iterator[tuple[dict[str, ScaleMapping], Fraction]]:
    """Yield every choice of mappings for the annotators that are left, with its sum of kappas."""
    if not left:
        yield chosen, total
        return
    name, *others = left
    for mapping in MAPPINGS:
        more = sum(
            (
                kappas[earlier, name][before, mapping]
                for earlier, before in chosen.items()
                if (earlier, name) in kappas
            ),
            Fraction(0),
        )
        yield from _extend({**chosen, name: mapping}, total + more, others, kappas)
