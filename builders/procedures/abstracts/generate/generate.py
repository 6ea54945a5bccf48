"""GEN and GEN-ND of many mechanisms: train, ask, judge, bound."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .....loaders.progress import Tell, silent
from ..mechanisms.mechanism import Mechanism
from ..perturb.apply import SAME_AS_ANOTHER, SAME_AS_POSITIVE
from ..perturb.marked import read_marked
from ..perturb.strategy import BROKEN_MARKERS, Edit, NoNegative, Perturbed
from .models import needs_baselines
from .sentence_kinds import KINDS, NOT_FOUND, TOO_GOOD, TOO_SIMILAR, Asked, Kind
from .settings import GenerationSettings
from .similarity import Similarity, TokenF1, without_markers
from .task import Written

if TYPE_CHECKING:
    from .folds import FoldReport


#: A mechanism, by its place, and a kind.
_Key = tuple[int, str]
#: What is counted of a kind besides reasons.
MADE = "made"


@dataclass(frozen=True, slots=True)
class _Bound:
    """What a sentence must be below."""

    measure: Similarity
    value: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Draft:
    """A sentence that is a negative if it keeps its bound."""

    text: str
    detail: str


@dataclass(frozen=True)
class GeneratedNegatives:
    """What was generated.

    Attributes:
        outcomes: For each mechanism, in their order, by kind its negative or why there is none.
        folds: What the models were trained on.
        n_cut: Inputs that were cut when models were asked, each counted once.
        scorers: By bound the name of the measure.
    """

    outcomes: tuple[Mapping[str, Perturbed | NoNegative], ...]
    folds: "tuple[FoldReport, ...]"
    n_cut: int
    scorers: Mapping[str, str]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """By kind, how many were ``MADE`` and how many refused for each reason.

        Those of a kind add up to the number of mechanisms.
        """
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for outcome in self.outcomes:
            for kind, one in outcome.items():
                counts[kind][one.reason if isinstance(one, NoNegative) else MADE] += 1
        return {kind: dict(found.most_common()) for kind, found in counts.items()}


@dataclass(frozen=True)
class ModelWriter:
    """Writes GEN and GEN-ND: ``nlihub.build_from_abstracts(..., writer=ModelWriter())``.

    Attributes:
        settings: How; by default a small model from scratch, whose prose is poor.
        folder: Where the models of folds are kept, so that a run that died goes on; None keeps
            none.
        quality: What GEN is bounded by; BLEURT in the paper.
        similarity: What GEN-ND-SRE is bounded by; BioLinkBERT in the paper.
        tell: Is told of each step.
    """

    settings: GenerationSettings = field(default_factory=GenerationSettings.small)
    folder: str | Path | None = None
    quality: Similarity = field(default_factory=TokenF1)
    similarity: Similarity = field(default_factory=TokenF1)
    tell: Tell = silent

    def write(
        self, mechanisms: Sequence[Mechanism]
    ) -> Sequence[Mapping[str, Perturbed | NoNegative]]:
        """For each of n mechanisms by kind its negative, or why there is none.

        Raises:
            NLIHubError: As ``generate_negatives``.
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
        """All that the sentences depend on, besides the mechanisms."""
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
    """Trains a model for each fold, has it write sentences, and keeps those that are negatives.

    The same mechanisms and settings give the same sentences on one machine, in whatever order they
    come. Of several sentences of a search, ``settings.beam.n_best``, the first that is kept is
    taken; where none is, the reason is that of the best.

    Args:
        mechanisms: The positives.
        settings: How; None takes a small model from scratch and the paper's beam.
        folder: Where the models of folds are kept, so that a run that died goes on; None keeps
            none.
        quality: What GEN is bounded by; None takes ``TokenF1``.
        similarity: What GEN-ND-SRE is bounded by; None takes ``TokenF1``.
        tell: Is told of every epoch and of every kind.

    Returns:
        For each mechanism and kind a negative or a refusal.

    Raises:
        MissingExtraError: ``nlihub[baselines]`` is not installed.
        CorpusError: There is nothing to train on for a fold.
        OutputError: The folder has models for other mechanisms or settings.
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
    with needs_baselines():
        from .folds import ask_fold, fit_fold, fold_of
    order = sorted(range(len(mechanisms)), key=lambda i: _identity(mechanisms[i]))
    sound = [i for i in order if read_marked(mechanisms[i]) is not None]
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
    answer: "tuple[Asked, list[Written]] | NoNegative", kind: Kind, mechanism: Mechanism
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
    """Refuses what is not below its bound, and tells the score of the rest; scored in one go."""
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
    """The first sentence of each kind that is kept and that no other kind has."""
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
