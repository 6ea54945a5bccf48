"""Arrays of numbers, keyed random words and texts: a paper's sentences without an object for each.

The random words are drawn from keys, many at a time, and are the same on every machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
#: Words of 64 bits: hashes, and keys of draws.
Words = npt.NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)


def mix(words: Words) -> Words:
    """Scatter keys of sentences, words of 64 bits, so that neighbours have nothing in common.

    Source:
        The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
    """
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def draw(keys: Words, number: int) -> Words:
    """Draw a word of 64 bits from the key of each of n pairs of sentences."""
    return mix(keys + np.uint64((number + 1) * int(_STEP) % 2**64))


def subkeys(keys: Words, numbers: Numbers) -> Words:
    """Return a key for each of n numbers under each of n keys: n words of 64 bits."""
    return mix(keys ^ mix(numbers.astype(np.uint64) + _STEP))


@dataclass(frozen=True)
class Texts:
    """Texts in UTF-8, somewhere in one run of bytes.

    Attributes:
        content: The bytes.
        start: n offsets where a text begins.
        end: n offsets behind its last byte.
    """

    content: bytes
    start: Numbers
    end: Numbers

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> "Texts":
        """Put texts one after another."""
        end = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return cls(b"".join(texts), np.append(0, end[:-1])[: len(end)], end)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, number: int) -> bytes:
        return self.content[self.start[number] : self.end[number]]

    def select(self, chosen: Numbers) -> "Texts":
        """Return the chosen texts."""
        return Texts(self.content, self.start[chosen], self.end[chosen])

    def without(self, cut: Numbers) -> "Texts":
        """Return the texts without their first bytes, for each its own number of bytes."""
        return Texts(self.content, self.start + cut, self.end)

    def to_list(self) -> list[bytes]:
        """Return each text as an object of its own."""
        bounds = zip(self.start.tolist(), self.end.tolist(), strict=True)
        return [self.content[start:end] for start, end in bounds]
