"""The token sequences that a tokenizer gives to a phrase, by what stands around it."""

from collections.abc import Iterator
from typing import Any

from .....loaders.errors import ModelError
from .constraints import Literal, Tokens

#: What may stand before and behind: nothing, a word, a bracket; a word, a mark.
_BEFORE = ("", "a ", "(")
_AFTER = ("", " a", ".", ",", ")")


def make_literal(tokenizer: Any, phrase: str, *, is_positive: bool = True) -> Literal:
    """A literal of a phrase: one of its variants must, or none may, appear.

    Other tokens can spell the same phrase too, and a name may go on where its tokens end, as IL-1
    does in IL-10: what was written is to be checked as text as well.

    Args:
        tokenizer: A fast tokenizer of ``transformers``.
        phrase: The phrase, without blanks around it.
        is_positive: Whether it must appear.

    Raises:
        ModelError: The tokenizer is not fast, or has no tokens for the phrase.
    """
    return Literal(find_variants(tokenizer, phrase), is_positive)


def find_variants(tokenizer: Any, phrase: str) -> tuple[Tokens, ...]:
    """The token sequences of a phrase at the start of a text and inside it, each once.

    Args:
        tokenizer: A fast tokenizer of ``transformers``.
        phrase: The phrase, without blanks around it.

    Raises:
        ModelError: The tokenizer is not fast, or has no tokens for the phrase.
    """
    if not tokenizer.is_fast:
        raise ModelError("The tokenizer tells no offsets; use a fast one (tokenizer.json).")
    found = dict.fromkeys(
        tokens
        for before in _BEFORE
        for after in _AFTER
        for tokens in _cut_out(tokenizer, before, phrase, after)
    )
    if not found:
        raise ModelError(f"The tokenizer has no tokens for {phrase!r} alone.")
    return tuple(found)


def _cut_out(tokenizer: Any, before: str, phrase: str, after: str) -> Iterator[Tokens]:
    """The tokens of a phrase in a text, unless one of them is of its neighbours too."""
    text = before + phrase + after
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    start, end = len(before), len(before) + len(phrase)
    tokens = []
    for token, (first, last) in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True):
        while first < last and text[first].isspace():  # a blank that is joined to the word after it
            first += 1
        if first < end and last > start:
            if first < start or last > end:
                return
            tokens.append(token)
    if tokens:
        yield tuple(tokens)
