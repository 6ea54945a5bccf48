"""The vocabulary of a neural model: its stems, rows encoded as their ids, and word vectors."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from ...loaders.errors import SourceNotFoundError, UsageError
from ..evaluation.gold import check_texts
from ..runs.config import VIEWS, check_choice
from .words import check_word_list, read_model_json, stem, stem_words, write_model_json

PADDING_ID = 0
UNKNOWN_ID = 1
_N_SPECIAL = 2

#: Minimum number of occurrences of a stem in training (SciNLI, section 4.1).
MIN_COUNT = 2

_FIELD = "stems"

#: Standard deviation of the word vectors that are drawn; the paper starts all from GloVe's.
VECTORS_DEVIATION = 0.1


@dataclass(frozen=True)
class Vocabulary:
    """Stems and their ids; id 0 is padding, id 1 is [UNK], which stands for every other stem.

    Attributes:
        stems: The stems in the order of their ids, which start at 2.

    Raises:
        UsageError: A stem is not a string, is empty or is repeated.
    """

    stems: tuple[str, ...]

    def __post_init__(self) -> None:
        check_word_list(self.stems, _FIELD)

    @classmethod
    def build(cls, texts: Iterable[str], min_count: int = MIN_COUNT) -> "Vocabulary":
        """Collect the stems of the training set.

        Args:
            texts: The texts that the model sees: premises and hypotheses, or hypotheses alone.
            min_count: Minimum number of occurrences of a stem over all texts, from 1.

        Returns:
            The vocabulary: the most frequent stems first, equally frequent ones by characters.

        Raises:
            UsageError: ``min_count`` is below 1, or ``texts`` is a single string.

        Source: SciNLI, section 4.1.
        """
        if min_count < 1:
            raise UsageError(f"min_count: expected a number from 1, got {min_count!r}.")
        if isinstance(texts, str):
            raise UsageError("texts: expected a list of texts, got one text.")
        counts = Counter(chain.from_iterable(map(stem_words, texts)))
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
        return [self.ids.get(stem, UNKNOWN_ID) for stem in stem_words(text)] or [UNKNOWN_ID]

    def save(self, path: Path) -> None:
        """Write the vocabulary as JSON."""
        write_model_json(path, {_FIELD: self.stems})

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read a vocabulary that ``save`` wrote.

        Raises:
            SourceNotFoundError: There is no such file.
            UsageError: The file is not that of a vocabulary.
        """
        return cls(check_word_list(read_model_json(path, [_FIELD])[_FIELD], f"{path}: {_FIELD}"))


def encode_stems(table: pa.Table, vocabulary: Vocabulary, view: str = "pair") -> pa.Table:
    """Encode pairs of texts as ids of their stems.

    Args:
        table: n rows with the columns ``premise``, except for the view ``"hypothesis"``, and
            ``hypothesis``.
        vocabulary: The stems that the model knows.
        view: ``"pair"``, or ``"hypothesis"``, which makes every premise one [UNK], so that the same
            models learn from the hypothesis alone.

    Returns:
        n rows with the columns ``premise_ids`` and ``hypothesis_ids``, each ``list<int32>``; no
        list is empty, truncated or padded.

    Raises:
        SchemaError: A column is missing, does not hold strings, or has nulls.
        UnknownNameError: There is no such view.
    """
    check_choice("view", view, VIEWS)
    names = ("premise", "hypothesis") if view == "pair" else ("hypothesis",)
    check_texts(table, "The table to encode", names)
    columns = {
        f"{name}_ids": _as_lists(vocabulary.encode(text.as_py()) for text in table[name])
        for name in names
    }
    unknown = _as_lists([UNKNOWN_ID] for _ in range(len(table)))
    return pa.table({"premise_ids": unknown, **columns})


def _as_lists(rows: Iterable[list[int]]) -> pa.ListArray:
    # Flat buffers: a list of a hundred thousand lists of Python's integers takes ten times as much.
    ends, values = array("i", [0]), array("i")
    for row in rows:
        values.extend(row)
        ends.append(len(values))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values, pa.int32()))


@dataclass(frozen=True)
class WordVectors:
    """A vector for each id of a vocabulary.

    Attributes:
        matrix: Shape ``(len(vocabulary), dimension)``, float32; the row of the padding is zero.
        n_by_word: Number of stems with the vector of a word that has this stem.
        n_by_spelling: Number of further stems with the vector of a word spelled like them.
        n_drawn: Number of stems with a random vector, since the file has them in neither way.
    """

    matrix: np.ndarray
    n_by_word: int
    n_by_spelling: int
    n_drawn: int


