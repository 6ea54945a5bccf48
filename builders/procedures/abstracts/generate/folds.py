"""Cross-fitting: train a model for each fold on the others, and ask it about its own.

Training is a plain loop for sequence-to-sequence models, reproducible on one machine.

Source:
    BioNLI, section 3.3.2: "for each split, we train with 4 folds and generate the output for the
    other fold".
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from .....loaders.atomic_write import whole_folder
from .....loaders.errors import CorpusError, OutputError, TrainingError
from .....loaders.progress import Tell, silent
from ....core.keyed import keyed_hash, keyed_number
from ..mechanisms.mechanism import Mechanism
from ..perturb.strategy import Choices, NoNegative
from .constraints import Constraints, TokenLiteral, find_phrase_tokens
from .language_model import LanguageModelScorer, pad_tokens
from .neurologic import GeneratedText, decode
from .sentence_kinds import KINDS, Asked
from .settings import GenerationSettings, TrainingSettings
from .task import Written, read_output, write_input, write_output

_IGNORED = -100
_REPORT = "fold.json"


@dataclass(frozen=True)
class Example:
    """The tokens that a model reads and those that it should write."""

    source: list[int]
    target: list[int]


def encode_examples(
    tokenizer: Any, pairs: Sequence[tuple[str, str]], settings: TrainingSettings
) -> tuple[list[Example], int, int]:
    """Encode inputs and outputs as examples to train a generator on.

    Args:
        tokenizer: A tokenizer that ends a text with its end token.
        pairs: Inputs and outputs.
        settings: Settings with the greatest lengths.

    Returns:
        The examples, the number of those with a cut input, and the number of pairs left out for the
        length of their output.
    """
    sources = [_encode_input(tokenizer, source, settings) for source, _ in pairs]
    targets = [list(tokenizer(text_target=target)["input_ids"]) for _, target in pairs]
    kept = [
        (Example(source, target), is_cut)
        for (source, is_cut), target in zip(sources, targets, strict=True)
        if len(target) <= settings.max_target_tokens
    ]
    return [one for one, _ in kept], sum(is_cut for _, is_cut in kept), len(pairs) - len(kept)


def _encode_input(tokenizer: Any, text: str, settings: TrainingSettings) -> tuple[list[int], bool]:
    """Encode an input, its end token included; return too whether it was cut."""
    tokens = list(tokenizer(text)["input_ids"])
    limit = settings.max_source_tokens
    return (tokens[: limit - 1] + tokens[-1:], True) if len(tokens) > limit else (tokens, False)


def train_generator(
    model: Any,
    padding: int,
    examples: Sequence[Example],
    settings: TrainingSettings,
    *,
    seed: int,
    tell: Tell = silent,
) -> list[float]:
    """Train a generator of negatives, a sequence-to-sequence model, in place.

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
    sources = pad_tokens([one.source for one in batch], padding).to(model.device)
    mask = pad_tokens([[1] * len(one.source) for one in batch], 0).to(model.device)
    labels = pad_tokens([one.target for one in batch], _IGNORED).to(model.device)
    logits = model(input_ids=sources, attention_mask=mask, labels=labels).logits.float()
    loss = cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=_IGNORED)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_grad_norm)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    n_tokens = sum(len(one.target) for one in batch)
    return loss.item() * n_tokens, n_tokens


@dataclass(frozen=True)
class FoldReport:
    """The training of a fold's model.

    Attributes:
        fold: The fold that it is asked about, from 0.
        n_examples: Number of examples, from the other folds.
        n_cut: Number of examples whose input was cut.
        n_left_out: Number of examples left out for the length of their output.
        losses: Mean loss of each epoch, in nats a token.
        is_resumed: Whether the model was trained in an earlier run and read from its folder.
    """

    fold: int
    n_examples: int
    n_cut: int
    n_left_out: int
    losses: tuple[float, ...]
    is_resumed: bool


@dataclass(frozen=True)
class FoldModel:
    """A fold's model, its tokenizer, and the report of its training."""

    model: Any
    tokenizer: Any
    report: FoldReport


@dataclass(frozen=True)
class FoldAnswers:
    """The sentences that a fold's model wrote.

    Attributes:
        written: For each mechanism, by kind, what was asked and what was written, the best first;
            or why nothing was asked.
        n_cut: Number of mechanisms whose input was cut.
    """

    written: tuple[Mapping[str, tuple[Asked, list[Written]] | NoNegative], ...]
    n_cut: int


def fold_of(pmid: str, n_folds: int, seed: int) -> int:
    """Return the fold of generation of an abstract, from 0, which depends on its pmid alone."""
    return keyed_number(seed, "fold", pmid) % n_folds


