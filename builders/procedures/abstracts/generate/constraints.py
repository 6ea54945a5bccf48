"""Lexical constraints on a text: clauses of literals over tokens, matched step by step.

A literal has token sequences, of which one must appear, or none may. A clause is satisfied when one
of its literals is. The automaton of Aho and Corasick matches all sequences at once, even one that
begins inside a failed match of another or overlaps itself.

Source:
    Lu et al. (2021), "NeuroLogic Decoding", sections 2.1 and 2.2.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .....loaders.errors import ModelError, UsageError

Tokens = tuple[int, ...]


@dataclass(frozen=True)
class TokenLiteral:
    """Token sequences that must, or must not, appear.

    Attributes:
        sequences: The token sequences of one phrase.
        is_positive: Whether one of them must appear; otherwise none may.
    """

    sequences: tuple[Tokens, ...]
    is_positive: bool = True

    def __post_init__(self) -> None:
        if not self.sequences or not all(self.sequences):
            raise UsageError(
                f"A literal has the token sequences {self.sequences}; expected one or more, "
                "none empty."
            )


class MatchState(NamedTuple):
    """The node of a text in the automaton, and a bit for each literal that has appeared in it."""

    node: int
    seen: int


class Standing(NamedTuple):
    """How far a text satisfies the clauses.

    Attributes:
        satisfied: A bit for each clause that is satisfied if the text ends here.
        n_satisfied: The number of satisfied clauses.
        is_violated: Whether a clause can no longer be satisfied.
        progress: The greatest part of a positive literal of an unsatisfied clause that is matched
            at the end of the text: 0 ... 1, 1 excluded.
    """

    satisfied: int
    n_satisfied: int
    is_violated: bool
    progress: float


class Constraints:
    """Clauses in conjunctive normal form, and the states of texts under them.

    Args:
        clauses: The clauses, each of one or more literals; without a clause every text is allowed.

    Raises:
        UsageError: A clause has no literal.
    """

    def __init__(self, clauses: Iterable[Iterable[TokenLiteral]] = ()) -> None:
        self.clauses = tuple(tuple(clause) for clause in clauses)
        if not all(self.clauses):
            raise UsageError(
                "A clause has no literal, so no text satisfies it; expected one or more."
            )
        self._literals = tuple(dict.fromkeys(one for clause in self.clauses for one in clause))
        number = {literal: i for i, literal in enumerate(self._literals)}
        self._clauses = tuple(tuple(number[one] for one in clause) for clause in self.clauses)
        self._children: list[dict[int, int]] = [{}]
        self._ends = [0]  # by node, the literals that have a sequence ending there
        self._begun: list[dict[int, float]] = [{}]  # by node, how much of which literal it is
        for i, literal in enumerate(self._literals):
            for sequence in literal.sequences:
                self._add(i, sequence)
        self._follow_failures()
        self._moves: dict[MatchState, Mapping[int, MatchState]] = {}
        self._standings: dict[MatchState, Standing] = {}

    def __len__(self) -> int:
        return len(self.clauses)

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
        """Return how far a text in a state satisfies the clauses."""
        if state not in self._standings:
            self._standings[state] = self._judge(state)
        return self._standings[state]

    def follow(self, tokens: Iterable[int]) -> Standing:
        """Return how far a whole text satisfies the clauses."""
        state = self.start
        for token in tokens:
            state = self.step(state, token)
        return self.standing(state)

    def _add(self, literal: int, sequence: Tokens) -> None:
        node = 0
        for place, token in enumerate(sequence, 1):
            if token not in self._children[node]:
                self._children[node][token] = len(self._children)
                self._children.append({})
                self._ends.append(0)
                self._begun.append({})
            node = self._children[node][token]
            begun = self._begun[node]
            begun[literal] = max(begun.get(literal, 0), place / len(sequence))
        self._ends[node] |= 1 << literal

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
            for literal, part in self._begun[suffix].items():
                self._begun[node][literal] = max(self._begun[node].get(literal, 0), part)

    def _judge(self, state: MatchState) -> Standing:
        satisfied, is_violated, progress = 0, False, 0.0
        for i, clause in enumerate(self._clauses):
            literals = [(one, self._literals[one].is_positive) for one in clause]
            if any(bool(state.seen >> one & 1) == positive for one, positive in literals):
                satisfied |= 1 << i
                continue
            hopes = [one for one, positive in literals if positive]
            is_violated |= not hopes
            begun = self._begun[state.node]
            progress = max([progress, *(begun.get(one, 0.0) for one in hopes)])
        return Standing(satisfied, satisfied.bit_count(), is_violated, progress)


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
