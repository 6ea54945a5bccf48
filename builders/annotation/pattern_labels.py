"""Whether annotators agree with each other, and give problems the label of their pattern.

Source: SpaceNLI, section 3.1 (a mapping of the scale for each annotator, problems without a
majority label) and section 3.2 (problems unanimously labelled with the original label, before and
after patterns of relatively low agreement are left out).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import pyarrow as pa

from ...loaders.corpora.patterns.pattern_bank import LABELS
from ...loaders.errors import UsageError
from ..procedures.patterns.answer_scale import (
    SCALE,
    SYMMETRIC,
    ScaleMapping,
    choose_mappings,
    mapped_kappa,
)
from .agreement import Share
from .candidates import UNCLEAR
from .gold import (
    GOLD_DIFFERS,
    KEPT,
    NO_MAJORITY,
    NOT_ENOUGH_ANSWERS,
    REASONS,
    UNDECIDED,
    judge_pairs,
)
from .questions import EXTENT_OF_TRUTH

LOW_AGREEMENT = "low agreement"
#: A pattern is of low agreement below this share of agreeing pairs of annotators. The paper gives
#: no bound. Of three problems and three annotators it admits one deviating answer, not two in
#: different problems.
MIN_AGREEMENT = 2 / 3
#: The answers beside the scale.
OTHERS = tuple(EXTENT_OF_TRUTH.others)


@dataclass(frozen=True)
class AnnotatorScale:
    """How an annotator used the scale.

    Attributes:
        mapping: The mapping of the scale onto the labels that is chosen for them.
        answers: How often they gave each answer: the points of the scale, ``difficult``, ``skip``.
    """

    mapping: ScaleMapping
    answers: Mapping[str, int]


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of two annotators over the three labels, from -1 to 1.

    Attributes:
        n_problems: Number of problems to which both gave a point of the scale.
        symmetric: Kappa by the symmetric mapping, 2-1-2; None where it is undefined.
        chosen: Kappa by the mappings that are chosen; None where it is undefined.
    """

    n_problems: int
    symmetric: float | None
    chosen: float | None


@dataclass(frozen=True)
class PatternVerdict:
    """The annotators' judgement of the problems of a pattern.

    Attributes:
        label: The label of the pattern.
        category: Its inference class; None where it has none.
        outcomes: Number of its problems by outcome, as ``kept`` and the reasons of ``gold``.
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
        annotators: By annotator, how they used the scale.
        kappas: By pair of annotators, their agreement.
        patterns: By pattern, the verdict on it.
        outcomes: Number of problems by outcome.
        unanimity: The shares over all problems.
        by_label: The same by label, of those that the problems have.
        by_category: The same by inference class.
        min_agreement: Below this a pattern is of low agreement.
    """

    annotators: Mapping[str, AnnotatorScale]
    kappas: Mapping[tuple[str, str], PairKappa]
    patterns: Mapping[str, PatternVerdict]
    outcomes: Mapping[str, int]
    unanimity: Unanimity
    by_label: Mapping[str, Unanimity]
    by_category: Mapping[str, Unanimity]
    min_agreement: float

    @property
    def kappa(self) -> float | None:
        """The mean kappa of the pairs by the chosen mappings; None where none is defined."""
        return _mean(one.chosen for one in self.kappas.values())

    @property
    def symmetric_kappa(self) -> float | None:
        """The mean kappa of the pairs by the symmetric mapping; None where none is defined."""
        return _mean(one.symmetric for one in self.kappas.values())

    def with_status(self, status: str) -> list[str]:
        """Return the patterns of a status, in order."""
        return [name for name, found in self.patterns.items() if found.status == status]

    def as_json(self) -> dict[str, Any]:
        """Return all figures in plain types, an undefined number as None."""
        return {
            "kappa": self.kappa,
            "symmetric_kappa": self.symmetric_kappa,
            "annotators": {
                name: {"mapping": one.mapping.label_of, "answers": dict(one.answers)}
                for name, one in self.annotators.items()
            },
            "pairs": [
                {"annotators": list(pair), **asdict(one)} for pair, one in self.kappas.items()
            ],
            "problems": dict(self.outcomes),
            "unanimous": _plain(self.unanimity),
            "by_label": {name: _plain(one) for name, one in self.by_label.items()},
            "by_category": {name: _plain(one) for name, one in self.by_category.items()},
            "min_agreement": self.min_agreement,
            "patterns": {name: _plain(one) for name, one in self.patterns.items()},
            "to_remove": [*self.with_status(NO_MAJORITY), *self.with_status(LOW_AGREEMENT)],
        }


