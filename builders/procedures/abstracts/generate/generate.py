"""Generate GEN and GEN-ND: train models, ask them, judge their sentences, apply the bounds."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .....loaders.errors import needs_extra
from .....loaders.progress import Tell, silent
from ..mechanisms.mechanism import Mechanism
from ..perturb.apply import SAME_AS_ANOTHER, SAME_AS_POSITIVE
from ..perturb.marked import locate_entities
from ..perturb.strategy import BROKEN_MARKERS, Edit, NoNegative, Perturbed
from .sentence_kinds import KINDS, NOT_FOUND, TOO_GOOD, TOO_SIMILAR, Asked, SentenceKind
from .settings import GenerationSettings
from .similarity import Similarity, TokenF1, without_markers
from .task import Written

if TYPE_CHECKING:
    from .folds import FoldReport


#: The index of a mechanism, and a kind.
_Key = tuple[int, str]
#: The count of negatives, beside the counts of reasons.
MADE = "made"


@dataclass(frozen=True, slots=True)
class _Bound:
    """The value below which the measure of a sentence must be."""

    measure: Similarity
    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Draft:
    """A sentence that is a negative if its measure is below its bound."""

    text: str
    detail: str


@dataclass(frozen=True)
class GeneratedNegatives:
    """The generated negatives of many mechanisms.

    Attributes:
        outcomes: For each mechanism, in order, by kind its negative or why there is none.
        folds: The reports of training, one for each fold.
        n_cut: Number of mechanisms whose input was cut when asking.
        scorers: The name of the measure of each bound.
    """

    outcomes: tuple[Mapping[str, Perturbed | NoNegative], ...]
    folds: "tuple[FoldReport, ...]"
    n_cut: int
    scorers: Mapping[str, str]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Count by kind the negatives, under ``MADE``, and each reason for having none.

        The counts of a kind add up to the number of mechanisms.
        """
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for outcome in self.outcomes:
            for kind, one in outcome.items():
                counts[kind][one.reason if isinstance(one, NoNegative) else MADE] += 1
        return {kind: dict(found.most_common()) for kind, found in counts.items()}


