"""Takes the majority of the answers to each pair, and says what becomes of the pair."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa

from ...loaders.errors import UsageError
from .candidates import UNCLEAR

#: What becomes of a pair whose gold label is the automatic one.
KEPT = "kept"
GOLD_DIFFERS = "gold differs"
UNCLEAR_MAJORITY = "unclear"
NO_MAJORITY = "no majority"
NOT_ENOUGH_ANSWERS = "not enough answers"
NOT_ANNOTATED = "not annotated"
#: Why a pair is not kept. The last two may still be, once there are more answers.
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
        majority: What the majority chose: a label, which is the gold label, or ``unclear``; None
            where nothing has a majority.
        outcome: ``KEPT`` or one of ``REASONS``.
    """

    id: str
    domain: str
    automatic: str
    answers: Mapping[str, str]
    majority: str | None
    outcome: str


def judge(
    candidates: pa.Table, by_pair: Mapping[str, Mapping[str, str]], n_annotators: int
) -> list[Judged]:
    """Judges every pair of the batches.

    Args:
        candidates: The candidates.
        by_pair: The answers by pair and annotator, as ``Answers.by_pair`` has them.
        n_annotators: How many annotators are asked for each pair.

    Returns:
        The pairs, in the order of their ids.

    Raises:
        UsageError: A pair is no candidate.

    Source:
        SciNLI, section 3.3.
    """
    columns = (candidates[name].to_pylist() for name in ("id", "domain", "label"))
    known = {id_: (domain, label) for id_, domain, label in zip(*columns, strict=True)}
    if unknown := sorted(by_pair.keys() - known.keys()):
        raise UsageError(
            f"{len(unknown):,} annotated pairs are no candidates, {unknown[0]!r} among them; "
            "build from the papers and with the seed of the batches."
        )
    judged = []
    for id_, answers in sorted(by_pair.items()):
        domain, automatic = known[id_]
        majority, outcome = _decide(automatic, answers.values(), n_annotators)
        judged.append(Judged(id_, domain, automatic, answers, majority, outcome))
    return judged


def _decide(automatic: str, answers: Collection[str], n_annotators: int) -> tuple[str | None, str]:
    """The majority, and what becomes of a pair.

    A majority is more than half of the annotators who are asked, so that the answers that are
    missing cannot undo it: 2 of 3. Where more have answered than were asked, more than half of
    them. "unclear" is an answer like the labels, but no gold label.
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
