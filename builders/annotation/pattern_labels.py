"""Whether annotators agree with each other, and give problems the label of their pattern.

For each annotator a mapping of the 5-point scale onto the labels is chosen, all together, so that
the mean of Cohen's kappa over the pairs of annotators is the largest. The paper does not list the
mappings. Here they are the monotone ones in which ``unknown`` is neutral, so that each annotator's
"most likely" points are free and the others mean what they say. Without that bound kappa is often
the largest where labels merge: annotators who differ mostly between neutral and entailment, and
seldom say "most likely", agree best if ``unknown`` is entailment too.

Source: SpaceNLI, section 3.1 (a mapping of the scale for each annotator, problems without a
majority label) and section 3.2 (problems unanimously labelled with the original label, before and
after patterns of relatively low agreement are left out).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from statistics import fmean

from ...loaders.corpora.patterns.pattern_bank import LABELS
from ...loaders.errors import UsageError
from .agreement import (
    GOLD_DIFFERS,
    KEPT,
    NO_MAJORITY,
    NOT_ENOUGH_ANSWERS,
    UNDECIDED,
    Judged,
    Share,
    cohen_kappa,
    judge,
    share,
    tally,
)
from .answers import Answers
from .batch import Batch
from .questions import SCALE, UNCLEAR

LOW_AGREEMENT = "low agreement"
#: A pattern is of low agreement below this share of agreeing pairs of annotators. The paper gives
#: no bound. Of three problems and three annotators it admits one deviating answer, not two in
#: different problems.
MIN_AGREEMENT = 2 / 3
#: Up to so many annotators every combination of mappings is tried.
MAX_EXHAUSTIVE = 5

_LABELS = {"F": "contradiction", "N": "neutral", "T": "entailment"}
_POINTS = {"2-1-2": "FFNTT", "1-2-2": "FNNTT", "2-2-1": "FFNNT", "1-3-1": "FNNNT"}
#: The mappings to choose from, by the number of points that are false, unknown and true.
MAPPINGS: dict[str, dict[str, str]] = {
    name: {point: _LABELS[letter] for point, letter in zip(SCALE, letters, strict=True)}
    for name, letters in _POINTS.items()
}
#: Both "false" points are contradictions, both "true" points entailments.
SYMMETRIC = "2-1-2"

#: For two annotators, how often one gave one point and the other the other.
Counts = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class AnnotatorScale:
    """How an annotator used the scale.

    Attributes:
        mapping: By point of the scale, the label of the mapping that is chosen for them.
        answers: How often they gave each answer: the points of the scale, ``difficult``, ``skip``.
    """

    mapping: Mapping[str, str]
    answers: Mapping[str, int]


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of two annotators over the three labels, from -1 to 1.

    Attributes:
        annotators: The two.
        n_problems: Number of problems to which both gave a point of the scale.
        symmetric: Kappa by the symmetric mapping, 2-1-2; None where it is undefined.
        chosen: Kappa by the mappings that are chosen; None where it is undefined.
    """

    annotators: tuple[str, str]
    n_problems: int
    symmetric: float | None
    chosen: float | None


@dataclass(frozen=True)
class PatternVerdict:
    """The annotators' judgement of the problems of a pattern.

    Attributes:
        label: The label of the pattern.
        category: Its inference class; None where it has none.
        outcomes: Number of its problems by outcome, as ``kept`` and the reasons of ``agreement``.
        majority: The label that the majority of its decided problems has; None where none has.
        unanimous: Share of its problems, answered by all, to which all gave the pattern's label.
        agreement: Share of the pairs of annotators, over these problems, who gave the same label.
            ``difficult`` and ``skip`` agree with nothing.
        others: How often its problems were answered ``difficult`` and ``skip``.
        status: ``kept``, ``gold differs``, ``low agreement``, ``no majority`` or ``not enough
            answers``.
    """

    label: str
    category: str | None
    outcomes: Mapping[str, int]
    majority: str | None
    unanimous: Share
    agreement: Share
    others: Mapping[str, int]
    status: str


