"""Generate GEN and GEN-ND: train models, ask them, judge their sentences, apply the bounds."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .....loaders.corpora.abstracts.markers import MARKER
from .....loaders.errors import needs_extra
from .....loaders.paths import local_path
from .....loaders.progress import Tell, silent
from ..mechanisms.mechanism import Mechanism
from ..perturb.apply import SAME_AS_ANOTHER, SAME_AS_POSITIVE
from ..perturb.names import locate_entities
from ..perturb.strategy import BROKEN_MARKERS, NoNegative, Perturbed, TextEdit
from .sentence_kinds import KINDS, NOT_FOUND, TOO_GOOD, TOO_SIMILAR, Asked, SentenceKind
from .settings import GenerationSettings
from .task import Written

if TYPE_CHECKING:
    from .folds import FoldReport


_WORD = re.compile(r"\w+|[^\w\s]")


class Similarity(Protocol):
    """A measure of how alike sentences are; BLEURT, or a user's own model, fits too."""

    @property
    def name(self) -> str:
        """Return its name in reports."""

    def score(self, written: Sequence[str], originals: Sequence[str]) -> Sequence[float]:
        """Score pairs of sentences.

        Args:
            written: n sentences that a model wrote, without markers.
            originals: The n conclusions to compare them with, without markers.

        Returns:
            n scores; higher means more alike.
        """


class TokenF1:
    """The harmonic mean of precision and recall of words and punctuation, ignoring case: 0 ... 1.

    The default, as it needs no download. It knows no meaning: a paraphrase scores as low as a
    sentence on another subject, and a sentence with its entities exchanged scores 1. The paper's
    bounds are for BLEURT and BioLinkBERT, and mean something else here.

    >>> TokenF1().score(["A blocks B."], ["A activates B."])
    [0.75]
    """

    name = "token F1"

    def score(self, written: Sequence[str], originals: Sequence[str]) -> list[float]:
        """Score pairs; see ``Similarity.score``."""
        return [_f1(one, other) for one, other in zip(written, originals, strict=True)]


class EncoderCosine:
    """The cosine of two texts' mean last hidden states of an encoder: -1 ... 1.

    Args:
        model: An encoder of ``transformers``, such as BioLinkBERT, on the device where it computes.
        tokenizer: Its tokenizer.
        name: Its name in reports.
        batch_size: Number of texts in a batch.

    Source:
        BioNLI, section 3.3.2 (2): BioLinkBERT. That its tokens are averaged is ours; the paper does
        not say how a text becomes a vector.
    """

    def __init__(self, model: Any, tokenizer: Any, name: str, *, batch_size: int = 16) -> None:
        self._model, self._tokenizer, self._name = model.eval(), tokenizer, name
        self._batch_size = batch_size

    @property
    def name(self) -> str:
        """Return its name in reports."""
        return f"{self._name} cosine"

    def score(self, written: Sequence[str], originals: Sequence[str]) -> list[float]:
        """Score pairs; see ``Similarity.score``. Too long a text counts by its beginning."""
        from torch.nn.functional import cosine_similarity

        found: list[float] = []
        for start in range(0, len(written), self._batch_size):
            part = slice(start, start + self._batch_size)
            one, other = (self._embed(list(texts[part])) for texts in (written, originals))
            found += cosine_similarity(one, other).tolist()
        return found

    def _embed(self, texts: list[str]) -> Any:
        import torch

        encoded = self._tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        encoded = encoded.to(self._model.device)
        with torch.inference_mode():
            states = self._model(**encoded).last_hidden_state.float()
        mask = encoded["attention_mask"][..., None]
        return (states * mask).sum(dim=1) / mask.sum(dim=1)


def without_markers(sentence: str) -> str:
    """Remove the markers of a sentence, and make runs of whitespace one space."""
    return " ".join(MARKER.sub(" ", sentence).split())


def _f1(one: str, other: str) -> float:
    left, right = (Counter(_WORD.findall(text.casefold())) for text in (one, other))
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


#: Sentences that are negatives if they keep their bound, by index of the mechanism and kind.
_Drafts = dict[tuple[int, str], list[Perturbed | NoNegative]]


@dataclass(frozen=True)
class GeneratedNegatives:
    """The generated negatives of many mechanisms.

    Attributes:
        outcomes: For each mechanism, in order, by kind its negative or why there is none.
        folds: The reports of training, one for each fold.
        n_cut: Number of mechanisms whose input was cut when asking.
    """

    outcomes: tuple[Mapping[str, Perturbed | NoNegative], ...]
    folds: "tuple[FoldReport, ...]"
    n_cut: int