def measure_patterns(
    problems: pa.Table,
    by_problem: Mapping[str, Mapping[str, str]],
    n_annotators: int,
    min_agreement: float = MIN_AGREEMENT,
) -> PatternValidation:
    """Measure how far annotators agree, and whether they give problems the label of the pattern.

    A pair of annotators is compared where both gave a point of the scale. ``difficult`` and
    ``skip`` are answers without a label: they count among the answers of which a label needs the
    majority, and leave a problem not unanimous.

    Args:
        problems: The problems that were asked about, from ``read_problems``.
        by_problem: The answers by problem and annotator.
        n_annotators: How many annotators were asked about each problem.
        min_agreement: A pattern is of low agreement where a smaller share of the pairs of
            annotators gave the same label, over all its problems; from 0 to 1.

    Raises:
        UsageError: ``min_agreement`` is not between 0 and 1.

    Source: SpaceNLI, sections 3.1 and 3.2; the bound and its rule are ours.
    """
    if not 0 <= min_agreement <= 1:
        raise UsageError(f"min_agreement is {min_agreement}; expected a share from 0 to 1.")
    annotators = sorted({name for given in by_problem.values() for name in given})
    counts = _count_pairs(annotators, by_problem)
    mappings = choose_mappings(annotators, counts)
    labelled = {
        id_: {name: mappings[name].label_of.get(answer, UNCLEAR) for name, answer in given.items()}
        for id_, given in by_problem.items()
    }
    outcome_of = {one.id: one for one in judge_pairs(problems, labelled, n_annotators)}
    rows: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(problems.to_pylist(), key=lambda row: row["id"]):
        answers = labelled[row["id"]]
        is_complete = len(answers) >= n_annotators
        given = list(answers.values())
        rows[row["group"]].append(
            {
                **row,
                "outcome": outcome_of[row["id"]].outcome,
                "majority": outcome_of[row["id"]].majority,
                "is_complete": is_complete,
                "is_unanimous": is_complete and set(given) == {row["label"]},
                "agreeing": [
                    one == other != UNCLEAR for one, other in combinations(given, 2) if is_complete
                ],
                "raw": list(by_problem[row["id"]].values()),
            }
        )
    patterns = {name: _verdict(found, min_agreement) for name, found in sorted(rows.items())}
    flat = [row for found in rows.values() for row in found]
    removed = {name for name, one in patterns.items() if one.status in (NO_MAJORITY, LOW_AGREEMENT)}
    categories = sorted({row["category"] for row in flat if row["category"] is not None})
    given_answers = {
        name: Counter(given[name] for given in by_problem.values() if name in given)
        for name in annotators
    }
    return PatternValidation(
        annotators={
            name: AnnotatorScale(
                mappings[name],
                {answer: given_answers[name][answer] for answer in (*SCALE, *OTHERS)},
            )
            for name in annotators
        },
        kappas={
            (one, other): PairKappa(
                sum(map(sum, table)),
                _as_float(mapped_kappa(table, SYMMETRIC, SYMMETRIC)),
                _as_float(mapped_kappa(table, mappings[one], mappings[other])),
            )
            for (one, other), table in counts.items()
        },
        patterns=patterns,
        outcomes=_count_outcomes(flat),
        unanimity=_unanimity(flat, removed),
        by_label={
            x: _unanimity((r for r in flat if r["label"] == x), removed)
            for x in LABELS
            if any(r["label"] == x for r in flat)
        },
        by_category={
            x: _unanimity((r for r in flat if r["category"] == x), removed) for x in categories
        },
        min_agreement=min_agreement,
    )


def _count_pairs(
    annotators: Sequence[str], by_problem: Mapping[str, Mapping[str, str]]
) -> dict[tuple[str, str], list[list[int]]]:
    """Return for each pair of annotators how often they gave which two points of the scale."""
    points = {answer: point for point, answer in enumerate(SCALE)}
    counts = {pair: [[0] * len(SCALE) for _ in SCALE] for pair in combinations(annotators, 2)}
    for given in by_problem.values():
        scaled = {name: points[answer] for name, answer in given.items() if answer in points}
        for one, other in combinations(sorted(scaled), 2):
            counts[one, other][scaled[one]][scaled[other]] += 1
    return counts


def _verdict(rows: Sequence[Mapping[str, Any]], min_agreement: float) -> PatternVerdict:
    outcomes = _count_outcomes(rows)
    n_decided = sum(number for outcome, number in outcomes.items() if outcome not in UNDECIDED)
    majorities = Counter(row["majority"] for row in rows if row["majority"] not in (None, UNCLEAR))
    ((first, most),) = majorities.most_common(1) or [(None, 0)]
    majority = first if 2 * most > n_decided else None
    pairs = [agrees for row in rows for agrees in row["agreeing"]]
    agreement = Share(sum(pairs), len(pairs))
    label = rows[0]["label"]
    if not n_decided:
        status = NOT_ENOUGH_ANSWERS
    elif majority is None:
        status = NO_MAJORITY
    elif agreement.value < min_agreement:
        status = LOW_AGREEMENT
    else:
        status = KEPT if majority == label else GOLD_DIFFERS
    raw = Counter(answer for row in rows for answer in row["raw"])
    return PatternVerdict(
        label=label,
        category=rows[0]["category"],
        outcomes=outcomes,
        majority=majority,
        unanimous=_share_unanimous(rows),
        agreement=agreement,
        others={answer: raw[answer] for answer in OTHERS},
        status=status,
    )


def _count_outcomes(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    counts = Counter(row["outcome"] for row in rows)
    return {outcome: counts[outcome] for outcome in (KEPT, *REASONS) if counts[outcome]}


def _unanimity(rows: Iterable[Mapping[str, Any]], removed: Collection[str]) -> Unanimity:
    found = list(rows)
    after = [row for row in found if row["group"] not in removed]
    return Unanimity(_share_unanimous(found), _share_unanimous(after))


def _share_unanimous(rows: Iterable[Mapping[str, Any]]) -> Share:
    complete = [row["is_unanimous"] for row in rows if row["is_complete"]]
    return Share(sum(complete), len(complete))


def _mean(kappas: Iterable[float | None]) -> float | None:
    found = [kappa for kappa in kappas if kappa is not None]
    return sum(found) / len(found) if found else None


def _as_float(kappa: Any) -> float | None:
    return None if kappa is None else float(kappa)


def _plain(found: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in found.__dataclass_fields__:
        value = getattr(found, name)
        if isinstance(value, Share):
            value = {**asdict(value), "value": value.value if value.of else None}
        values[name] = value
    return values