@dataclass(frozen=True)
class ModelWriter:
    """Writes GEN and GEN-ND with trained models, for the builder of a dataset.

    Attributes:
        settings: Settings of generation; by default a small model from scratch, whose prose is
            poor.
        folder: Folder that keeps the models of folds, so that an interrupted run can continue; None
            keeps none.
        quality: The measure that bounds GEN; BLEURT in the paper.
        similarity: The measure that bounds GEN-ND-SRE; BioLinkBERT in the paper.
        tell: Receives a line for each step.
    """

    settings: GenerationSettings = field(default_factory=GenerationSettings.small)
    folder: str | Path | None = None
    quality: Similarity = field(default_factory=TokenF1)
    similarity: Similarity = field(default_factory=TokenF1)
    tell: Tell = silent

    def write(
        self, mechanisms: Sequence[Mechanism]
    ) -> Sequence[Mapping[str, Perturbed | NoNegative]]:
        """Write the negatives of mechanisms.

        Args:
            mechanisms: The positives.

        Returns:
            For each mechanism, by kind, its negative or why there is none.

        Raises:
            MissingExtraError: ``nlihub[baselines]`` is not installed.
            CorpusError: All mechanisms are in one fold.
            OutputError: The folder has something else, or models for other mechanisms or settings.
            ModelError: A model or its tokenizer cannot be used.
            TrainingError: Training fails.
        """
        generated = generate_negatives(
            mechanisms,
            self.settings,
            folder=Path(self.folder).expanduser() if self.folder is not None else None,
            quality=self.quality,
            similarity=self.similarity,
            tell=self.tell,
        )
        return generated.outcomes

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that the sentences depend on, besides the mechanisms."""
        model: Any = self.settings.model
        return {
            **asdict(self.settings),
            "model": {"kind": type(model).__name__, **asdict(model)},
            "quality": self.quality.name,
            "similarity": self.similarity.name,
        }


def generate_negatives(
    mechanisms: Sequence[Mechanism],
    settings: GenerationSettings | None = None,
    *,
    folder: Path | None = None,
    quality: Similarity | None = None,
    similarity: Similarity | None = None,
    tell: Tell = silent,
) -> GeneratedNegatives:
    """Train a model for each fold, let it write sentences, and keep those that are negatives.

    The same mechanisms and settings give the same sentences on one machine, whatever the order of
    the mechanisms. Of the ``settings.beam.n_best`` sentences of a search, the first good one is
    taken; if none is good, the reason is that of the best.

    Args:
        mechanisms: The positives.
        settings: Settings of generation; None takes a small model from scratch and the paper's
            beam.
        folder: Folder that keeps the models of folds, so that an interrupted run can continue; None
            keeps none.
        quality: The measure that bounds GEN; None takes ``TokenF1``.
        similarity: The measure that bounds GEN-ND-SRE; None takes ``TokenF1``.
        tell: Receives a line for every epoch and every kind.

    Returns:
        For each mechanism and kind a negative, or why there is none.

    Raises:
        MissingExtraError: ``nlihub[baselines]`` is not installed.
        CorpusError: All mechanisms are in one fold.
        OutputError: The folder has something else, or models for other mechanisms or settings.
        ModelError: A model or its tokenizer cannot be used.
        TrainingError: Training fails.

    Source:
        BioNLI, section 3.3.2.
    """
    settings = settings or GenerationSettings()
    bounds = {
        "quality": _Bound(quality or TokenF1(), settings.max_quality, TOO_GOOD),
        "similarity": _Bound(similarity or TokenF1(), settings.max_similarity, TOO_SIMILAR),
    }
    with needs_extra("baselines", "Generation"):
        from .folds import ask_fold, fit_fold, fold_of
    order = sorted(range(len(mechanisms)), key=lambda i: _identity(mechanisms[i]))
    sound = [i for i in order if locate_entities(mechanisms[i]) is not None]
    rows_of: dict[int, list[int]] = defaultdict(list)
    for i in sound:
        rows_of[fold_of(mechanisms[i].pmid, settings.n_folds, settings.seed)].append(i)
    drafts: dict[_Key, list[_Draft | NoNegative]] = {
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
    kept = _keep_bounds(drafts, mechanisms, bounds)
    outcomes = tuple(
        _choose(one, {name: kept[i, name] for name in settings.kinds})
        for i, one in enumerate(mechanisms)
    )
    names = {bound: one.measure.name for bound, one in bounds.items()}
    return GeneratedNegatives(outcomes, tuple(reports), n_cut, names)


def _identity(mechanism: Mechanism) -> tuple[str, str]:
    return mechanism.pmid, mechanism.conclusion


def _judge(
    answer: "tuple[Asked, list[Written]] | NoNegative", kind: SentenceKind, mechanism: Mechanism
) -> list[_Draft | NoNegative]:
    if isinstance(answer, NoNegative):
        return [answer]
    asked, texts = answer
    verdicts = [(one.sentence, kind.judge(one, mechanism, asked)) for one in texts]
    return [
        verdict if isinstance(verdict, NoNegative) else _Draft(sentence, verdict)
        for sentence, verdict in verdicts
    ] or [NoNegative(NOT_FOUND)]


def _keep_bounds(
    drafts: Mapping[_Key, list[_Draft | NoNegative]],
    mechanisms: Sequence[Mechanism],
    bounds: Mapping[str, _Bound],
) -> dict[_Key, list[_Draft | NoNegative]]:
    """Keep the drafts below their bound, with their scores; score those of a bound in one call."""
    kept = {key: list(found) for key, found in drafts.items()}
    for name, bound in bounds.items():
        places = [
            (key, n, draft)
            for key, found in sorted(drafts.items())
            if KINDS[key[1]].bound == name
            for n, draft in enumerate(found)
            if isinstance(draft, _Draft)
        ]
        if not places:
            continue
        written = [without_markers(draft.text) for _, _, draft in places]
        originals = [without_markers(mechanisms[key[0]].conclusion) for key, _, _ in places]
        scores = bound.measure.score(written, originals)
        for (key, n, draft), score in zip(places, scores, strict=True):
            if score < bound.value:
                shown = f"{draft.detail}; {bound.measure.name} {score:.3f}"
                kept[key][n] = replace(draft, detail=shown)
            else:
                kept[key][n] = NoNegative(bound.reason)
    return kept


def _choose(
    mechanism: Mechanism, found: Mapping[str, list[_Draft | NoNegative]]
) -> dict[str, Perturbed | NoNegative]:
    """Choose the first good sentence of each kind that no earlier kind has."""
    taken = {mechanism.conclusion: SAME_AS_POSITIVE}
    whole = len(mechanism.conclusion)
    outcomes: dict[str, Perturbed | NoNegative] = {}
    for name, drafts in found.items():
        verdicts = [
            NoNegative(taken[one.text]) if isinstance(one, _Draft) and one.text in taken else one
            for one in drafts
        ]
        best = next((one for one in verdicts if isinstance(one, _Draft)), None)
        if best is None:
            outcomes[name] = next(one for one in verdicts if isinstance(one, NoNegative))
        else:
            taken[best.text] = SAME_AS_ANOTHER
            outcomes[name] = Perturbed(best.text, best.detail, (Edit(0, whole, best.text),))
    return outcomes
