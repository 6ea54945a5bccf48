"""Pretrained word vectors, such as GloVe's, for the stems that a model knows."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...loaders.errors import SourceNotFoundError, UsageError
from .vocabulary import PADDING_ID, Vocabulary
from .words import stem

#: Standard deviation of the word vectors that are drawn; the paper starts all from GloVe's.
VECTORS_DEVIATION = 0.1


@dataclass(frozen=True)
class WordVectors:
    """A vector for each id of a vocabulary.

    Attributes:
        matrix: Shape ``(len(vocabulary), dimension)``, float32; the row of the padding is zero.
        n_by_word: Number of stems with the vector of a word that has this stem.
        n_by_spelling: Number of further stems with the vector of a word spelled like them.
        n_drawn: Number of stems that the file has in neither way; their vectors are random.
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
    """Read the vectors of a vocabulary from a text file, line by line.

    Such files hold words, and a vocabulary holds stems, many of which are not words (``signific``)
    or are other words (``thi`` is the stem of "this"). A stem gets the vector of the first word in
    the file that has this stem, which in GloVe's files is the most frequent one: ``model`` that of
    "model", ``thi`` that of "this". Failing that, it gets the vector of the word spelled like it,
    for files of stemmed words. Of repeated words the first counts.

    Args:
        path: UTF-8 file; each line has a word, which may contain blanks, and its numbers, separated
            by single blanks. The first line may be a header with the numbers of words and of
            dimensions, as word2vec writes it. Numbers of other words are not parsed.
        vocabulary: The stems to look for.
        dimension: Length of a vector, from 1.
        seed: Seed of the random vectors, that of [UNK] included; each depends only on the seed and
            the id.
        deviation: Standard deviation, 0 or more, of the normal distribution of random vectors.

    Returns:
        The vectors, and how many stems were found.

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
