"""Settings of generation: beam search, training, and the whole procedure."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from .....loaders.errors import ModelError, UnknownNameError, UsageError, needs_extra
from .sentence_kinds import KINDS
from .task import SPECIAL_TOKENS

_PADDING, _END = "<pad>", "</s>"


@dataclass(frozen=True)
class PretrainedModel:
    """A sequence-to-sequence model of the Hub or a folder, such as ``t5-large``, the paper's.

    Attributes:
        name: The repository on the Hub, or a folder.
        revision: Commit, tag or branch of the repository; None takes its default branch.
    """

    name: str
    revision: str | None = None

    def make(self, texts: list[str], seed: int) -> tuple[Any, Any]:
        """Load the model in single precision, and add the task's tokens to its tokenizer.

        Args:
            texts: Not used.
            seed: Seed of the embeddings of the task's tokens.

        Raises:
            MissingExtraError: ``nlihub[baselines]`` is not installed.
            ModelError: The model cannot be loaded.
        """
        with needs_extra("baselines", "Generation"):
            import torch
            from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
        try:
            tokenizer = AutoTokenizer.from_pretrained(self.name, revision=self.revision)
            model = AutoModelForSeq2SeqLM.from_pretrained(
                self.name, revision=self.revision, dtype=torch.float32
            )
        except (OSError, ValueError) as error:
            raise ModelError(f"{self.name} cannot be loaded for generation: {error}") from error
        tokenizer.add_tokens(list(SPECIAL_TOKENS))
        if len(tokenizer) > model.get_input_embeddings().num_embeddings:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                model.resize_token_embeddings(len(tokenizer))
        return model, tokenizer


@dataclass(frozen=True)
class SmallModel:
    """A small T5 from scratch, with a byte-level vocabulary of the texts that it is trained on.

    One core can train it. It shows how generation works; its prose is poor.

    Attributes:
        n_tokens: Greatest size of the vocabulary.
        width: Width of its states.
        n_layers: Number of layers of its encoder, and of its decoder.
        n_heads: Number of attention heads.
    """

    n_tokens: int = 2_000
    width: int = 128
    n_layers: int = 2
    n_heads: int = 4

    def make(self, texts: list[str], seed: int) -> tuple[Any, Any]:
        """Make the model, with random weights, and its tokenizer.

        Args:
            texts: The texts that the vocabulary is made from.
            seed: Seed of the weights.

        Raises:
            MissingExtraError: ``nlihub[baselines]`` is not installed.
        """
        with needs_extra("baselines", "Generation"):
            import torch
            from transformers import AutoModelForSeq2SeqLM, T5Config
        tokenizer = train_tokenizer(texts, self.n_tokens)
        options: dict[str, Any] = {
            "vocab_size": len(tokenizer),
            "d_model": self.width,
            "d_kv": self.width // self.n_heads,
            "d_ff": 4 * self.width,
            "num_layers": self.n_layers,
            "num_heads": self.n_heads,
            "pad_token_id": tokenizer.pad_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "decoder_start_token_id": tokenizer.pad_token_id,
        }
        config = T5Config(**options)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = AutoModelForSeq2SeqLM.from_config(config)  # type: ignore[no-untyped-call]
        return model, tokenizer


def train_tokenizer(texts: list[str], n_tokens: int) -> Any:
    """Train the byte-level tokenizer of a small generator, which can encode any text.

    Args:
        texts: The texts that the vocabulary is made from.
        n_tokens: Greatest size of the vocabulary, with its 256 bytes and the task's tokens.

    Raises:
        MissingExtraError: ``nlihub[baselines]`` is not installed.
    """
    with needs_extra("baselines", "Generation"):
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
        from transformers import PreTrainedTokenizerFast
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=n_tokens,
        special_tokens=[_PADDING, _END, *SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {_END}", special_tokens=[(_END, tokenizer.token_to_id(_END))]
    )
    wrap: Any = PreTrainedTokenizerFast
    return wrap(tokenizer_object=tokenizer, pad_token=_PADDING, eos_token=_END)


@dataclass(frozen=True)
class BeamSettings:
    """Settings of constrained beam search; by default those of the paper.

    Attributes:
        beam_size: Number of texts followed at once, 1 or more.
        prune_factor: Number of continuations of all texts that are kept by score, 1 or more.
        sat_tolerance: How many clauses fewer than the best kept continuation another may satisfy,
            0 or more. Table 8 calls it "min satisfied constraints"; this is its meaning in the
            authors' decoder.
        min_satisfied: Least number of clauses that a text must satisfy; None, or a number above
            that of the clauses, means all.
        beta: Bonus for a positive literal matched almost to its end, in natural log probability,
            0 or more.
        length_penalty: Exponent of the length: a text's score is its log probability divided by its
            length in tokens, end included, to this power.
        min_tokens: Least number of tokens of a text, without its end.
        max_tokens: Greatest number of tokens of a text, with its end; a longer text is given up.
        ngram_size: No sequence of this many tokens occurs twice in a text; 0 allows all, 1 is not
            allowed.
        allocates: Whether pruning spares the best continuation of every text and those that advance
            a positive literal, and texts inside a literal are grouped by the part of it that is
            matched, the greatest first. Without it, as in the paper, constraints are met only where
            the model comes close by itself.
        stops_early: Whether a search ends once as many texts are finished as the beam is wide,
            instead of once no text can become better than the best.
        n_best: Greatest number of texts returned, 1 or more.

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
                f"{self} cannot be used; expected 1 or more for beam_size, prune_factor, "
                "max_tokens and n_best, and 0 or more for the others."
            )
        if self.ngram_size == 1:
            raise UsageError(
                "ngram_size is 1, which lets no token occur twice; expected 0 (no limit), or 2 or "
                "more."
            )
        if self.min_tokens >= self.max_tokens:
            raise UsageError(
                f"min_tokens is {self.min_tokens} and max_tokens {self.max_tokens}, which includes "
                "the end; expected min_tokens < max_tokens."
            )


