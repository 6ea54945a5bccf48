"""Majority answers, and the pairs whose gold label is the automatic one: kept and missing."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import pyarrow as pa

from ...loaders.errors import UsageError
from .candidates import UNCLEAR, Cell, cells_of

#: Outcome of a pair whose gold label is the automatic one.
KEPT = "kept"
GOLD_DIFFERS = "gold differs"
UNCLEAR_MAJORITY = "unclear"
NO_MAJORITY = "no majority"
NOT_ENOUGH_ANSWERS = "not enough answers"
NOT_ANNOTATED = "not annotated"
#: Why a pair is not kept. The last two may still be kept, once there are more answers.
REASONS = {
    GOLD_DIFFERS: "the majority chose another label than the automatic one",
    UNCLEAR_MAJORITY: "to the majority the two sentences do not tell the relation",
    NO_MAJORITY: "no label can have a majority any more",
    NOT_ENOUGH_ANSWERS: "no label has a majority, but one could with the answers that are missing",
    NOT_ANNOTATED: "nobody has answered",
}

UNDECIDED = frozenset({NOT_ENOUGH_ANSWERS, NOT_ANNOTATED})


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair that was given to annotators.

    Attributes:
        id: Its id.
        domain: Its domain.
        automatic: Its automatic label.
        answers: The answers by annotator.
        majority: The answer of the majority: a label, which is the gold label, or ``unclear``; None
            where no answer has a majority.
        outcome: ``KEPT`` or one of ``REASONS``.
    """

    id: str
    domain: str
    automatic: str
    answers: Mapping[str, str]
    majority: str | None
    outcome: str


@dataclass(frozen=True)
class GoldPairs:
    """The annotated pairs for the evaluation splits, before balancing.

    Attributes:
        rows: The candidates that are kept, in their order; their ``label`` is the gold label too.
        dropped: For every other annotated pair, by id, why it is not kept, one of ``REASONS``.
        counts: Number of kept pairs of each cell.
        quotas: Number of pairs that each cell must have at least.
    """

    rows: pa.Table
    dropped: Mapping[str, str]
    counts: Mapping[Cell, int]
    quotas: Mapping[Cell, int]

    @property
    def missing(self) -> dict[Cell, int]:
        """The number of pairs that each cell still lacks, for the next batch."""
        return {cell: max(0, quota - self.counts[cell]) for cell, quota in self.quotas.items()}

    @property
    def is_complete(self) -> bool:
        """Whether every cell has its quota."""
        return not any(self.missing.values())


def judge_pairs(
    candidates: pa.Table, by_pair: Mapping[str, Mapping[str, str]], n_annotators: int
) -> list[Judged]:
    """Judge every annotated pair by the majority of its answers, in the order of their ids.

    Args:
        candidates: The candidates.
        by_pair: The answers by pair and annotator, ``Answers.by_pair``.
        n_annotators: How many annotators are asked for each pair.

    Raises:
        UsageError: A pair is not a candidate.

    Source: SciNLI, section 3.3.
    """
    columns = (candidates[name].to_pylist() for name in ("id", "domain", "label"))
    known = {id_: (domain, label) for id_, domain, label in zip(*columns, strict=True)}
    if unknown := sorted(by_pair.keys() - known.keys()):
        raise UsageError(
            f"{len(unknown):,} annotated pairs are not candidates, {unknown[0]!r} among them; "
            "give the version that the batches were drawn from."
        )
    judged = []
    for id_, answers in sorted(by_pair.items()):
        domain, automatic = known[id_]
        majority, outcome = _decide(automatic, answers.values(), n_annotators)
        judged.append(Judged(id_, domain, automatic, answers, majority, outcome))
    return judged


def choose_gold(
    candidates: pa.Table,
    judged: Sequence[Judged],
    labels: Sequence[str],
    quotas: Mapping[str, int],
) -> GoldPairs:
    """Choose the annotated pairs to keep; kept and dropped ones together are all.

    Args:
        candidates: The candidates.
        judged: The judged pairs of all batches; empty before the first.
        labels: The label set. A label without candidates has its quota too.
        quotas: By split, the number of pairs that each class of each domain must have at least.

    Raises:
        UsageError: There are no candidates, a quota is negative, or a split of the candidates has
            none.

    Source:
        SciNLI, section 3.3: 1,500 or more of each class; MSciNLI: of each class and domain 50 for
        validation and 200 for test.
    """
    cells = cells_of(candidates)
    if not cells:
        raise UsageError("There are no candidates for the evaluation splits.")
    if unknown := {cell.split for cell in cells} - quotas.keys():
        raise UsageError(f"There is no quota for the split {', '.join(sorted(unknown))}.")
    if any(quota < 0 for quota in quotas.values()):
        raise UsageError(f"The quotas are {dict(quotas)}; expected 0 or more.")
    domains = sorted({cell.domain for cell in cells})
    by_cell = {Cell(*names): quotas[names[0]] for names in product(quotas, domains, labels)}
    kept = {pair.id for pair in judged if pair.outcome == KEPT}
    is_kept = [id_ in kept for id_ in candidates["id"].to_pylist()]
    found = Counter(cell for cell, keep in zip(cells, is_kept, strict=True) if keep)
    return GoldPairs(
        rows=candidates.filter(pa.array(is_kept, pa.bool_())),
        dropped={pair.id: pair.outcome for pair in judged if pair.outcome != KEPT},
        counts={cell: found[cell] for cell in by_cell},
        quotas=by_cell,
    )


def _decide(automatic: str, answers: Collection[str], n_annotators: int) -> tuple[str | None, str]:
    """Return the majority and the outcome of a pair.

    A majority is more than half of the annotators who are asked, so that missing answers cannot
    undo it: 2 of 3. Where more have answered than were asked, it is more than half of those who
    answered. "unclear" is an answer like the labels, but never a gold label.
    """
    if not answers:
        return None, NOT_ANNOTATED
    n_voters = max(n_annotators, len(answers))
    quorum = n_voters // 2 + 1
    ((first, most),) = Counter(answers).most_common(1)
    if most >= quorum:
        if first == UNCLEAR:
            return first, UNCLEAR_MAJORITY
        return first, KEPT if first == automatic else GOLD_DIFFERS
    may_reach_it = most + n_voters - len(answers) >= quorum
    return None, NOT_ENOUGH_ANSWERS if may_reach_it else NO_MAJORITY