@dataclass(frozen=True)
class Unanimity:
    """Shares of the problems that all annotators labelled with the original label.

    Attributes:
        before: The share of all problems that every annotator answered.
        after: The same without patterns that have no majority label or low agreement.
    """

    before: Share
    after: Share


@dataclass(frozen=True)
class PatternValidation:
    """What annotators make of the labels of patterns.

    Attributes:
        kappa: The mean kappa of the pairs by the chosen mappings; None where none is defined.
        symmetric_kappa: The mean kappa of the pairs by the symmetric mapping.
        annotators: By annotator, how they used the scale.
        pairs: The agreement of each pair of annotators.
        problems: Number of problems by outcome.
        unanimous: The shares over all problems.
        by_label: The same by label.
        by_category: The same by inference class.
        min_agreement: Below this a pattern is of low agreement.
        patterns: By pattern, the verdict on it.
        to_remove: The patterns without a majority, then those of low agreement.
    """

    kappa: float | None
    symmetric_kappa: float | None
    annotators: Mapping[str, AnnotatorScale]
    pairs: Sequence[PairKappa]
    problems: Mapping[str, int]
    unanimous: Unanimity
    by_label: Mapping[str, Unanimity]
    by_category: Mapping[str, Unanimity]
    min_agreement: float
    patterns: Mapping[str, PatternVerdict]
    to_remove: Sequence[str]

    def with_status(self, status: str) -> list[str]:
        """Return the patterns of a status, in order."""
        return [name for name, found in self.patterns.items() if found.status == status]


def measure_patterns(
    batches: Sequence[Batch], answers: Answers, min_agreement: float = MIN_AGREEMENT
) -> PatternValidation:
    """Measure how far annotators agree, and whether they give problems the label of the pattern.

    A pair of annotators is compared where both gave a point of the scale. ``difficult`` and
    ``skip`` are answers without a label: they count among the answers of which a label needs the
    majority, and leave a problem not unanimous.

    Args:
        batches: The batches.
        answers: The answers.
        min_agreement: A pattern is of low agreement where a smaller share of the pairs of
            annotators gave the same label, over all its problems; from 0 to 1.

    Raises:
        UsageError: ``min_agreement`` is not between 0 and 1.

    Source: SpaceNLI, sections 3.1 and 3.2; the bound and its rule are ours.
    """
    if not 0 <= min_agreement <= 1:
        raise UsageError(f"min_agreement is {min_agreement}; expected a share from 0 to 1.")
    others = batches[0].question.others
    people = sorted({person for given in answers.by_key.values() for person in given})
    counts = {pair: Counter[tuple[str, str]]() for pair in combinations(people, 2)}
    for given in answers.by_key.values():
        scaled = sorted(person for person, answer in given.items() if answer in SCALE)
        for one, other in combinations(scaled, 2):
            counts[one, other][given[one], given[other]] += 1
    chosen = choose_mappings(people, counts)
    labelled = {
        key: {name: MAPPINGS[chosen[name]].get(answer, UNCLEAR) for name, answer in given.items()}
        for key, given in answers.by_key.items()
    }
    problems = judge(batches, labelled)

    def verdict(problems: Sequence[Judged]) -> PatternVerdict:
        agreement = share(
            first == second != UNCLEAR
            for one in problems
            if one.is_complete
            for first, second in combinations(one.answers.values(), 2)
        )
        majority, status = _status(problems, agreement, min_agreement)
        given = Counter(a for one in problems for a in answers.by_key[one.key].values())
        return PatternVerdict(
            label=problems[0].label,
            category=problems[0].item.facts["category"],
            outcomes=tally(problems, lambda one: one.outcome, len),
            majority=majority,
            unanimous=_unanimous(problems),
            agreement=agreement,
            others={answer: given[answer] for answer in others},
            status=status,
        )

    patterns = tally(problems, lambda one: one.item.facts["group"], verdict)
    ranked = sorted(patterns, key=lambda name: patterns[name].status == LOW_AGREEMENT)
    to_remove = [name for name in ranked if patterns[name].status in (NO_MAJORITY, LOW_AGREEMENT)]

    def unanimity(problems: Sequence[Judged]) -> Unanimity:
        left = (one for one in problems if one.item.facts["group"] not in to_remove)
        return Unanimity(_unanimous(problems), _unanimous(left))

    def scale(name: str) -> AnnotatorScale:
        given = Counter(people.get(name) for people in answers.by_key.values())
        return AnnotatorScale(MAPPINGS[chosen[name]], {a: given[a] for a in (*SCALE, *others)})

    pairs = []
    for pair, table in counts.items():
        mappings = (SYMMETRIC, SYMMETRIC), (chosen[pair[0]], chosen[pair[1]])
        kappas = (mapped_kappa(table, *names) for names in mappings)
        shown = (None if kappa is None else float(kappa) for kappa in kappas)
        pairs.append(PairKappa(pair, table.total(), *shown))
    classified = [one for one in problems if one.item.facts["category"] is not None]
    return PatternValidation(
        kappa=_mean(pair.chosen for pair in pairs),
        symmetric_kappa=_mean(pair.symmetric for pair in pairs),
        annotators={name: scale(name) for name in people},
        pairs=pairs,
        problems=tally(problems, lambda one: one.outcome, len),
        unanimous=unanimity(problems),
        by_label=tally(problems, lambda one: one.label, unanimity, LABELS),
        by_category=tally(classified, lambda one: one.item.facts["category"], unanimity),
        min_agreement=min_agreement,
        patterns=patterns,
        to_remove=to_remove,
    )


