"""NeuroLogic decoding: a beam search that keeps texts which satisfy different clauses.

Each step prunes all continuations of all texts, first by score and then by the number of satisfied
clauses. It groups the rest by the set of clauses that they satisfy, ranks each group by log
probability and by how much of a positive literal is matched, and fills the beam with the best of
every group, then the second of every group, and so on.

A text that violates a clause for good is dropped at once; a text that satisfies too few clauses may
not end.

Source:
    Lu et al. (2021), "NeuroLogic Decoding", section 2.3. The authors' code ranks by
    ``-beta * log(matched part)``, which is worth more the shorter that part; here it is the paper's
    ``beta * matched part``. Their code also divides the log probability of a text by its length
    before it is ranked; here it is not divided, so that the same ``beta`` (BioNLI,
    Table 8: 2) weighs less, and the less the longer the text. Their code groups by the order in
    which clauses were met, the paper by the set of them, as here.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import torch

from .....loaders.errors import UsageError
from .constraints import Constraints, MatchState, Standing
from .settings import BeamSettings


class Scorer(Protocol):
    """Scores the next token of many texts at a time."""

    def begin(self) -> torch.Tensor:
        """Begin one text for each input.

        Returns:
            n inputs x vocabulary: natural log probabilities of the first token.
        """

    def advance(self, parents: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Replace the current texts by continuations of them.

        Args:
            parents: n, int64: for each new text the index of the text that it continues.
            tokens: n, int64: for each new text its last token.

        Returns:
            n x vocabulary: natural log probabilities of the next token.
        """


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """A finished text of a beam search.

    Attributes:
        tokens: Its tokens, without the end.
        log_probability: Natural log probability of its tokens and its end.
        score: Its log probability divided by its length to the power of the penalty.
        satisfied: The indices of the clauses that it satisfies.
    """

    tokens: tuple[int, ...]
    log_probability: float
    score: float
    satisfied: frozenset[int]


@dataclass
class _Text:
    """A text of the beam, in a row of the scores; a new one still has the row of its parent."""

    row: int
    tokens: tuple[int, ...]
    log_probability: float
    state: MatchState


class _Candidate(NamedTuple):
    parent: _Text
    token: int
    log_probability: float
    state: MatchState
    standing: Standing
    rank: float


