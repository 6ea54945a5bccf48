"""Agreement of annotators with each other, and of their majority with the automatic labels."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from ...loaders.errors import UsageError
from .candidates import UNCLEAR
from .gold import KEPT, NO_MAJORITY, REASONS, UNDECIDED, Judged


@dataclass(frozen=True)
class Share:
    """A share of annotated pairs or answers.

    Attributes:
        n: Size of the part.
        of: Size of the whole.
    """

    n: int
    of: int

    @property
    def value(self) -> float:
        """The share, from 0 to 1; NaN where the whole is 0."""
        return self.n / self.of if self.of else math.nan


@dataclass(frozen=True)
class AnnotatorAgreement:
    """The figures that the papers report of an annotation.

    A pair is decided once further answers could not change its outcome.

    Attributes:
        outcomes: Number of pairs of the batches by outcome.
        overall: Share of decided pairs whose gold label is the automatic one. The whole includes
            pairs without a majority and those whose majority is ``unclear``.
        by_class: The same for each automatic label.
        by_domain: The same for each domain.
        without_majority: Share of decided pairs without a majority.
        confusion: By automatic label, the number of decided pairs by majority: a label, ``unclear``
            or ``no majority``.
        kappa: Fleiss' kappa over the pairs answered by exactly as many annotators as were asked,
            from -1 to 1, higher is better; ``unclear`` is one of its categories. None where it is
            undefined.
        n_for_kappa: Number of those pairs.
        n_left_out_of_kappa: Number of the other pairs of the batches.
        with_majority: By annotator, the share of answers that equal the majority, among those to
            pairs with a majority.
    """

    outcomes: Mapping[str, int]
    overall: Share
    by_class: Mapping[str, Share]
    by_domain: Mapping[str, Share]
    without_majority: Share
    confusion: Mapping[str, Mapping[str, int]]
    kappa: float | None
    n_for_kappa: int
    n_left_out_of_kappa: int
    with_majority: Mapping[str, Share]

    def as_json(self) -> dict[str, Any]:
        """Return all figures in plain types, an undefined number as None."""
        values: dict[str, Any] = {
            name: _plain(getattr(self, name)) for name in self.__dataclass_fields__
        }
        return values


def measure_agreement(
    judged: Sequence[Judged], labels: Sequence[str], n_annotators: int
) -> AnnotatorAgreement:
    """Measure the agreement of annotators as the papers do.

    Args:
        judged: The pairs of the batches.
        labels: The label set.
        n_annotators: How many annotators are asked for each pair.

    Source:
        SciNLI, section 3.3 and last column of Table 3 (6,904 of 8,044 pairs, 2,011 a class);
        MSciNLI, Table 2 and its section on the test and development sets.
    """
    decided = [pair for pair in judged if pair.outcome not in UNDECIDED]
    answers = (*labels, UNCLEAR)
    counts = [
        [list(pair.answers.values()).count(answer) for answer in answers]
        for pair in judged
        if len(pair.answers) == n_annotators
    ]
    outcomes = Counter(pair.outcome for pair in judged)
    found = Counter((pair.automatic, pair.majority or NO_MAJORITY) for pair in decided)
    domains = sorted({pair.domain for pair in judged})
    return AnnotatorAgreement(
        outcomes={outcome: outcomes[outcome] for outcome in (KEPT, *REASONS)},
        overall=_kept(decided),
        by_class={x: _kept(pair for pair in decided if pair.automatic == x) for x in labels},
        by_domain={x: _kept(pair for pair in decided if pair.domain == x) for x in domains},
        without_majority=Share(outcomes[NO_MAJORITY], len(decided)),
        confusion={
            label: {chosen: found[label, chosen] for chosen in (*answers, NO_MAJORITY)}
            for label in labels
        },
        kappa=fleiss_kappa(counts),
        n_for_kappa=len(counts),
        n_left_out_of_kappa=len(judged) - len(counts),
        with_majority=_with_majority(judged),
    )


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float | None:
    """Return Fleiss' kappa of annotators, computed in integers and rounded once at the end.

    Args:
        counts: For each of n subjects the number of raters that chose each of k categories. The
            raters may differ between subjects, their number may not.

    Returns:
        From -1 to 1, higher is better, 0 for agreement by chance. None where it is undefined:
        without subjects, or where all raters chose one category.

    Raises:
        UsageError: A count is negative, there are fewer than two raters, or the number of raters or
            categories differs between subjects.

    Source: Fleiss (1971), Measuring nominal scale agreement among many raters.

    Example:
        >>> fleiss_kappa([[3, 0], [0, 3]])
        1.0
    """
    if not counts:
        return None
    shapes = {(sum(row), len(row)) for row in counts}
    if len(shapes) > 1 or any(count < 0 for row in counts for count in row):
        raise UsageError(
            "A count is negative, or the number of raters or categories differs between subjects; "
            "leave out the subjects with fewer answers."
        )
    ((n_raters, _),) = shapes
    if n_raters < 2:
        raise UsageError(f"There are {n_raters} raters a subject; agreement needs 2 or more.")
    n_ratings = n_raters * len(counts)
    n_agreeing = sum(count * (count - 1) for row in counts for count in row)
    observed = Fraction(n_agreeing, n_ratings * (n_raters - 1))
    by_chance = sum(
        (Fraction(sum(column), n_ratings) ** 2 for column in zip(*counts, strict=True)),
        Fraction(0),
    )
    if by_chance == 1:
        return None
    return float((observed - by_chance) / (1 - by_chance))


def _kept(pairs: Iterable[Judged]) -> Share:
    outcomes = [pair.outcome for pair in pairs]
    return Share(outcomes.count(KEPT), len(outcomes))


def _with_majority(judged: Iterable[Judged]) -> dict[str, Share]:
    same: defaultdict[str, list[bool]] = defaultdict(list)
    for pair in judged:
        if pair.majority is not None:
            for annotator, answer in pair.answers.items():
                same[annotator].append(answer == pair.majority)
    return {name: Share(sum(found), len(found)) for name, found in sorted(same.items())}


def _plain(value: Any) -> Any:
    if isinstance(value, Share):
        return {**asdict(value), "value": _plain(value.value)}
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value
