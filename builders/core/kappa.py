"""Agreement beyond chance: Cohen's kappa of two raters, Fleiss' of more, in exact fractions."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction


def cohen_kappa(counts: Mapping[tuple[str, str], int]) -> Fraction | None:
    """Return Cohen's kappa of two raters.

    Args:
        counts: How often the first gave one category and the second the other.

    Returns:
        From -1 to 1, higher is better, 0 for agreement by chance. None where it is undefined:
        without subjects, or where both gave one and the same category alone.

    Source: Cohen (1960), A coefficient of agreement for nominal scales.

    Example:
        >>> cohen_kappa({("a", "a"): 20, ("a", "b"): 5, ("b", "a"): 10, ("b", "b"): 15})
        Fraction(2, 5)
    """
    first, second = Counter[str](), Counter[str]()
    for (one, other), count in counts.items():
        first[one] += count
        second[other] += count
    n = first.total()
    agreed = sum(count for (one, other), count in counts.items() if one == other)
    by_chance = sum(first[category] * second[category] for category in first)
    return Fraction(n * agreed - by_chance, n * n - by_chance) if by_chance < n * n else None


def fleiss_kappa(ratings: Sequence[Collection[str]]) -> float | None:
    """Return Fleiss' kappa of raters, rounded once at the end.

    Args:
        ratings: For each of n subjects the categories that its raters chose: as many for each, of
            the same raters or others.

    Returns:
        From -1 to 1, higher is better, 0 for agreement by chance. None where it is undefined:
        without subjects, with fewer than two raters, or where all chose one category.

    Source: Fleiss (1971), Measuring nominal scale agreement among many raters.

    Example:
        >>> fleiss_kappa(["aaa", "bbb"])
        1.0
    """
    n_raters = len(ratings[0]) if ratings else 0
    totals = Counter(category for chosen in ratings for category in chosen)
    n = totals.total()
    by_chance = sum((Fraction(count, n) ** 2 for count in totals.values()), Fraction(0))
    if by_chance == 1 or n_raters < 2:
        return None
    agreeing = sum(count * (count - 1) for chosen in ratings for count in Counter(chosen).values())
    observed = Fraction(agreeing, n * (n_raters - 1))
    return float((observed - by_chance) / (1 - by_chance))


def show_kappa(kappa: float | None) -> str:
    """Show a kappa as text, with the reason where it is undefined."""
    if kappa is None:
        return "undefined (fewer than two answers to each, or all are the same)"
    return f"{kappa:.2f}"
