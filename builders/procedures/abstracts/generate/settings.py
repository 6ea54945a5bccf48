"""Settings of generation: the model, its training, the search, and the bounds of what is kept."""

from dataclasses import dataclass

from .....loaders.errors import UsageError

#: The name of a small model from scratch, in place of one of the Hub.
SMALL = "small"
#: The fields that are counts of 1 or more.
_COUNTS = (
    "n_epochs", "batch_size", "max_source_tokens", "max_target_tokens", "beam_size",
    "prune_factor", "max_tokens", "n_best",
)  # fmt: skip
_NOT_NEGATIVE = ("sat_tolerance", "min_satisfied", "beta", "min_tokens", "ngram_size")


@dataclass(frozen=True)
class GenerationSettings:
    """Settings of generating negatives with models; by default those of the paper.

    Attributes:
        model: A sequence-to-sequence model of the Hub or a folder; or ``"small"``, a small T5 from
            scratch, which one core can train and whose prose is poor.
        revision: Commit, tag or branch of the model; None takes its default branch.
        n_folds: Number of folds, 2 or more.
        seed: Seed of folds, weights, the order of examples and random choices.
        n_epochs: Number of passes over the examples, 1 or more.
        batch_size: Number of examples in a step, and of abstracts asked about at once, 1 or more.
        learning_rate: Peak learning rate of AdamW, above 0; it falls linearly to 0.
        max_source_tokens: Greatest number of tokens of an input; longer ones are cut at the end,
            and counted.
        max_target_tokens: Greatest number of tokens of an output to train on; examples with longer
            ones are left out, and counted.
        beam_size: Number of texts followed at once, 1 or more.
        prune_factor: Number of continuations of all texts that are kept by score, 1 or more.
        sat_tolerance: How many constraints fewer than the best kept continuation another may
            satisfy, 0 or more. Table 8 calls it "min satisfied constraints"; this is its meaning in
            the authors' decoder.
        min_satisfied: Least number of constraints that a text must satisfy; a number above that of
            the constraints means all.
        beta: Bonus for a required phrase matched almost to its end, in natural log probability,
            0 or more.
        length_penalty: Exponent of the length: a text's score is its log probability divided by its
            length in tokens, end included, to this power.
        min_tokens: Least number of tokens of a text, without its end.
        max_tokens: Greatest number of tokens of a text, with its end; a longer text is given up.
        ngram_size: No sequence of this many tokens occurs twice in a text; 0 allows all, 1 is not
            allowed.
        allocates: Whether pruning spares the best continuation of every text and those that advance
            a required phrase, and texts inside a phrase are grouped by the part of it that is
            matched, the greatest first. Without it, as in the paper, constraints are met only where
            the model comes close by itself.
        n_best: Greatest number of texts that a search returns, 1 or more; the first good one is
            taken.
        max_quality: Upper bound, excluded, of the quality of GEN; lambda, for BLEURT.
        max_similarity: Upper bound, excluded, of the similarity of GEN-ND-SRE to the positive;
            delta, for BioLinkBERT.

    Source:
        BioNLI, section 3.3.2 (model, folds, bounds) and Table 8 in Appendix B (search); training is
        ours. ``allocates``: Post and Vilar (2018), "Fast Lexically Constrained Decoding with
        Dynamic Beam Allocation".
    """

    model: str = "t5-large"
    revision: str | None = None
    n_folds: int = 5
    seed: int = 1
    n_epochs: int = 20
    batch_size: int = 4
    learning_rate: float = 1e-3
    max_source_tokens: int = 512
    max_target_tokens: int = 256
    beam_size: int = 50
    prune_factor: int = 50
    sat_tolerance: int = 2
    min_satisfied: int = 2
    beta: float = 2.0
    length_penalty: float = 0.1
    min_tokens: int = 15
    max_tokens: int = 256
    ngram_size: int = 10
    allocates: bool = False
    n_best: int = 1
    max_quality: float = 0.45
    max_similarity: float = 0.9

    def __post_init__(self) -> None:
        problems = [
            *(f"{name} below 1" for name in _COUNTS if getattr(self, name) < 1),
            *(f"{name} below 0" for name in _NOT_NEGATIVE if getattr(self, name) < 0),
            *["n_folds below 2"] * (self.n_folds < 2),
            *["learning_rate not above 0"] * (self.learning_rate <= 0),
            *["ngram_size of 1, which lets no token occur twice"] * (self.ngram_size == 1),
            *["min_tokens not below max_tokens"] * (self.min_tokens >= self.max_tokens),
        ]
        if problems:
            raise UsageError(f"{self} cannot be used: {'; '.join(problems)}.")

    @classmethod
    def small(cls, seed: int = 1) -> "GenerationSettings":
        """Return settings of generation by a small model from scratch.

        Its search spares what advances a constraint and returns ten sentences, as such a model
        rarely comes close to a constraint by itself.
        """
        return cls(
            SMALL, seed=seed, n_epochs=30, learning_rate=3e-3, max_source_tokens=256,
            max_tokens=100, allocates=True, n_best=10,
        )  # fmt: skip