def read_vectors(
    path: Path,
    vocabulary: Vocabulary,
    *,
    dimension: int = 300,
    seed: int = 0,
    deviation: float = VECTORS_DEVIATION,
) -> WordVectors:
    """Read pretrained word vectors, such as GloVe's, of a vocabulary, line by line.

    A stem gets the vector of the first word in the file that has this stem, which in GloVe's files
    is the most frequent one: ``thi`` that of "this". Failing that, it gets the vector of the word
    spelled like it, for files of stemmed words. Of repeated words the first counts.

    Args:
        path: UTF-8 file; each line has a word, which may contain blanks, and its numbers, separated
            by single blanks. The first line may be word2vec's header: number of words, dimension.
        vocabulary: The stems to look for.
        dimension: Length of a vector, from 1.
        seed: Seed of the random vectors, that of [UNK] included; each depends on seed and id alone.
        deviation: Standard deviation of random vectors, 0 or more.

    Raises:
        SourceNotFoundError: There is no such file.
        UsageError: A line is malformed (names the file and the line), or ``dimension`` or
            ``deviation`` is out of its range.

    Source: SciNLI, section 4.1: GloVe vectors of 300 dimensions. It does not say how its stems were
        matched with GloVe's words, nor what vectors the others got.
    """
    if dimension < 1 or not deviation >= 0:
        raise UsageError(
            "Expected a dimension from 1 and a deviation from 0; "
            f"got {dimension!r} and {deviation!r}."
        )
    generator = np.random.default_rng(seed)
    matrix = generator.normal(0, deviation, (len(vocabulary), dimension)).astype(np.float32)
    matrix[PADDING_ID] = 0
    by_word: set[int] = set()
    by_spelling: dict[int, np.ndarray] = {}
    for line, word, numbers in _read_lines(path, dimension):
        row = vocabulary.ids.get(stem(word))
        if row is not None and row not in by_word:
            matrix[row] = _parse(numbers, path, line)
            by_word.add(row)
        row = vocabulary.ids.get(word)
        if row is not None and row not in by_word and row not in by_spelling:
            by_spelling[row] = _parse(numbers, path, line)
    rest = by_spelling.keys() - by_word
    for row in rest:
        matrix[row] = by_spelling[row]
    n_found = len(by_word) + len(rest)
    return WordVectors(matrix, len(by_word), len(rest), len(vocabulary.stems) - n_found)


def _read_lines(path: Path, dimension: int) -> Iterator[tuple[int, str, list[bytes]]]:
    """Yield the number of each line, its word, and its numbers as bytes."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise SourceNotFoundError(f"The file {path} does not exist.") from None
    line = 0
    with file:
        # Only b"\n" ends a line: words may hold U+0085 and other line breaks of Unicode.
        for line, content in enumerate(file, 1):
            # word2vec leaves a blank at the end.
            fields = content.rstrip(b" \r\n").rsplit(b" ", dimension)
            if line == 1 and _is_header(fields, path, dimension):
                continue
            # With too many numbers the word would have them; the first has no blank in any file.
            if len(fields) != dimension + 1 or (line == 1 and b" " in fields[0]):
                n_fields = len(content.split(b" "))
                raise UsageError(
                    f"{path}:{line}: expected a word and {dimension} numbers, separated by "
                    f"blanks; got {n_fields} fields. Is the file complete, unpacked, and of that "
                    "dimension?"
                )
            try:
                word = fields[0].decode("utf-8")
            except UnicodeDecodeError as error:
                raise UsageError(f"{path}:{line}: the word is not UTF-8: {error}") from None
            yield line, word, fields[1:]
    if not line:
        raise UsageError(f"{path} is empty; expected a word and its vector on each line.")


def _is_header(fields: list[bytes], path: Path, dimension: int) -> bool:
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return False
    if int(fields[1]) != dimension:
        raise UsageError(
            f"{path}:1: expected vectors of {dimension} numbers; the header says {int(fields[1])}."
        )
    return True


def _parse(numbers: list[bytes], path: Path, line: int) -> np.ndarray:
    try:
        with np.errstate(over="ignore"):  # to infinity
            vector = np.array([float(number) for number in numbers], np.float32)
    except ValueError as error:
        raise UsageError(f"{path}:{line}: {error}") from None
    if not np.isfinite(vector).all():
        raise UsageError(f"{path}:{line}: expected finite numbers; some are infinite or NaN.")
    return vector
