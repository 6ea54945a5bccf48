"""Random numbers that depend on names alone: keyed hashes of stable ids."""

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


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
