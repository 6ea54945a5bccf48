"""Keeps the pairs whose gold label agrees with the automatic one, and counts what is missing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import pyarrow as pa

from ...loaders.errors import UsageError
from .candidates import Cell, cells_of
from .judge import KEPT, Judged


@dataclass(frozen=True)
class Gold:
    """The pairs for the evaluation splits, before balancing.

    Attributes:
        rows: The rows of the candidates that are kept, in their order; their ``label`` is the gold
            label too.
        dropped: For every other annotated pair, by id, why it is not kept, one of ``REASONS``.
        counts: How many are kept of each cell.
        quotas: How many each cell has to have at least.
    """

    rows: pa.Table
    dropped: Mapping[str, str]
    counts: Mapping[Cell, int]
    quotas: Mapping[Cell, int]

    @property
    def missing(self) -> dict[Cell, int]:
        """How many each cell still lacks: what the next batch is for."""
        return {cell: max(0, quota - self.counts[cell]) for cell, quota in self.quotas.items()}

    @property
    def is_complete(self) -> bool:
        """Whether every cell has its quota."""
        return not any(self.missing.values())


def choose_gold(
    candidates: pa.Table,
    judged: Sequence[Judged],
    labels: Sequence[str],
    quotas: Mapping[str, int],
) -> Gold:
    """Chooses the pairs to keep: kept and dropped are together all annotated pairs.

    Args:
        candidates: The candidates.
        judged: The pairs of all batches; none before the first.
        labels: The label set. A label without candidates has its quota too.
        quotas: For each split how many pairs each class of each domain has to have at least.

    Returns:
        What is kept, what is dropped and why, and what is missing.

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
    return Gold(
        rows=candidates.filter(pa.array(is_kept, pa.bool_())),
        dropped={pair.id: pair.outcome for pair in judged if pair.outcome != KEPT},
        counts={cell: found[cell] for cell in by_cell},
        quotas=by_cell,
    )