def fit_fold(
    fold: int,
    mechanisms: Sequence[Mechanism],
    settings: GenerationSettings,
    folder: Path | None = None,
    tell: Tell = silent,
) -> FoldModel:
    """Train the model of a fold on all other folds, or read it from its folder.

    Args:
        fold: The fold.
        mechanisms: The mechanisms of all folds, in any order.
        settings: Settings of the model and its training.
        folder: Folder that keeps the models, each in ``fold-N``; None keeps none.
        tell: Receives a line for every epoch.

    Raises:
        CorpusError: The other folds have no mechanism.
        MissingExtraError: ``nlihub[baselines]`` is not installed.
        ModelError: A pretrained model cannot be loaded.
        OutputError: The folder has something else, or a model for other mechanisms or settings.
        TrainingError: No example is short enough, or the loss is not a number.
    """
    pairs = [
        (write_input(one), write_output(one))
        for one in sorted(mechanisms, key=lambda one: (one.pmid, one.conclusion))
        if fold_of(one.pmid, settings.n_folds, settings.seed) != fold
    ]
    if not pairs:
        raise CorpusError(
            f"All {len(mechanisms)} mechanisms are in fold {fold}, so none is left to train on; "
            "use more abstracts or another seed."
        )
    device = settings.device or ("cuda" if torch.cuda.is_available() else "cpu")
    target = folder / f"fold-{fold}" if folder is not None else None
    fingerprint = _fingerprint(fold, pairs, settings)
    if target is not None and target.exists():
        return _read(target, fingerprint, device)
    seed = int.from_bytes(keyed_hash(str(fold), str(settings.seed), "weights")[:4], "little")
    texts = [text for pair in pairs for text in pair]
    model, tokenizer = settings.model.make(texts, seed)
    model.to(device)
    examples, n_cut, n_left_out = encode_examples(tokenizer, pairs, settings.training)
    tell(f"fold {fold}: {len(examples)} examples")
    losses = train_generator(
        model, tokenizer.pad_token_id, examples, settings.training, seed=seed, tell=tell
    )
    report = FoldReport(fold, len(examples), n_cut, n_left_out, tuple(losses), is_resumed=False)
    if target is not None:
        with whole_folder(target, may_replace=lambda _: False) as new:
            model.save_pretrained(new)
            tokenizer.save_pretrained(new)
            kept = {"fingerprint": fingerprint, "report": asdict(report)}
            (new / _REPORT).write_text(json.dumps(kept, indent=2), encoding="utf-8")
    return FoldModel(model, tokenizer, report)


def _fingerprint(fold: int, pairs: Sequence[tuple[str, str]], settings: GenerationSettings) -> str:
    """Hash everything that the weights depend on."""
    choice: Any = settings.model
    facts = [
        fold, settings.n_folds, settings.seed, type(choice).__name__, asdict(choice),
        asdict(settings.training), pairs,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _read(target: Path, fingerprint: str, device: str) -> FoldModel:
    try:
        kept = json.loads((target / _REPORT).read_text(encoding="utf-8"))
        is_same = kept["fingerprint"] == fingerprint
        report = replace(FoldReport(**kept["report"]), is_resumed=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OutputError(
            f"{target} does not hold the model of a fold ({error}); name another folder."
        ) from error
    if not is_same:
        raise OutputError(
            f"{target} holds a model for other mechanisms or settings; name another folder, or "
            "remove this one."
        )
    model = AutoModelForSeq2SeqLM.from_pretrained(target, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(target)
    return FoldModel(
        model.to(device).eval(), tokenizer, replace(report, losses=tuple(report.losses))
    )


def ask_fold(
    fitted: FoldModel,
    mechanisms: Sequence[Mechanism],
    settings: GenerationSettings,
    tell: Tell = silent,
) -> FoldAnswers:
    """Ask a fold's model for sentences of every kind about mechanisms that it has not seen.

    Args:
        fitted: The model of the fold.
        mechanisms: The mechanisms of the fold.
        settings: Settings of the search.
        tell: Receives a line for every kind.

    Raises:
        ModelError: The tokenizer is not fast, or the model has no first token for its decoder.
    """
    encoded = [
        _encode_input(fitted.tokenizer, write_input(one), settings.training) for one in mechanisms
    ]
    sources = [source for source, _ in encoded]
    answers: list[dict[str, tuple[Asked, list[Written]] | NoNegative]] = [{} for _ in mechanisms]
    for name in settings.kinds:
        asked: dict[int, Asked] = {}
        for i, one in enumerate(mechanisms):
            wish = KINDS[name].ask(one, Choices(settings.seed, one.pmid, name))
            if isinstance(wish, NoNegative):
                answers[i][name] = wish
            else:
                asked[i] = wish
        for i, texts in _write(fitted, sources, asked, settings):
            answers[i][name] = (asked[i], texts)
        tell(f"fold {fitted.report.fold}: {name} asked for {len(asked)} of {len(mechanisms)}")
    return FoldAnswers(tuple(answers), sum(is_cut for _, is_cut in encoded))


def _write(
    fitted: FoldModel,
    sources: Sequence[list[int]],
    asked: Mapping[int, Asked],
    settings: GenerationSettings,
) -> Iterator[tuple[int, list[Written]]]:
    """Write the sentences asked for, in batches of inputs of similar length."""
    model, tokenizer = fitted.model, fitted.tokenizer
    padding = tokenizer.pad_token_id
    # The output layer may have more rows than tokens, padded to a round number.
    unused = {padding, *range(len(tokenizer), model.get_output_embeddings().out_features)}
    if tokenizer.unk_token_id is not None:
        unused.add(tokenizer.unk_token_id)
    rows = sorted(asked, key=lambda i: (len(sources[i]), i))
    for start in range(0, len(rows), settings.batch_size):
        batch = rows[start : start + settings.batch_size]
        found = decode(
            LanguageModelScorer(model, [sources[i] for i in batch], padding=padding),
            [_constrain(tokenizer, asked[i]) for i in batch],
            settings.beam,
            ends=[tokenizer.eos_token_id],
            suppressed=unused,
        )
        for i, texts in zip(batch, found, strict=True):
            yield i, [read_output(_as_text(tokenizer, text)) for text in texts]


def _as_text(tokenizer: Any, found: GeneratedText) -> str:
    text: str = tokenizer.decode(list(found.tokens), clean_up_tokenization_spaces=False)
    return text


def _constrain(tokenizer: Any, asked: Asked) -> Constraints:
    """Make one clause for each phrase asked for."""
    return Constraints(
        [TokenLiteral(find_phrase_tokens(tokenizer, phrase), is_positive)]
        for phrases, is_positive in ((asked.required, True), (asked.forbidden, False))
        for phrase in phrases
    )
