"""Find the few texts of many that may hold something, before an expression is asked of each.

What shows damage is a sign (a mark, a digit, a bracket) between unusual neighbours, or a capital
letter in an unusual place. To ask for these in all texts at once takes a tenth of the time that
expressions take.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .arrays import Flags, Numbers

Shapes = npt.NDArray[np.uint8]

#: The shapes of letters and digits; other characters are themselves.
LOWER, UPPER, DIGIT, BLANK = b"aA9 "
_SHAPES = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    bytes([LOWER]) * 26 + bytes([UPPER]) * 26 + bytes([DIGIT]) * 10,
)
_IS_SIGN = bytes(not bytes([code]).isalpha() and code not in b" \n" for code in range(256))
_MARGIN = b"\n" * 12  # so that every character has neighbours


class Signs:
    """The signs and blanks of n texts, with their neighbours.

    Args:
        texts: n texts in UTF-8, without line breaks; between them one is put.
    """

    def __init__(self, texts: Sequence[bytes]) -> None:
        content = b"\n".join((_MARGIN, *texts, _MARGIN))
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self._starts = np.cumsum(lengths + 1) - lengths + len(_MARGIN)
        self._text = content
        self._content = np.frombuffer(content, np.uint8)
        self._shapes = np.frombuffer(content.translate(_SHAPES), np.uint8)
        self._places = np.flatnonzero(np.frombuffer(content.translate(_IS_SIGN), np.bool_))
        self._neighbours: dict[int, Shapes] = {}

    def __getitem__(self, distance: int) -> Shapes:
        """Return the shapes that stand so far behind each sign, before it where negative."""
        if distance not in self._neighbours:
            self._neighbours[distance] = self._shapes[self._places + distance]
        return self._neighbours[distance]

    def is_one_of(self, signs: bytes) -> Flags:
        """Return whether each sign is one of some."""
        found = np.zeros(256, bool)
        found[list(signs)] = True
        return found[self[0]]

    def is_part_of_number(self, distance: int) -> Flags:
        """Return whether a letter, digit, point, comma or hyphen stands so far behind each sign."""
        return np.isin(self[distance], [LOWER, UPPER, DIGIT, *b".,-"])

    def follow(self, word: bytes) -> Flags:
        """Return whether a word, or what of it is given, stands right before each sign."""
        return self._stand(range(-len(word), 0), word)

    def precede(self, word: bytes) -> Flags:
        """Return whether a word, or what of it is given, stands right behind each sign."""
        return self._stand(range(1, len(word) + 1), word)

    def _stand(self, distances: range, word: bytes) -> Flags:
        left = np.arange(len(self._places))
        for distance, code in zip(distances, word, strict=True):
            left = left[self._content[self._places[left] + distance] == code]
        found = np.zeros(len(self._places), bool)
        found[left] = True
        return found

    def texts_with(self, is_sought: Flags) -> Numbers:
        """Return the numbers of the texts of some signs, each once."""
        return self._texts(self._places[is_sought])

    def texts_with_word(self, words: Sequence[bytes]) -> Numbers:
        """Return the numbers of the texts that hold one of some capitalized words.

        Before it stands a lower-case letter and a blank.

        Args:
            words: The words, each with what must follow; the first three bytes are compared.
        """
        return self._texts(self._before(self._capitals, words))

    def texts_with_word_behind(self, is_sought: Flags, words: Sequence[bytes]) -> Numbers:
        """Return the numbers of the texts where one of some words stands a blank behind a sign."""
        return self._texts(self._before(self._places[is_sought] + 1, words))

    def _before(self, blanks: Numbers, words: Sequence[bytes]) -> Numbers:
        """Return those of some places behind which one of some words begins, by three bytes."""
        heads = np.zeros(len(blanks), np.uint32)
        for distance in range(1, 4):
            heads = heads << np.uint32(8) | self._content[blanks + distance]
        sought = np.array([int.from_bytes(word[:3]) for word in words], np.uint32)
        return blanks[np.isin(heads, sought)]

    def texts_with_single_letters(self) -> Numbers:
        """Return the numbers of the texts in which three single characters stand in a row."""
        is_blank = self._shapes == BLANK
        return self._texts(
            np.flatnonzero(is_blank[:-6] & is_blank[2:-4] & is_blank[4:-2] & is_blank[6:])
        )

    def texts_beginning(self, shapes: bytes) -> Numbers:
        """Return the numbers of the texts whose first characters have some shapes."""
        begins = np.ones(len(self._starts), bool)
        for distance, shape in enumerate(shapes):
            begins &= self._shapes[self._starts + distance] == shape
        return np.flatnonzero(begins)

    def texts_holding(self, parts: Sequence[bytes]) -> Numbers:
        """Return the numbers of the texts that hold one of some parts."""
        return self._texts(self._find(parts)[0])

    def texts_with_ending(self, endings: Sequence[bytes]) -> Numbers:
        """Return the numbers of the texts in which a word ends so, four small letters before it."""
        first, end = self._find(endings)
        is_end = (self._shapes[end] != LOWER) & (self._shapes[end] != UPPER)
        for back in range(1, 5):
            is_end &= self._shapes[first - back] == LOWER
        return self._texts(first[is_end])

    def _find(self, parts: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """Return the places where some parts begin, and where they end."""
        places = []
        for part in parts:
            place = self._text.find(part)
            while place >= 0:
                places.append((place, place + len(part)))
                place = self._text.find(part, place + 1)
        return np.array(places, np.int64).reshape(-1, 2).T

    @cached_property
    def _capitals(self) -> Numbers:
        """The places of the blanks between a lower-case and a capital letter."""
        shapes = self._shapes
        is_between = (shapes[:-2] == LOWER) & (shapes[2:] == UPPER) & (shapes[1:-1] == BLANK)
        return np.flatnonzero(is_between) + 1

    def _texts(self, places: Numbers) -> Numbers:
        return np.unique(np.searchsorted(self._starts, places, side="right") - 1)