@dataclass
class _Search:
    """The search for one input."""

    constraints: Constraints
    settings: BeamSettings
    ends: frozenset[int]
    texts: list[_Text]
    found: list[GeneratedText] = field(default_factory=list)
    n_found: int = 0

    @property
    def n_needed(self) -> int:
        n_clauses, asked = len(self.constraints), self.settings.min_satisfied
        return n_clauses if asked is None else min(asked, n_clauses)

    def may_end(self, text: _Text) -> bool:
        standing = self.constraints.standing(text.state)
        return (
            len(text.tokens) >= self.settings.min_tokens
            and standing.n_satisfied >= self.n_needed
            and not standing.is_violated
        )

    def banned(self, text: _Text) -> Iterator[int]:
        """Yield the tokens that may not come next."""
        if not self.may_end(text):
            yield from self.ends
        for token, state in self.constraints.moves(text.state).items():
            if self.constraints.standing(state).is_violated:
                yield token

    def advancing(self, text: _Text) -> Iterator[int]:
        """Yield the tokens that continue a positive literal of an unsatisfied clause."""
        before = self.constraints.standing(text.state)
        for token, state in self.constraints.moves(text.state).items():
            after = self.constraints.standing(state)
            if after.progress > 0 or after.satisfied & ~before.satisfied:
                yield token

    def go_on(self, scored: Sequence[tuple[int, int, float]]) -> None:
        """Finish texts that end, and fill the beam with the best of the others.

        Args:
            scored: Continuations, best first: index of the text, token, log probability.
        """
        candidates = []
        for number, token, log_probability in scored:
            text = self.texts[number]
            if token in self.ends:
                self._finish(text, log_probability)
            elif len(text.tokens) + 1 < self.settings.max_tokens:
                candidates.append(self._continue(text, token, log_probability))
        self.texts = [
            _Text(one.parent.row, (*one.parent.tokens, one.token), one.log_probability, one.state)
            for one in self._choose(candidates)
        ]
        if self._is_over():
            self.texts = []

    def _continue(self, text: _Text, token: int, log_probability: float) -> _Candidate:
        state = self.constraints.step(text.state, token)
        standing = self.constraints.standing(state)
        rank = log_probability + self.settings.beta * standing.progress
        return _Candidate(text, token, log_probability, state, standing, rank)

    def _choose(self, candidates: list[_Candidate]) -> list[_Candidate]:
        if not candidates:
            return []
        most = max(one.standing.n_satisfied for one in candidates)
        groups: dict[tuple[int, float], list[_Candidate]] = defaultdict(list)
        for one in candidates:
            if one.standing.n_satisfied >= most - self.settings.sat_tolerance:
                part = one.standing.progress if self.settings.allocates else 0.0
                groups[one.standing.satisfied, part].append(one)
        placed = [
            (place, one)
            for group in groups.values()
            for place, one in enumerate(sorted(group, key=lambda one: -one.rank))
        ]
        placed.sort(key=lambda pair: (pair[0], -self._advance(pair[1]), -pair[1].rank))
        return [one for _, one in placed[: self.settings.beam_size]]

    def _advance(self, one: _Candidate) -> float:
        """Return how much of the clauses is matched, to order groups that may exceed the beam."""
        if not self.settings.allocates:
            return 0.0
        return one.standing.n_satisfied + one.standing.progress

    def _finish(self, text: _Text, log_probability: float) -> None:
        satisfied = self.constraints.standing(text.state).satisfied
        clauses = frozenset(i for i in range(len(self.constraints)) if satisfied >> i & 1)
        score = self._score(log_probability, len(text.tokens) + 1)
        self.n_found += 1
        self.found.append(GeneratedText(text.tokens, log_probability, score, clauses))
        self.found.sort(key=_goodness, reverse=True)
        del self.found[self.settings.n_best :]

    def _score(self, log_probability: float, length: int) -> float:
        return log_probability / math.pow(length, self.settings.length_penalty)

    def _is_over(self) -> bool:
        """Return whether no text can become better than those found."""
        if len(self.found) < self.settings.n_best:
            return False
        if self.settings.stops_early:
            return self.n_found >= self.settings.beam_size
        worst = _goodness(self.found[-1])
        return all(self._best(text) <= worst for text in self.texts)

    def _best(self, text: _Text) -> tuple[int, float]:
        """Return how good a text can become: all clauses satisfied, at no further cost."""
        lengths = (len(text.tokens) + 1, self.settings.max_tokens)
        return len(self.constraints), max(self._score(text.log_probability, n) for n in lengths)


def _goodness(found: GeneratedText) -> tuple[int, float]:
    return len(found.satisfied), found.score


