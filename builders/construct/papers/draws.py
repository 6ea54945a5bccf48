"""Random choices that depend on names alone, not on the order in which papers come.

Each is a hash of a seed, of what is chosen, and of where: the same on every machine.
"""

import numpy as np

from ...keyed import keyed_hash
from .arrays import Numbers, Words

_STEP = np.uint64(0x9E3779B97F4A7C15)


def key_of(seed: int, purpose: str, name: str) -> int:
    """A key of 64 bits for what is drawn for a name.

    Args:
        seed: The seed; another gives other choices.
        purpose: What is chosen, of 16 bytes at most; other choices get unrelated keys.
        name: What it is chosen for.
    """
    return int.from_bytes(keyed_hash(name, str(seed), purpose)[:8], "little")


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