class ModelChoice(Protocol):
    """The choice of a model to train: a frozen dataclass whose fields identify the choice."""

    def make(self, texts: list[str], seed: int) -> tuple[Any, Any]:
        """Make a model that is not yet trained on the task, and its tokenizer.

        Args:
            texts: The texts that it will be trained on.
            seed: Seed of every random choice.
        """


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of training a generator of negatives.

    The paper names only the model, t5-large; these defaults are ours.

    Attributes:
        n_epochs: Number of passes over the examples, 1 or more.
        batch_size: Number of examples in a step, 1 or more.
        learning_rate: Peak learning rate of AdamW, above 0; it then falls linearly to 0.
        warmup_share: Share of the steps in which the learning rate rises, 0 ... 1, 1 excluded.
        weight_decay: Weight decay of AdamW.
        max_grad_norm: Norm to which gradients are clipped.
        max_source_tokens: Greatest number of tokens of an input; longer ones are cut at the end,
            and counted.
        max_target_tokens: Greatest number of tokens of an output; examples with longer ones are
            left out, and counted.
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
                f"{self} cannot be used; expected counts of 1 or more, a positive learning_rate "
                "and a warmup_share from 0 to below 1."
            )


@dataclass(frozen=True)
class GenerationSettings:
    """Settings of generating negatives with models.

    Attributes:
        kinds: The kinds of sentences to ask for, names of ``KINDS``; a sentence found for two kinds
            goes to the first.
        model: The model to train.
        training: How to train it.
        beam: How to search under constraints. Source: BioNLI, Table 8.
        n_folds: Number of folds, 2 or more. Source: BioNLI, section 3.3.2.
        seed: Seed of folds, weights, the order of examples and random choices.
        max_quality: Upper bound, excluded, of the quality of GEN. Source: BioNLI, section 3.3.2,
            lambda, for BLEURT.
        max_similarity: Upper bound, excluded, of the similarity of GEN-ND-SRE to the positive.
            Source: BioNLI, section 3.3.2, delta, for BioLinkBERT.
        batch_size: Number of abstracts asked about at once, 1 or more.
        device: Device of the model, such as ``"cuda"``; None takes a GPU if there is one.
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
        """Return settings of generation by a small model from scratch, which one core can train.

        Its search spares what advances a constraint and returns ten sentences, as such a model
        rarely comes close to a constraint by itself.
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
            raise UsageError(f"The kinds are {list(self.kinds)}; expected one or more, each once.")
        if self.n_folds < 2 or self.batch_size < 1:
            raise UsageError(
                f"n_folds is {self.n_folds} and batch_size {self.batch_size}; expected n_folds of "
                "2 or more and batch_size of 1 or more."
            )