@dataclass(frozen=True)
class ModelWriter:
    """A writer of GEN and GEN-ND: trains models, and keeps those of their sentences that are wrong.

    The same mechanisms and settings give the same sentences on one machine, whatever the order of
    the mechanisms. Of the ``settings.beam.n_best`` sentences of a search, the first good one is
    taken; if none is good, the reason is that of the best.

    Attributes:
        settings: Settings of generation; by default a small model from scratch, whose prose is
            poor.
        folder: Folder that keeps the models of folds, so that an interrupted run can continue; None
            keeps none.
        quality: The measure that bounds GEN; BLEURT in the paper.
        similarity: The measure that bounds GEN-ND-SRE; BioLinkBERT in the paper.
        tell: Receives a line for every epoch and every kind.

    Source:
        BioNLI, section 3.3.2.
    """

    settings: GenerationSettings = field(default_factory=GenerationSettings.small)
    folder: str | Path | None = None
    quality: Similarity = field(default_factory=TokenF1)
    similarity: Similarity = field(default_factory=TokenF1)
    tell: Tell = silent

    def write(
        self, mechanisms: Sequence[Mechanism]
    ) -> Sequence[Mapping[str, Perturbed | NoNegative]]:
        """Return the outcomes of ``generate``, for the builder of a dataset."""
        return self.generate(mechanisms).outcomes

    def generate(self, mechanisms: Sequence[Mechanism]) -> GeneratedNegatives:
        """Train a model for each fold, let it write sentences, and keep those that are negatives.

        Args:
            mechanisms: The positives.

        Returns:
            For each mechanism and kind a negative, or why there is none.

        Raises:
            MissingExtraError: ``nlihub[baselines]`` is not installed.
            CorpusError: All mechanisms are in one fold.
            OutputError: The folder has something else, or models for other mechanisms or settings.
            ModelError: A model or its tokenizer cannot be used.
            TrainingError: Training fails.
        """
        settings, tell = self.settings, self.tell
        folder = local_path(self.folder) if self.folder is not None else None
        with needs_extra("baselines", "Generation"):
            from .folds import ask_fold, fit_fold, fold_of
        order = sorted(
            range(len(mechanisms)), key=lambda i: (mechanisms[i].pmid, mechanisms[i].conclusion)
        )
        sound = [i for i in order if locate_entities(mechanisms[i]) is not None]
        rows_of: dict[int, list[int]] = defaultdict(list)
        for i in sound:
            rows_of[fold_of(mechanisms[i].pmid, settings.n_folds, settings.seed)].append(i)
        drafts: _Drafts = {
            (i, name): [NoNegative(BROKEN_MARKERS)]
            for i in set(order) - set(sound)
            for name in settings.kinds
        }
        reports, n_cut = [], 0
        for fold, rows in sorted(rows_of.items()):
            fitted = fit_fold(fold, [mechanisms[i] for i in sound], settings, folder, tell)
            reports.append(fitted.report)
            answers = ask_fold(fitted, [mechanisms[i] for i in rows], settings, tell)
            n_cut += answers.n_cut
            for row, found in zip(rows, answers.written, strict=True):
                for name, answer in found.items():
                    drafts[row, name] = _judge(answer, KINDS[name], mechanisms[row])
        kept = self._keep_bounds(drafts, mechanisms)
        outcomes = tuple(
            _choose(one, {name: kept[i, name] for name in settings.kinds})
            for i, one in enumerate(mechanisms)
        )
        return GeneratedNegatives(outcomes, tuple(reports), n_cut)

    def _keep_bounds(self, drafts: _Drafts, mechanisms: Sequence[Mechanism]) -> _Drafts:
        """Keep the drafts below their bound, with their scores; score those of a bound at once."""
        kept = {key: list(found) for key, found in drafts.items()}
        for name, measure, bound, reason in (
            ("quality", self.quality, self.settings.max_quality, TOO_GOOD),
            ("similarity", self.similarity, self.settings.max_similarity, TOO_SIMILAR),
        ):
            places = [
                (key, n, draft)
                for key, found in sorted(drafts.items())
                if KINDS[key[1]].bound == name
                for n, draft in enumerate(found)
                if isinstance(draft, Perturbed)
            ]
            if not places:
                continue
            written = [without_markers(draft.text) for _, _, draft in places]
            originals = [without_markers(mechanisms[key[0]].conclusion) for key, _, _ in places]
            scores = measure.score(written, originals)
            for (key, n, draft), score in zip(places, scores, strict=True):
                shown = f"{draft.detail}; {measure.name} {score:.3f}"
                is_below = score < bound
                kept[key][n] = replace(draft, detail=shown) if is_below else NoNegative(reason)
        return kept

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that the sentences depend on, besides the mechanisms."""
        model: Any = self.settings.model
        return {
            **asdict(self.settings),
            "model": {"kind": type(model).__name__, **asdict(model)},
            "quality": self.quality.name,
            "similarity": self.similarity.name,
        }


def _judge(
    answer: "tuple[Asked, list[Written]] | NoNegative", kind: SentenceKind, mechanism: Mechanism
) -> list[Perturbed | NoNegative]:
    """Draft a negative from each sentence that is wrong as its kind asks."""
    if isinstance(answer, NoNegative):
        return [answer]
    asked, texts = answer
    drafts: list[Perturbed | NoNegative] = []
    for one in texts:
        verdict = kind.judge(one, mechanism, asked)
        edit = TextEdit(0, len(mechanism.conclusion), one.sentence)
        drafts.append(
            verdict
            if isinstance(verdict, NoNegative)
            else Perturbed(one.sentence, verdict, (edit,))
        )
    return drafts or [NoNegative(NOT_FOUND)]


def _choose(
    mechanism: Mechanism, found: Mapping[str, list[Perturbed | NoNegative]]
) -> dict[str, Perturbed | NoNegative]:
    """Choose the first good sentence of each kind that no earlier kind has."""
    taken = {mechanism.conclusion: SAME_AS_POSITIVE}
    outcomes: dict[str, Perturbed | NoNegative] = {}
    for name, drafts in found.items():
        verdicts = [
            NoNegative(taken[one.text]) if isinstance(one, Perturbed) and one.text in taken else one
            for one in drafts
        ]
        outcomes[name] = next((one for one in verdicts if isinstance(one, Perturbed)), verdicts[0])
        if isinstance(best := outcomes[name], Perturbed):
            taken[best.text] = SAME_AS_ANOTHER
    return outcomes
