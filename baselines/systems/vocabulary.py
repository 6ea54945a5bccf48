"""The vocabulary of a neural model: its stems, their ids, and rows encoded as ids."""

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import pyarrow as pa

from ...loaders.errors import SchemaError, UsageError
from .words import check_view, check_words, read_saved, stem_tokens, write_saved

PREMISE_IDS = "premise_ids"
HYPOTHESIS_IDS = "hypothesis_ids"

PADDING_ID = 0
UNKNOWN_ID = 1
_N_SPECIAL = 2

#: Minimum number of occurrences of a stem in training (SciNLI, section 4.1).
MIN_COUNT = 2

_FIELD = "stems"


@dataclass(frozen=True)
class Vocabulary:
    """Stems and their ids; id 0 is padding, id 1 is [UNK], which stands for every other stem.

    Attributes:
        stems: The stems that have an id of their own, in the order of their ids, which start at 2.

    Raises:
        UsageError: A stem is not a string, is empty or is repeated.
    """

    stems: tuple[str, ...]

    def __post_init__(self) -> None:
        check_words(self.stems, _FIELD)

    @classmethod
    def build(cls, texts: Iterable[str], min_count: int = MIN_COUNT) -> "Vocabulary":
        """Collect the stems of the training set.

        Args:
            texts: The texts that the model sees: premises and hypotheses, or hypotheses alone.
            min_count: Minimum number of occurrences of a stem over all texts, from 1.

        Returns:
            The vocabulary, the most frequent stems first, equally frequent ones in the order of
            their characters; the order of the texts does not matter.

        Raises:
            UsageError: ``min_count`` is below 1, or ``texts`` is a single string.

        Source: SciNLI, section 4.1.
        """
        if min_count < 1:
            raise UsageError(f"min_count: expected a number from 1, got {min_count!r}.")
        if isinstance(texts, str):
            raise UsageError("texts: expected a list of texts, got one text.")
        counts = Counter(chain.from_iterable(map(stem_tokens, texts)))
        kept = (stem for stem, count in counts.items() if count >= min_count)
        return cls(tuple(sorted(kept, key=lambda stem: (-counts[stem], stem))))

    def __len__(self) -> int:
        """Return the number of ids, padding and [UNK] included."""
        return len(self.stems) + _N_SPECIAL

    @cached_property
    def ids(self) -> dict[str, int]:
        """Return the id of each stem."""
        return {stem: number for number, stem in enumerate(self.stems, _N_SPECIAL)}

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text's stems; one [UNK] if the text has no token.

        >>> Vocabulary(("model", "improv")).encode("Models improve greatly")
        [2, 3, 1]
        """
        return [self.ids.get(stem, UNKNOWN_ID) for stem in stem_tokens(text)] or [UNKNOWN_ID]

    def save(self, path: Path) -> None:
        """Write the vocabulary as JSON."""
        write_saved(path, {_FIELD: self.stems})

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read a vocabulary that ``save`` wrote.

        Raises:
            SourceNotFoundError: There is no such file.
            UsageError: The file is not that of a vocabulary.
        """
        return cls(check_words(read_saved(path, [_FIELD])[_FIELD], f"{path}: {_FIELD}"))


def encode_pairs(table: pa.Table, vocabulary: Vocabulary, view: str = "pair") -> pa.Table:
    """Encode pairs of texts as ids of their stems.

    Args:
        table: n rows with the string columns ``premise`` and ``hypothesis``; the view
            ``"hypothesis"`` does not need the premise.
        vocabulary: The stems that the model knows.
        view: ``"pair"``, or ``"hypothesis"``, which makes every premise one [UNK], so that the same
            models learn from the hypothesis alone.

    Returns:
        n rows in the same order with the columns ``premise_ids`` and ``hypothesis_ids``, each
        ``list<int32>``. No list is empty, and none is truncated or padded.

    Raises:
        SchemaError: A column is missing, does not hold strings, or has nulls.
        UnknownNameError: There is no such view.
    """
    check_view(view)
    hypotheses = _encode_texts(_texts(table, "hypothesis"), vocabulary)
    if view == "pair":
        premises = _encode_texts(_texts(table, "premise"), vocabulary)
    else:
        premises = _as_lists([UNKNOWN_ID] for _ in range(len(table)))
    return pa.table({PREMISE_IDS: premises, HYPOTHESIS_IDS: hypotheses})


def _texts(table: pa.Table, name: str) -> pa.ChunkedArray:
    if name not in table.column_names:
        listed = ", ".join(table.column_names) or "none"
        raise SchemaError(f"The column {name} is missing; the columns are: {listed}.")
    column = table[name]
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise SchemaError(f"{name}: expected strings, got {column.type}.")
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise SchemaError(
            f"{name}: row {row} is null, expected a text ({column.null_count} nulls)."
        )
    return column


def _encode_texts(texts: pa.ChunkedArray, vocabulary: Vocabulary) -> pa.ListArray:
    return _as_lists(vocabulary.encode(text.as_py()) for text in texts)


def _as_lists(rows: Iterable[list[int]]) -> pa.ListArray:
    # Flat buffers: a list of a hundred thousand lists of Python's integers takes ten times as much.
    ends, values = array("i", [0]), array("i")
    for row in rows:
        values.extend(row)
        ends.append(len(values))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values, pa.int32()))
