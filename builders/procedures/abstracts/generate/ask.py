"""Asks a fold's model for sentences of every kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .....loaders.progress import Tell, silent
from ..mechanisms.mechanism import Mechanism
from ..perturb.choices import Choices
from ..perturb.strategy import Refused
from .beam import Found
from .constraints import Constraints
from .folds import FoldModel
from .kinds import KINDS, Asked
from .language_model import LanguageModelScorer
from .neurologic import decode
from .settings import GenerationSettings
from .task import Written, read_output, write_input
from .training import encode_input
from .variants import make_literal


@dataclass(frozen=True)
class FoldAnswers:
    """What a fold's model wrote.

    Attributes:
        written: For each mechanism by kind what was asked and what was written, the best first, or
            why nothing was asked.
        n_cut: Mechanisms whose input was cut.
    """

    written: tuple[Mapping[str, tuple[Asked, list[Written]] | Refused], ...]
    n_cut: int


def ask_fold(
    fitted: FoldModel,
    mechanisms: Sequence[Mechanism],
    settings: GenerationSettings,
    tell: Tell = silent,
) -> FoldAnswers:
    """Asks a model about mechanisms that it has not seen.

    Args:
        fitted: The model.
        mechanisms: The mechanisms.
        settings: How.
        tell: Is told of every kind.
    """
    encoded = [
        encode_input(fitted.tokenizer, write_input(one), settings.training) for one in mechanisms
    ]
    sources = [source for source, _ in encoded]
    answers: list[dict[str, tuple[Asked, list[Written]] | Refused]] = [{} for _ in mechanisms]
    for name in settings.kinds:
        asked: dict[int, Asked] = {}
        for i, one in enumerate(mechanisms):
            wish = KINDS[name].ask(one, Choices(settings.seed, one.pmid, name))
            if isinstance(wish, Refused):
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
    """The texts for what is asked, in batches of inputs of like length."""
    model, tokenizer = fitted.model, fitted.tokenizer
    padding = tokenizer.pad_token_id
    # Rows of the output layer that pad it to a round number belong to no token.
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


def _as_text(tokenizer: Any, found: Found) -> str:
    text: str = tokenizer.decode(list(found.tokens), clean_up_tokenization_spaces=False)
    return text


def _constrain(tokenizer: Any, asked: Asked) -> Constraints:
    """A clause for each phrase."""
    return Constraints(
        [make_literal(tokenizer, phrase, is_positive=is_positive)]
        for phrases, is_positive in ((asked.required, True), (asked.forbidden, False))
        for phrase in phrases
    )
