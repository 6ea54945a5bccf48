"""Language models on this machine, through ``transformers``."""

import logging
from collections.abc import Generator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ....loaders.errors import ModelError, UsageError, needs_extra
from ...training.batches import prediction_batches
from .ask import Answer, PromptQuestion
from .prompts import HEADINGS, plain_text

_LOGGER = logging.getLogger(__name__)


class LocalModel:
    """A causal language model that answers greedily, several questions at a time.

    Chats are written by the tokenizer's own template, or under ``HEADINGS`` where it has none.
    Special tokens that a text spells out, such as ``</s>``, are read as such by most tokenizers.
    On the CPU the answers do not depend on the batches; in bfloat16 they may, where two tokens are
    almost equally likely.

    Args:
        model: A causal language model of ``transformers``. Its generation settings are replaced by
            plain greedy decoding, without sampling and penalties.
        tokenizer: The model's tokenizer.
        name: The model's name in the record of a run.
        max_new_tokens: Maximum number of tokens of an answer, from 1. Source: MSciNLI, Table 5.
        batch_size: Maximum number of questions of a batch, from 1.
        max_batch_tokens: Maximum number of tokens of a batch, padding and answers included; from 1.
        template_options: Options of the chat template, such as ``{"enable_thinking": False}`` for
            models that would spend the answer on thoughts.

    Raises:
        ModelError: The tokenizer has neither a padding token nor an end token, or is of a kind that
            cannot write chats.
        UsageError: A number is below 1, or there are options but no chat template.
        MissingExtraError: ``nlihub[baselines]`` is not installed.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        name: str,
        *,
        max_new_tokens: int = 40,
        batch_size: int = 16,
        max_batch_tokens: int = 16_384,
        template_options: Mapping[str, Any] | None = None,
    ) -> None:
        if min(max_new_tokens, batch_size, max_batch_tokens) < 1:
            raise UsageError(
                f"max_new_tokens, batch_size and max_batch_tokens are {max_new_tokens}, "
                f"{batch_size} and {max_batch_tokens}; expected 1 or more."
            )
        self._torch, transformers = _libraries()
        self._model, self._tokenizer, self._name = model.eval(), tokenizer, name
        self._max_new_tokens = max_new_tokens
        self._batch_size, self._max_batch_tokens = batch_size, max_batch_tokens
        self._template_options = dict(template_options or {})
        self._ends = _end_tokens(model, tokenizer)
        self._check_template()
        self._padding = self._choose_padding()
        # Given to generate() instead, it would be filled up from the model's own.
        model.generation_config = transformers.GenerationConfig(
            do_sample=False,
            num_beams=1,
            max_new_tokens=max_new_tokens,
            eos_token_id=sorted(self._ends) or None,
            pad_token_id=self._padding,
        )

    @classmethod
    def load(
        cls,
        name: str,
        *,
        revision: str | None = None,
        device: str | None = None,
        precision: str | None = None,
        **options: Any,
    ) -> "LocalModel":
        """Load a model.

        Args:
            name: A repository on the Hub, or a folder.
            revision: Commit, tag or branch of the repository; None takes the newest.
            device: A device such as ``cuda:1``; None takes the GPU if there is one, else the CPU.
            precision: ``fp32`` or ``bf16``; None takes bf16 on a GPU, else fp32.
            options: Further arguments of the class.

        Raises:
            ModelError: The model cannot be loaded; and the errors of the class.
        """
        torch, transformers = _libraries()
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        precision = precision or ("bf16" if device.startswith("cuda") else "fp32")
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, revision=revision)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                name, revision=revision, dtype=dtype
            )
        except (OSError, ValueError, ImportError) as error:
            raise ModelError(f"{name} cannot be loaded as a language model: {error}") from error
        return cls(model.to(device), tokenizer, name, **options)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what the answers depend on."""
        return {
            "model": self._name,
            "commit": getattr(self._model.config, "_commit_hash", None),
            "dtype": str(self._model.dtype),
            "chat_template": self._tokenizer.chat_template is not None,
            "template_options": self._template_options,
            "max_new_tokens": self._max_new_tokens,
        }

    def answers(self, questions: Sequence[PromptQuestion]) -> Generator[Answer, None, None]:
        """Yield an answer to each question, in batches of similar length, the longest first.

        Raises:
            ModelError: A question with its answer is longer than the model allows, or the chat
                template rejects the turns.
        """
        encoded = [self._encode(question) for question in questions]
        lengths = np.array([len(ids) for ids in encoded], dtype=np.int64) + self._max_new_tokens
        self._check_lengths(questions, lengths)
        for rows in prediction_batches(lengths, self._max_batch_tokens, self._batch_size):
            texts = self._generate([encoded[row] for row in rows])
            for row, text in zip(rows, texts, strict=True):
                yield Answer(questions[row].id, text)

    def _check_template(self) -> None:
        if type(self._tokenizer).__name__ == "MistralCommonBackend":  # it writes chats unseen
            raise ModelError(
                f"The tokenizer of {self._name} comes from mistral-common and has no chat template "
                "of its own. Uninstall mistral-common, or give another tokenizer."
            )
        if self._template_options and self._tokenizer.chat_template is None:
            raise UsageError(
                f"template_options are given, but the tokenizer of {self._name} has no chat "
                "template. Leave them out."
            )

    def _choose_padding(self) -> int:
        padding = self._tokenizer.pad_token_id
        if padding is None and self._ends:
            padding = min(self._ends)
            _LOGGER.warning(
                "The tokenizer of %s has no padding token; its end token fills up batches, masked.",
                self._name,
            )
        if padding is None:
            raise ModelError(
                f"The tokenizer of {self._name} has neither a padding token nor an end token. Set "
                "tokenizer.pad_token, save it with save_pretrained, and name that folder."
            )
        return int(padding)

    def _encode(self, question: PromptQuestion) -> list[int]:
        if self._tokenizer.chat_template is None:
            ids = list(self._tokenizer(plain_text(question.messages))["input_ids"])
            # Some tokenizers close every text, after which no answer would begin.
            return ids[:-1] if ids and ids[-1] in self._ends else ids
        jinja2 = import_module("jinja2")
        try:
            text = self._tokenizer.apply_chat_template(
                list(question.messages),
                tokenize=False,
                add_generation_prompt=True,
                **self._template_options,
            )
        except jinja2.TemplateError as error:
            raise ModelError(f"The chat template of {self._name} fails: {error}.") from error
        # The template has written the special tokens already.
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _check_lengths(self, questions: Sequence[PromptQuestion], lengths: np.ndarray) -> None:
        limit = _max_length(self._model, self._tokenizer)
        if limit is None:
            return
        too_long = np.flatnonzero(lengths > limit)
        if too_long.size:
            row = int(too_long[0])
            raise ModelError(
                f"{len(too_long)} of {len(questions)} questions are too long for {self._name}. "
                f"The question about row {questions[row].id} has "
                f"{lengths[row] - self._max_new_tokens} tokens, and its answer may have "
                f"{self._max_new_tokens}; the model allows {limit} together. Use fewer shots, a "
                "prompt without definitions, or another model."
            )

    def _generate(self, batch: Sequence[Sequence[int]]) -> list[str]:
        torch = self._torch
        width = max(map(len, batch))
        # On the left, so that every answer follows its question at once.
        ids = [[self._padding] * (width - len(row)) + list(row) for row in batch]
        mask = [[0] * (width - len(row)) + [1] * len(row) for row in batch]
        device = self._model.device
        with torch.inference_mode():
            out = self._model.generate(
                input_ids=torch.tensor(ids, device=device),
                attention_mask=torch.tensor(mask, device=device),
            )
        return [self._decode(row) for row in out[:, width:].tolist()]

    def _decode(self, ids: Sequence[int]) -> str:
        end = next((place for place, id_ in enumerate(ids) if id_ in self._ends), len(ids))
        text: str = self._tokenizer.decode(ids[:end], skip_special_tokens=True)
        if self._tokenizer.chat_template is None:
            text = text.partition(HEADINGS["user"])[0]
        return text


def _libraries() -> tuple[Any, Any]:
    """Import torch and transformers."""
    with needs_extra("baselines", "A local model"):
        return import_module("torch"), import_module("transformers")


def _end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the ids that end an answer; some chat models have an end of turn besides."""
    ends = model.generation_config.eos_token_id
    listed = ends if isinstance(ends, list) else [ends]
    return frozenset(end for end in (*listed, tokenizer.eos_token_id) if end is not None)


def _max_length(model: Any, tokenizer: Any) -> int | None:
    """Return the model's maximum number of tokens, answer included; None if it has no limit."""
    limit = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if limit is None and tokenizer.model_max_length < 1 << 30:  # a huge number stands for unknown
        limit = tokenizer.model_max_length
    return limit
