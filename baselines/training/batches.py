"""Which rows go together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

#: Batches whose rows are sorted by length among themselves: enough for little padding (see
#: ``benchmarks/``), few enough that the batches of an epoch stay random.
_N_SORTED_TOGETHER = 50


if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class EncodedRows:
    """Token ids of rows, without padding.

    Attributes:
        columns: For each input of the model, a list of ids a row.
        padding: The id that fills up each of them.
        labels: n label ids.
        lengths: n numbers of tokens, of the longest column of each row.
        mask: The input that marks the tokens of the first column that are no padding, if the model
            has one.
        pads_left: Whether padding stands before the tokens, as XLNet needs it.
        limit: Tokens that the model reads at most, padding included; None where there is no limit.
    """

    columns: Mapping[str, pa.ListArray]
    padding: Mapping[str, int]
    labels: np.ndarray
    lengths: np.ndarray
    mask: str | None = None
    pads_left: bool = False
    limit: int | None = None

    @classmethod
    def of_table(
        cls,
        table: pa.Table,
        labels: np.ndarray,
        padding: Mapping[str, int],
        mask: str | None = None,
        *,
        pads_left: bool = False,
        limit: int | None = None,
    ) -> "EncodedRows":
        """Encoded rows.

        Args:
            table: A column of lists of int32 for each input.
            labels: n label ids.
            padding: The id that fills up each of the columns.
            mask: See the class.
            pads_left: See the class.
            limit: See the class.
        """
        columns = {name: _one_array(table[name]) for name in table.column_names}
        sizes = [np.diff(column.offsets.to_numpy()) for column in columns.values()]
        lengths = np.maximum.reduce(sizes) if len(labels) else np.zeros(0, np.int32)
        return cls(columns, padding, labels, lengths, mask, pads_left, limit)

    def __len__(self) -> int:
        return len(self.labels)

    def batch(
        self, rows: np.ndarray, *, multiple: int = 1, length: int | None = None
    ) -> "dict[str, torch.Tensor]":
        """The inputs of a model for some rows.

        Args:
            rows: Positions of b rows.
            multiple: Of which the padded length is one, unless the model reads fewer tokens.
            length: To which all are padded; None pads to the longest of them.

        Returns:
            For each input a tensor of int64, b x the padded length; the mask too, if there is one.
        """
        import torch

        inputs = {}
        for name, column in self.columns.items():
            starts = column.offsets.to_numpy()
            sizes = starts[rows + 1] - starts[rows]
            width = length or self._width(max(int(sizes.max()), 1), multiple)
            skipped = (width - sizes if self.pads_left else np.zeros_like(sizes))[:, None]
            position = np.arange(width) - skipped
            is_token = (position >= 0) & (position < sizes[:, None])
            filled = np.full(is_token.shape, self.padding[name], np.int64)
            at = starts[rows][:, None] + position
            filled[is_token] = column.values.to_numpy()[at[is_token]]
            inputs[name] = torch.from_numpy(filled)
            if self.mask is not None and self.mask not in inputs:
                inputs[self.mask] = torch.from_numpy(is_token.astype(np.int64))
        return inputs

    def _width(self, longest: int, multiple: int) -> int:
        width = -(-longest // multiple) * multiple
        return width if self.limit is None else max(min(width, self.limit), longest)


def _one_array(column: pa.ChunkedArray) -> pa.ListArray:
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # as some versions of pyarrow give it
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], column.type)
    return pa.concat_arrays([array]) if array.offset else array


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
