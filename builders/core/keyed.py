"""Random numbers that depend on names alone: keyed hashes of stable ids."""

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_STEP = 0x9E3779B97F4A7C15  # of SplitMix64


def keyed_hash(text: str, key: str, purpose: str) -> bytes:
    """Return the keyed hash of a text, 16 bytes that take the place of a random number.

    Args:
        text: The text, e.g. the id of a pair.
        key: The key, of 64 bytes at most, e.g. a seed.
        purpose: What it decides, of 16 bytes at most; other purposes get unrelated numbers.

    Raises:
        ValueError: The key or the purpose is too long.
    """
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"),
        digest_size=16,
        key=key.encode(),
        person=purpose.encode(),
    ).digest()


def keyed_number(seed: int, purpose: str, name: str) -> int:
    """Return a number of 64 bits from a keyed hash, which decides what is drawn for a name.

    Args:
        seed: The seed; another gives other choices.
        purpose: What is chosen, of 16 bytes at most; other choices get unrelated keys.
        name: What it is chosen for.

    Raises:
        ValueError: The purpose is too long.
    """
    return int.from_bytes(keyed_hash(name, str(seed), purpose)[:8], "little")


def order_preserving(words: "npt.NDArray[np.uint64]") -> "npt.NDArray[np.int64]":
    """Return n words of 64 bits as n signed numbers in the same order, as SQL compares them."""
    signed: npt.NDArray[np.int64] = (words ^ 2**63).view("int64")
    return signed


def mix(words: "npt.NDArray[np.uint64]") -> "npt.NDArray[np.uint64]":
    """Scatter n words of 64 bits, so that neighbours have nothing in common.

    Source:
        The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
    """
    bits: Any = words
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB
    mixed: npt.NDArray[np.uint64] = bits ^ (bits >> 31)
    return mixed


def draw(keys: "npt.NDArray[np.uint64]", number: int) -> "npt.NDArray[np.uint64]":
    """Draw a word of 64 bits from each of n keys; other numbers draw unrelated words."""
    return mix(keys + (number + 1) * _STEP % 2**64)


def subkeys(
    keys: "npt.NDArray[np.uint64]", numbers: "npt.NDArray[np.int64]"
) -> "npt.NDArray[np.uint64]":
    """Return a key for each of n numbers under each of n keys: n words of 64 bits."""
    return mix(keys ^ mix(numbers.astype("uint64") + _STEP))