@torch.inference_mode()
def decode(
    scorer: Scorer,
    constraints: Sequence[Constraints],
    settings: BeamSettings,
    *,
    ends: Collection[int],
    suppressed: Collection[int] = (),
) -> list[list[GeneratedText]]:
    """Search the best texts under constraints by NeuroLogic decoding, for several inputs at once.

    Without clauses it is a plain beam search. With a beam and a prune factor as large as the number
    of possible texts, and a tolerance as large as the number of clauses, it is exhaustive.

    Args:
        scorer: The scorer of texts, with one input for each of ``constraints``.
        constraints: The constraints of each input; tokens of ``ends`` in them are never matched.
        settings: Settings of the search.
        ends: The tokens that end a text.
        suppressed: Tokens that no text may have, such as padding.

    Returns:
        For each input the best texts, those that satisfy most clauses first, then by score; empty
        where no finished text satisfies enough clauses.

    Raises:
        UsageError: ``ends`` is empty, or the scorer has another number of inputs.
    """
    if not ends:
        raise UsageError("No token ends a text: ends is empty; expected one or more tokens.")
    scores = scorer.begin()
    if len(scores) != len(constraints):
        raise UsageError(
            f"There are {len(constraints)} constraints for {len(scores)} inputs; expected one for "
            "each input."
        )
    searches = [
        _Search(one, settings, frozenset(ends), [_Text(row, (), 0.0, one.start)])
        for row, one in enumerate(constraints)
    ]
    tokens = scores.new_empty((len(scores), 0), dtype=torch.long)
    while True:
        live = [search for search in searches if search.texts]
        for search, scored in zip(
            live, _continuations(scores, tokens, live, suppressed), strict=True
        ):
            search.go_on(scored)
        texts = [text for search in live for text in search.texts]
        if not texts:
            return [search.found for search in searches]
        parents = torch.tensor([text.row for text in texts], device=scores.device)
        new = torch.tensor([text.tokens[-1] for text in texts], device=scores.device)
        for row, text in enumerate(texts):
            text.row = row
        tokens = torch.cat([tokens[parents], new[:, None]], dim=1)
        scores = scorer.advance(parents, new)


def _continuations(
    scores: torch.Tensor,
    tokens: torch.Tensor,
    live: Sequence[_Search],
    suppressed: Collection[int],
) -> list[list[tuple[int, int, float]]]:
    """Return the continuations of each search that pruning by score leaves, best first."""
    settings = live[0].settings
    texts = [text for search in live for text in search.texts]
    before = torch.tensor(
        [text.log_probability for text in texts], dtype=torch.float64, device=scores.device
    )
    total = _ban(scores, tokens, live, suppressed).to(torch.float64) + before[:, None]
    n_tokens = total.shape[1]
    kept, start = [], 0
    for search in live:
        block = total[start : start + len(search.texts)].flatten()
        chosen = block.topk(min(settings.prune_factor, len(block))).indices
        if settings.allocates:
            best = block.view(-1, n_tokens).argmax(dim=1).tolist()
            spared = [
                number * n_tokens + token
                for number, text in enumerate(search.texts)
                for token in (best[number], *search.advancing(text))
            ]
            both = sorted({*chosen.tolist(), *spared})
            chosen = torch.tensor(both, device=chosen.device)
        kept.append((chosen, block[chosen]))
        start += len(search.texts)
    return [
        [
            (*divmod(place, n_tokens), log_probability)
            for place, log_probability in sorted(
                zip(places.tolist(), values.tolist(), strict=True),
                key=lambda one: (-one[1], one[0]),
            )
            if log_probability > -torch.inf
        ]
        for places, values in kept
    ]


def _ban(
    scores: torch.Tensor,
    tokens: torch.Tensor,
    live: Sequence[_Search],
    suppressed: Collection[int],
) -> torch.Tensor:
    """Return the scores, with minus infinity for tokens that may not come next."""
    texts = [(search, text) for search in live for text in search.texts]
    banned = [(row, t) for row, (search, text) in enumerate(texts) for t in search.banned(text)]
    scores = scores.clone()
    if banned:
        rows, columns = torch.tensor(banned, device=scores.device).T
        scores[rows, columns] = -torch.inf
    if suppressed:
        scores[:, torch.tensor(sorted(suppressed), device=scores.device)] = -torch.inf
    n_before = live[0].settings.ngram_size - 1
    if 0 < n_before < tokens.shape[1]:
        last = tokens[:, -n_before:]
        is_repeat = (tokens[:, :-1].unfold(1, n_before, 1) == last[:, None]).all(dim=2)
        rows, places = is_repeat.nonzero(as_tuple=True)
        scores[rows, tokens[rows, places + n_before]] = -torch.inf
    return scores
