"""Chance that depends on nothing but names: keyed hashes of stable ids."""

import hashlib


def keyed_hash(text: str, key: str, purpose: str) -> bytes:
    """What takes the place of a random number for a text.

    Args:
        text: What it is for, e.g. the id of a pair.
        key: What it is keyed with, of 64 bytes at most, e.g. a seed.
        purpose: What it is used for, of 16 bytes at most; other purposes get unrelated numbers.

    Returns:
        16 bytes.
    """
    return hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"),
        digest_size=16,
        key=key.encode(),
        person=purpose.encode(),
    ).digest()


def key_of(seed: int, purpose: str, name: str) -> int:
    """A key of 64 bits for what is drawn for a name.

    Args:
        seed: The seed; another gives other choices.
        purpose: What is chosen, of 16 bytes at most; other choices get unrelated keys.
        name: What it is chosen for.
    """
    return int.from_bytes(keyed_hash(name, str(seed), purpose)[:8], "little")
