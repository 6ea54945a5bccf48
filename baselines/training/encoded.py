"""Rows as token ids, and batches of them as tensors."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
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
    ) -> dict[str, torch.Tensor]:
        """The inputs of a model for some rows.

        Args:
            rows: Positions of b rows.
            multiple: Of which the padded length is one, unless the model reads fewer tokens.
            length: To which all are padded; None pads to the longest of them.

        Returns:
            For each input a tensor of int64, b x the padded length; the mask too, if there is one.
        """
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
