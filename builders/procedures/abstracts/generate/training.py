"""A plain training loop for sequence-to-sequence models, reproducible on one machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from .....loaders.errors import TrainingError
from .....loaders.progress import Tell, silent
from .settings import TrainingSettings

_IGNORED = -100


@dataclass(frozen=True)
class Example:
    """The tokens that a model reads and those that it should write."""

    source: list[int]
    target: list[int]


def encode_pairs(
    tokenizer: Any, pairs: Sequence[tuple[str, str]], settings: TrainingSettings
) -> tuple[list[Example], int, int]:
    """Encode pairs of texts as examples.

    Args:
        tokenizer: A tokenizer that ends a text with its end token.
        pairs: Inputs and outputs.
        settings: Settings with the greatest lengths.

    Returns:
        The examples, the number of those with a cut input, and the number of pairs left out for the
        length of their output.
    """
    sources = [encode_input(tokenizer, source, settings) for source, _ in pairs]
    targets = [list(tokenizer(text_target=target)["input_ids"]) for _, target in pairs]
    kept = [
        (Example(source, target), is_cut)
        for (source, is_cut), target in zip(sources, targets, strict=True)
        if len(target) <= settings.max_target_tokens
    ]
    return [one for one, _ in kept], sum(is_cut for _, is_cut in kept), len(pairs) - len(kept)


def encode_input(tokenizer: Any, text: str, settings: TrainingSettings) -> tuple[list[int], bool]:
    """Encode an input, cut where it is too long.

    Args:
        tokenizer: A tokenizer that ends a text with its end token.
        text: The input.
        settings: Settings with the greatest length.

    Returns:
        The tokens, the end token included, and whether they were cut.
    """
    tokens = list(tokenizer(text)["input_ids"])
    limit = settings.max_source_tokens
    return (tokens[: limit - 1] + tokens[-1:], True) if len(tokens) > limit else (tokens, False)


def train(
    model: Any,
    padding: int,
    examples: Sequence[Example],
    settings: TrainingSettings,
    *,
    seed: int,
    tell: Tell = silent,
) -> list[float]:
    """Train a model in place.

    The order of examples and the dropout of an epoch depend on the seed and the epoch alone; the
    random generator of the process is left as it was.

    Args:
        model: An ``AutoModelForSeq2SeqLM``, on the device where it computes.
        padding: The token that fills up shorter inputs.
        examples: The examples.
        settings: Settings of training.
        seed: Seed of the order and of dropout.
        tell: Receives a line for every epoch.

    Returns:
        The mean loss of each epoch, in nats a token.

    Raises:
        TrainingError: There is no example, or the loss is not a number.
    """
    if not examples:
        raise TrainingError(
            "There is no example to train on; use more abstracts, or a greater max_target_tokens."
        )
    n_steps = -(-len(examples) // settings.batch_size) * settings.n_epochs
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    n_warmup = max(round(settings.warmup_share * n_steps), 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / n_warmup, (n_steps - step) / max(n_steps - n_warmup, 1)),
    )
    losses = []
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        model.train()
        for epoch in range(settings.n_epochs):
            torch.manual_seed(int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0]))
            order = torch.randperm(len(examples)).tolist()
            total, n_tokens = 0.0, 0
            for start in range(0, len(order), settings.batch_size):
                batch = [examples[i] for i in order[start : start + settings.batch_size]]
                loss, n = _step(model, batch, padding, settings, optimizer)
                schedule.step()
                total, n_tokens = total + loss, n_tokens + n
            losses.append(total / n_tokens)
            if not np.isfinite(losses[-1]):
                raise TrainingError(
                    f"The loss is not a number in epoch {epoch + 1}; try a lower learning_rate."
                )
            tell(f"epoch {epoch + 1} of {settings.n_epochs}: loss {losses[-1]:.3f}")
    model.eval()
    return losses


def _step(
    model: Any,
    batch: Sequence[Example],
    padding: int,
    settings: TrainingSettings,
    optimizer: torch.optim.Optimizer,
) -> tuple[float, int]:
    """Take one step; return the sum of the losses of its tokens, and their number."""
    sources = _pad([one.source for one in batch], padding).to(model.device)
    mask = _pad([[1] * len(one.source) for one in batch], 0).to(model.device)
    labels = _pad([one.target for one in batch], _IGNORED).to(model.device)
    logits = model(input_ids=sources, attention_mask=mask, labels=labels).logits.float()
    loss = cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=_IGNORED)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_grad_norm)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    n_tokens = sum(len(one.target) for one in batch)
    return loss.item() * n_tokens, n_tokens


def _pad(rows: Sequence[Sequence[int]], filling: int) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[filling] * (width - len(row))] for row in rows])
