"""How far annotators agree with each other, and their majority with the automatic labels."""

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
    """A part of a whole.

    Attributes:
        n: Size of the part.
        of: Size of the whole.
    """

    n: int
    of: int

    @property
    def value(self) -> float:
        """The share, from 0 to 1; NaN of nothing."""
        return self.n / self.of if self.of else math.nan


@dataclass(frozen=True)
class Agreement:
    """What the papers report of an annotation.

    A pair counts as decided once further answers could not change what becomes of it.

    Attributes:
        outcomes: All pairs of the batches by what became of them.
        overall: Decided pairs whose gold label is the automatic one, of all decided pairs: those
            without a majority or with an unclear one are in the whole.
        by_class: The same for each automatic label.
        by_domain: The same for each domain.
        without_majority: Decided pairs without a majority, of all decided pairs.
        confusion: For each automatic label the decided pairs by what the majority chose: a label,
            ``unclear`` or ``no majority``.
        kappa: Fleiss' kappa over the pairs that exactly as many annotators answered as were asked,
            from -1 to 1, higher is better; ``unclear`` is one of its categories. NaN where it is
            not defined.
        n_for_kappa: Number of those pairs.
        n_left_out_of_kappa: Number of the other pairs of the batches.
        with_majority: For each annotator, the answers that are what the majority chose, of those
            to pairs with a majority.
    """

    outcomes: Mapping[str, int]
    overall: Share
    by_class: Mapping[str, Share]
    by_domain: Mapping[str, Share]
    without_majority: Share
    confusion: Mapping[str, Mapping[str, int]]
    kappa: float
    n_for_kappa: int
    n_left_out_of_kappa: int
    with_majority: Mapping[str, Share]

    def as_json(self) -> dict[str, Any]:
        """It all in plain types; a number that is not defined is None."""
        values: dict[str, Any] = {
            name: _plain(getattr(self, name)) for name in self.__dataclass_fields__
        }
        return values


def measure_agreement(
    judged: Sequence[Judged], labels: Sequence[str], n_annotators: int
) -> Agreement:
    """Measures agreement as the papers do.

    Args:
        judged: The pairs of the batches.
        labels: The label set.
        n_annotators: How many annotators are asked for each pair.

    Returns:
        The measures.

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
    return Agreement(
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


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float:
    """Fleiss' kappa, computed in whole numbers and rounded once, at the end.

    Args:
        counts: For each of n subjects how many raters chose each of k categories; the raters may
            differ from subject to subject, their number may not.

    Returns:
        From -1 to 1, higher is better, 0 for agreement as by chance. NaN where it is not defined:
        without subjects, or where only one category was ever chosen.

    Raises:
        UsageError: A count is negative, there are fewer than two raters, or another number of
            raters or categories for one subject than for another.

    Source:
        Fleiss (1971), Measuring nominal scale agreement among many raters.

    Example:
        >>> fleiss_kappa([[3, 0], [0, 3]])
        1.0
    """
    if not counts:
        return math.nan
    shapes = {(sum(row), len(row)) for row in counts}
    if len(shapes) > 1 or any(count < 0 for row in counts for count in row):
        raise UsageError(
            "The counts are negative, or the numbers of raters or of categories differ between "
            "subjects; leave out the subjects with fewer answers."
        )
    ((n_raters, _),) = shapes
    if n_raters < 2:
        raise UsageError(f"{n_raters} raters a subject; agreement needs 2 or more.")
    n_ratings = n_raters * len(counts)
    n_agreeing = sum(count * (count - 1) for row in counts for count in row)
    observed = Fraction(n_agreeing, n_ratings * (n_raters - 1))
    by_chance = sum(
        (Fraction(sum(column), n_ratings) ** 2 for column in zip(*counts, strict=True)),
        Fraction(0),
    )
    if by_chance == 1:
        return math.nan
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
