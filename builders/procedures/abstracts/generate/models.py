"""The models that can be trained: a pretrained one, or a small one from scratch."""

from dataclasses import dataclass
from typing import Any

from .....loaders.errors import ModelError, needs_extra
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

        Returns:
            The model and the tokenizer.

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

        Returns:
            The model and the tokenizer.

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
    """Train a byte-level tokenizer, which can encode any text, with the task's tokens.

    Args:
        texts: The texts that the vocabulary is made from.
        n_tokens: Greatest size of the vocabulary, with its 256 bytes and the task's tokens.

    Returns:
        A fast tokenizer of ``transformers``.

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
