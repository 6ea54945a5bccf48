"""Random words of 64 bits, many at a time, drawn from keys: the same on every machine."""

import numpy as np

from .arrays import Numbers, Words

_STEP = np.uint64(0x9E3779B97F4A7C15)


def mix(words: Words) -> Words:
    """Scatters words of 64 bits, one to one, so that neighbours have nothing in common.

    Source:
        The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
    """
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def draw(keys: Words, number: int) -> Words:
    """The draw of a number from each of n keys: n words of 64 bits."""
    return mix(keys + np.uint64((number + 1) * int(_STEP) % 2**64))


def subkeys(keys: Words, numbers: Numbers) -> Words:
    """A key for each of n numbers under each of n keys: n words of 64 bits."""
    return mix(keys ^ mix(numbers.astype(np.uint64) + _STEP))
