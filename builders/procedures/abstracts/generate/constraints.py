"""Lexical constraints on a text: phrases that must or must not appear, matched token by token.

A phrase has token sequences, of which one must appear, or none may. The automaton of Aho and
Corasick matches all sequences at once, even one that begins inside a failed match of another or
overlaps itself. NeuroLogic's clauses have several literals; here a clause is one phrase.

Source:
    Lu et al. (2021), "NeuroLogic Decoding", sections 2.1 and 2.2.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .....loaders.errors import ModelError

Tokens = tuple[int, ...]


class Phrase(NamedTuple):
    """Token sequences, none empty, of which one must appear, or else none may."""

    sequences: tuple[Tokens, ...]
    is_required: bool = True


class MatchState(NamedTuple):
    """The node of a text in the automaton, and a bit for each phrase that has appeared in it."""

    node: int
    seen: int


class Standing(NamedTuple):
    """How far a text satisfies the constraints.

    Attributes:
        satisfied: A bit for each phrase that is as it must be if the text ends here.
        is_violated: Whether a forbidden phrase has appeared.
        progress: The greatest part of a missing required phrase that is matched at the end of the
            text: 0 ... 1, 1 excluded.
    """

    satisfied: int
    is_violated: bool
    progress: float

    @property
    def n_satisfied(self) -> int:
        """Return the number of satisfied constraints."""
        return self.satisfied.bit_count()


class Constraints:
    """Required and forbidden phrases, and the states of texts under them.

    Args:
        phrases: The phrases; without one every text is allowed.
    """

    def __init__(self, phrases: Iterable[Phrase] = ()) -> None:
        self.phrases = tuple(phrases)
        self._forbidden = sum(1 << i for i, one in enumerate(self.phrases) if not one.is_required)
        self._children: list[dict[int, int]] = [{}]
        self._ends = [0]  # by node, the phrases that have a sequence ending there
        self._begun: list[dict[int, float]] = [{}]  # by node, how much of which phrase it is
        for i, phrase in enumerate(self.phrases):
            for sequence in phrase.sequences:
                self._add(i, sequence)
        self._follow_failures()
        self._moves: dict[MatchState, Mapping[int, MatchState]] = {}
        self._standings: dict[MatchState, Standing] = {}

    @property
    def start(self) -> MatchState:
        """Return the state of the empty text."""
        return MatchState(0, 0)

    def step(self, state: MatchState, token: int) -> MatchState:
        """Return the state after one more token."""
        return self.moves(state).get(token, MatchState(0, state.seen))

    def moves(self, state: MatchState) -> Mapping[int, MatchState]:
        """Return the next state for each token that begins or continues a sequence."""
        if state not in self._moves:
            self._moves[state] = {
                token: MatchState(node, state.seen | self._ends[node])
                for token, node in self._children[state.node].items()
            }
        return self._moves[state]

    def standing(self, state: MatchState) -> Standing:
        """Return how far a text in a state satisfies the constraints."""
        if state not in self._standings:
            done = state.seen | self._forbidden
            begun = self._begun[state.node].items()
            self._standings[state] = Standing(
                state.seen ^ self._forbidden,
                bool(state.seen & self._forbidden),
                max((part for i, part in begun if not done >> i & 1), default=0.0),
            )
        return self._standings[state]

    def _add(self, phrase: int, sequence: Tokens) -> None:
        node = 0
        for place, token in enumerate(sequence, 1):
            if token not in self._children[node]:
                self._children[node][token] = len(self._children)
                self._children.append({})
                self._ends.append(0)
                self._begun.append({})
            node = self._children[node][token]
            begun = self._begun[node]
            begun[phrase] = max(begun.get(phrase, 0), place / len(sequence))
        self._ends[node] |= 1 << phrase

    def _follow_failures(self) -> None:
        """Give every node the moves, ends and beginnings of its longest proper suffix."""
        suffixes = [0] * len(self._children)
        waiting = deque(self._children[0].values())
        while waiting:
            node = waiting.popleft()
            suffix = suffixes[node]
            for token, child in self._children[node].items():
                suffixes[child] = self._children[suffix].get(token, 0)
                waiting.append(child)
            self._children[node] = {**self._children[suffix], **self._children[node]}
            self._ends[node] |= self._ends[suffix]
            for phrase, part in self._begun[suffix].items():
                self._begun[node][phrase] = max(self._begun[node].get(phrase, 0), part)


#: Contexts before and after a phrase: nothing, a word, a bracket; a word, a mark.
_BEFORE = ("", "a ", "(")
_AFTER = ("", " a", ".", ",", ")")


def find_phrase_tokens(tokenizer: Any, phrase: str) -> tuple[Tokens, ...]:
    """Find the token sequences that spell a phrase at the start of a generated text and inside it.

    Other tokens can spell the same phrase, and a name may continue after its tokens, as IL-1 does
    in IL-10: check the written text too.

    Args:
        tokenizer: A fast tokenizer of ``transformers``.
        phrase: The phrase, without spaces around it.

    Returns:
        The sequences, each once.

    Raises:
        ModelError: The tokenizer is not fast, or has no tokens for the phrase.
    """
    if not tokenizer.is_fast:
        raise ModelError("The tokenizer gives no offsets; use a fast one (tokenizer.json).")
    found = dict.fromkeys(
        tokens
        for before in _BEFORE
        for after in _AFTER
        for tokens in _cut_out(tokenizer, before, phrase, after)
    )
    if not found:
        raise ModelError(f"The tokenizer has no tokens for {phrase!r}; use another tokenizer.")
    return tuple(found)


def _cut_out(tokenizer: Any, before: str, phrase: str, after: str) -> Iterator[Tokens]:
    """Yield the tokens of a phrase in a text, unless one of them spans a neighbour too."""
    text = before + phrase + after
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    start, end = len(before), len(before) + len(phrase)
    tokens = []
    for token, (first, last) in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True):
        while first < last and text[first].isspace():  # a space joined to the word after it
            first += 1
        if first < end and last > start:
            if first < start or last > end:
                return
            tokens.append(token)
    if tokens:
        yield tuple(tokens)
