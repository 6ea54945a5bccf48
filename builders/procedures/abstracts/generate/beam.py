"""How a beam is searched, and what it finds."""

from dataclasses import dataclass

from .....loaders.errors import UsageError


@dataclass(frozen=True)
class BeamSettings:
    """The settings of constrained beam search; those of the paper by default.

    Attributes:
        beam_size: Texts that are followed at once.
        prune_factor: Of all continuations of all of them, those that are kept by score.
        sat_tolerance: How many clauses fewer than the best of those a continuation may satisfy.
            Table 8 calls it "min satisfied constraints"; in the decoder that the authors used it is
            this.
        min_satisfied: Clauses that a text must satisfy; None means all of them. Where there are
            fewer clauses, all of them.
        beta: What a positive literal is worth that is matched almost to its end, in natural log
            probability.
        length_penalty: A text's score is its log probability divided by its length in tokens, its
            end included, to the power of this.
        min_tokens: Tokens that a text has at least, its end aside.
        max_tokens: Tokens that it has at most, its end included. One that has not ended there is
            given up.
        ngram_size: No sequence of so many tokens stands in a text twice; 0 allows all.
        allocates: Whether pruning spares the best continuation of every text and those that advance
            a positive literal, and texts within a literal stand in a group for each of its parts,
            the furthest first.
            It sees to it that constraints are met; without it, as in the paper, they are only where
            the model comes close by itself.
        stops_early: Whether a search ends with as many finished texts as the beam is wide, instead
            of where no text can become better than the best.
        n_best: Texts that are returned at most.

    Source:
        BioNLI, Table 8 (Appendix B). ``allocates``: Post and Vilar (2018), "Fast Lexically
        Constrained Decoding with Dynamic Beam Allocation".
    """

    beam_size: int = 50
    prune_factor: int = 50
    sat_tolerance: int = 2
    min_satisfied: int | None = 2
    beta: float = 2.0
    length_penalty: float = 0.1
    min_tokens: int = 15
    max_tokens: int = 256
    ngram_size: int = 10
    allocates: bool = False
    stops_early: bool = False
    n_best: int = 1

    def __post_init__(self) -> None:
        positive = (self.beam_size, self.prune_factor, self.max_tokens, self.n_best)
        other = (self.sat_tolerance, self.min_satisfied or 0, self.min_tokens, self.ngram_size)
        if min(positive) < 1 or min(other) < 0 or self.beta < 0:
            raise UsageError(
                f"Settings {self}; expected 1 or more of beam_size, prune_factor, max_tokens and "
                "n_best, and 0 or more of the others."
            )
        if self.ngram_size == 1:
            raise UsageError("No token could stand in a text twice; ngram_size is 0, or 2 or more.")
        if self.min_tokens >= self.max_tokens:
            raise UsageError(
                f"Texts of {self.min_tokens} tokens and their end at least, and {self.max_tokens} "
                "at most; expected min_tokens < max_tokens."
            )


@dataclass(frozen=True, slots=True)
class Found:
    """A finished text that satisfies what was asked.

    Attributes:
        tokens: Its tokens, without the end.
        log_probability: That of its tokens and its end, natural.
        score: The same divided by the length to the power of the penalty.
        satisfied: The clauses that it satisfies, counted from 0.
    """

    tokens: tuple[int, ...]
    log_probability: float
    score: float
    satisfied: frozenset[int]
