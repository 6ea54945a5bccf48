"""Draws the next batch of pairs to annotate, balanced, and in an order that tells nothing."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa

from ...loaders.errors import UsageError
from ..core.keyed import keyed_hash
from .candidates import Cell, cells_of


@dataclass(frozen=True)
class Draw:
    """What was drawn.

    Attributes:
        pairs: Rows of the candidates, in an order that tells nothing of their labels.
        short: For every cell that had fewer pairs left than its share, how many it lacked.
    """

    pairs: pa.Table
    short: Mapping[Cell, int]


def draw_batch(
    candidates: pa.Table,
    done: Collection[str],
    missing: Mapping[Cell, int],
    size_per_class: int,
    seed: int,
) -> Draw:
    """Draws the same number of pairs of every class and domain.

    That number is shared out over the splits in proportion to what each still lacks (largest
    remainders). A cell that lacks nothing gets no more; one with too few pairs left gives what it
    has. Which pairs and in which order is decided by keyed hashes of their ids: the order of the
    rows does not matter.

    Args:
        candidates: The candidates, as ``check_candidates`` wants them.
        done: Ids of the pairs that were in an earlier batch.
        missing: For every cell how many gold pairs it still lacks, as ``Gold.missing`` has it.
        size_per_class: Pairs for each class of each domain, over all splits; 1 or more.
        seed: The key of the hashes.

    Returns:
        The pairs, and where there were too few.

    Raises:
        UsageError: The size is below 1, or a candidate's cell is not among those in ``missing``.

    Source:
        SciNLI, section 3.3: each iteration takes a balanced random sample.
    """
    if size_per_class < 1:
        raise UsageError(f"size_per_class is {size_per_class}; expected 1 or more.")
    earlier = frozenset(done)
    left: dict[Cell, list[tuple[bytes, int]]] = defaultdict(list)
    ids = candidates["id"].to_pylist()
    for row, (id_, cell) in enumerate(zip(ids, cells_of(candidates), strict=True)):
        if cell not in missing:
            raise UsageError(f"The pair {id_!r} is of {cell}, for which there is no quota.")
        if id_ not in earlier:
            left[cell].append((keyed_hash(id_, str(seed), "draw"), row))
    rows: list[int] = []
    short: dict[Cell, int] = {}
    for cell, share in _shares(missing, size_per_class).items():
        drawn = sorted(left[cell])[:share]
        rows += (row for _, row in drawn)
        if len(drawn) < share:
            short[cell] = share - len(drawn)
    rows.sort(key=lambda row: keyed_hash(ids[row], str(seed), "order"))
    return Draw(candidates.take(pa.array(rows, pa.int64())), short)


def _shares(missing: Mapping[Cell, int], size_per_class: int) -> dict[Cell, int]:
    """How many pairs each cell is asked for."""
    together: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in sorted(missing):
        together[cell.domain, cell.label].append(cell)
    shares: dict[Cell, int] = {}
    for cells in together.values():
        total = sum(missing[cell] for cell in cells)
        if not total:
            continue
        wanted = {cell: divmod(size_per_class * missing[cell], total) for cell in cells}
        by_remainder = sorted(cells, key=lambda cell: -wanted[cell][1])
        n_more = size_per_class - sum(whole for whole, _ in wanted.values())
        shares |= {cell: whole for cell, (whole, _) in wanted.items()}
        for cell in by_remainder[:n_more]:
            shares[cell] += 1
    return shares
