"""An order of test rows of which any beginning is a fair sample."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...builders.core.keyed import keyed_number

_SEED = 1


def interleave(rows: pa.Table) -> npt.NDArray[np.int64]:
    """Order rows so that any beginning of them is a fair sample.

    Args:
        rows: n rows with ``id``, ``label`` and ``group``.

    Returns:
        The n numbers of the rows. Where each group has one label (patterns), one row of every group
        comes first, then a second of each, ...; where a group has several (mechanisms), whole
        groups follow each other; where there are none, the labels take turns. What comes first
        among equals is decided by keyed hashes of ids and groups.
    """
    ids = rows["id"].to_pylist()
    drawn = np.array([keyed_number(_SEED, "order of a task", id_) for id_ in ids], np.uint64)
    groups = rows["group"].to_pylist()
    labels = rows["label"].to_pylist()
    if (
        groups
        and groups[0] is not None
        and len(set(zip(groups, labels, strict=True))) > len(set(groups))
    ):
        of_group = {g: keyed_number(_SEED, "groups of a task", g) for g in set(groups)}
        return np.lexsort((drawn, np.array([of_group[g] for g in groups], np.uint64)))
    kinds: Sequence[object] = groups if groups and groups[0] is not None else labels
    _, codes = np.unique(np.array(kinds), return_inverse=True)
    by_kind = np.lexsort((drawn, codes))
    starts = np.searchsorted(codes[by_kind], codes[by_kind])
    turn = np.empty(len(ids), np.int64)
    turn[by_kind] = np.arange(len(ids)) - starts
    return np.lexsort((drawn, turn))