def _unanimous(problems: Iterable[Judged]) -> Share:
    complete = (one for one in problems if one.is_complete)
    return share(set(one.answers.values()) == {one.label} for one in complete)


def _status(
    problems: Sequence[Judged], agreement: Share, min_agreement: float
) -> tuple[str | None, str]:
    """Return the label of the majority of a pattern's decided problems, and its status."""
    decided = Counter(one.majority for one in problems if one.outcome not in UNDECIDED)
    if not decided:
        return None, NOT_ENOUGH_ANSWERS
    ((label, most),) = decided.most_common(1)
    if label in (None, UNCLEAR) or 2 * most <= decided.total():
        return None, NO_MAJORITY
    if agreement.value < min_agreement:
        return label, LOW_AGREEMENT
    return label, KEPT if label == problems[0].label else GOLD_DIFFERS


def mapped_kappa(counts: Counts, first: str, second: str) -> Fraction | None:
    """Return Cohen's kappa of two annotators over the labels of their mappings."""
    labelled = Counter[tuple[str, str]]()
    for (one, other), count in counts.items():
        labelled[MAPPINGS[first][one], MAPPINGS[second][other]] += count
    return cohen_kappa(labelled)


def choose_mappings(
    annotators: Sequence[str], counts: Mapping[tuple[str, str], Counts]
) -> dict[str, str]:
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
            names: mapped_kappa(table, *names) or Fraction(0)
            for names in product(MAPPINGS, repeat=2)
        }
        for pair, table in counts.items()
    }

    def merit(chosen: Mapping[str, str]) -> tuple[Fraction, int]:
        found = (table[chosen[one], chosen[other]] for (one, other), table in kappas.items())
        return sum(found, Fraction(0)), list(chosen.values()).count(SYMMETRIC)

    if len(annotators) <= MAX_EXHAUSTIVE:
        every = product(MAPPINGS, repeat=len(annotators))
        return max((dict(zip(annotators, names, strict=True)) for names in every), key=merit)
    chosen = dict.fromkeys(annotators, SYMMETRIC)
    while True:
        changes = ({**chosen, name: mapping} for name in annotators for mapping in MAPPINGS)
        best = max(changes, key=merit)
        if merit(best)[0] <= merit(chosen)[0]:
            return chosen
        chosen = best


def _mean(kappas: Iterable[float | None]) -> float | None:
    defined = [kappa for kappa in kappas if kappa is not None]
    return fmean(defined) if defined else None
