"""Which rows go together."""

from collections.abc import Iterator

import numpy as np

#: Batches whose rows are sorted by length among themselves: enough for little padding (see
#: ``benchmarks/``), few enough that the batches of an epoch stay random.
_N_SORTED_TOGETHER = 50


def training_batches(
    lengths: np.ndarray, batch_size: int, seed: int, epoch: int, *, by_length: bool = True
) -> list[np.ndarray]:
    """The batches of an epoch: every row once, in an order that seed and epoch decide.

    Args:
        lengths: Tokens of each of n rows.
        batch_size: Rows of a batch; the last one may have fewer.
        seed: Of the run.
        epoch: From 1.
        by_length: Whether rows of like length go together, so that little is padding. Otherwise
            every batch is a simple random sample.

    Returns:
        Positions of rows, batch by batch.
    """
    draws = np.random.default_rng([seed, epoch])
    order = draws.permutation(len(lengths))
    if not by_length:
        return _cut(order, batch_size)
    batches: list[np.ndarray] = []
    for rows in _cut(order, batch_size * _N_SORTED_TOGETHER):
        batches += _cut(rows[np.argsort(lengths[rows], kind="stable")], batch_size)
    return [batches[index] for index in draws.permutation(len(batches))]


def _cut(rows: np.ndarray, size: int) -> list[np.ndarray]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def prediction_batches(lengths: np.ndarray, max_tokens: int, max_rows: int) -> Iterator[np.ndarray]:
    """Batches of rows of like length, the longest first, so that short memory shows at once.

    Args:
        lengths: Tokens of each of n rows.
        max_tokens: Of a batch, padding included, unless one row alone has more.
        max_rows: Of a batch.

    Yields:
        Positions of rows.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        n_rows = min(max(max_tokens // max(int(lengths[order[start]]), 1), 1), max_rows)
        yield order[start : start + n_rows]
        start += n_rows
