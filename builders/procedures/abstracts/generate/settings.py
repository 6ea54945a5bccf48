"""How negatives are generated."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from .....loaders.errors import UnknownNameError, UsageError
from .models import SmallModel
from .sentence_kinds import KINDS


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


class ModelChoice(Protocol):
    """Which model is trained. A frozen dataclass, whose fields tell one choice from another."""

    def make(self, texts: list[str], seed: int) -> tuple[Any, Any]:
        """A model that is not trained on the task yet, and its tokenizer.

        Args:
            texts: Those that it will be trained on.
            seed: Of what is drawn.
        """


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained.

    The paper tells no more than the model, t5-large; these are ours.

    Attributes:
        n_epochs: How often it sees every example.
        batch_size: Examples of a step.
        learning_rate: Of AdamW, after the warmup; it falls to 0 in a straight line.
        warmup_share: The share of the steps in which it rises.
        weight_decay: Of AdamW.
        max_grad_norm: The norm that gradients are cut to.
        max_source_tokens: Tokens of an input; what is longer is cut at its end, and counted.
        max_target_tokens: Tokens of an output; an example with a longer one is left out, and
            counted.
    """

    n_epochs: int = 20
    batch_size: int = 4
    learning_rate: float = 1e-3
    warmup_share: float = 0.1
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    max_source_tokens: int = 512
    max_target_tokens: int = 256

    def __post_init__(self) -> None:
        counts = (
            self.n_epochs, self.batch_size, self.max_source_tokens, self.max_target_tokens,
        )  # fmt: skip
        if min(counts) < 1 or self.learning_rate <= 0 or not 0 <= self.warmup_share < 1:
            raise UsageError(
                f"{self}; expected counts of 1 or more, a positive learning_rate and a "
                "warmup_share from 0 to 1."
            )


@dataclass(frozen=True)
class GenerationSettings:
    """How negatives are generated.

    Attributes:
        kinds: The kinds, names of ``KINDS``; where two give one sentence, the first has it.
        model: Which model is trained.
        training: How.
        beam: How it is asked under constraints. Source: BioNLI, Table 8.
        n_folds: Folds. Source: BioNLI, section 3.3.2.
        seed: Of folds, weights, the order of examples, and what is drawn.
        max_quality: GEN is kept below it. Source: BioNLI, section 3.3.2, lambda, of BLEURT.
        max_similarity: GEN-ND-SRE is kept below it. Source: the same, delta, of BioLinkBERT.
        batch_size: Abstracts that are asked about at once.
        device: Such as ``"cuda"``; None takes a GPU if there is one.
    """

    kinds: tuple[str, ...] = tuple(KINDS)
    model: ModelChoice = field(default_factory=SmallModel)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    beam: BeamSettings = field(default_factory=BeamSettings)
    n_folds: int = 5
    seed: int = 1
    max_quality: float = 0.45
    max_similarity: float = 0.9
    batch_size: int = 4
    device: str | None = None

    @classmethod
    def small(cls, seed: int = 1) -> "GenerationSettings":
        """For a small model from scratch, which can be trained on one core.

        Its search spares what advances a constraint and looks at ten sentences, as it seldom comes
        close to one by itself.

        Args:
            seed: As above.
        """
        return cls(
            model=SmallModel(),
            training=TrainingSettings(n_epochs=30, learning_rate=3e-3, max_source_tokens=256),
            beam=BeamSettings(allocates=True, n_best=10, max_tokens=100),
            seed=seed,
        )

    def __post_init__(self) -> None:
        for name in self.kinds:
            if name not in KINDS:
                raise UnknownNameError.of("kind", name, KINDS)
        if len(set(self.kinds)) < len(self.kinds) or not self.kinds:
            raise UsageError(f"Kinds {', '.join(self.kinds)}; expected one or more, each once.")
        if self.n_folds < 2 or self.batch_size < 1:
            raise UsageError(
                f"{self.n_folds} folds, {self.batch_size} abstracts at once; expected 2 or more "
                "and 1 or more."
            )
