"""Generate GEN and GEN-ND: train models, ask them, judge their sentences, apply the bounds."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .....loaders.errors import needs_extra
from .....loaders.paths import local_path
from .....loaders.progress import Tell, silent
from .....loaders.releases.bionli import strip_markers
from ..mechanisms.mechanism import Mechanism
from ..perturb.names import locate_entities
from ..perturb.strategy import BROKEN_MARKERS, NoNegative, Perturbed, TextEdit
from .sentence_kinds import (
    FREE,
    KINDS,
    NOT_FOUND,
    REPLACED,
    TOO_GOOD,
    TOO_SIMILAR,
    Names,
    Written,
    choose_names,
    judge,
)
from .settings import GenerationSettings

if TYPE_CHECKING:
    from .folds import Generator

#: A measure of how alike a written sentence and the conclusion are, both without markers: more
#: alike, higher.
Similarity = Callable[[str, str], float]
_WORD = re.compile(r"\w+|[^\w\s]")


def token_f1(written: str, original: str) -> float:
    """Score a sentence by the F1 of words and punctuation, ignoring case: 0 ... 1.

    The default, as it needs no download. It knows no meaning: a paraphrase scores as low as a
    sentence on another subject, and a sentence with its entities exchanged scores 1. The paper's
    bounds are for BLEURT and BioLinkBERT, and mean something else here.

    >>> token_f1("A blocks B.", "A activates B.")
    0.75
    """
    left, right = (Counter(_WORD.findall(text.casefold())) for text in (written, original))
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


@dataclass(frozen=True)
class ModelWriter:
    """A writer of GEN and GEN-ND: trains models, and keeps those of their sentences that are wrong.

    The same mechanisms and settings give the same sentences on one machine, whatever the order of
    the mechanisms. Of the ``settings.n_best`` sentences of a search, the first good one is taken;
    if none is good, the reason is that of the best.

    Attributes:
        settings: Settings of generation; by default a small model from scratch, whose prose is
            poor.
        folder: Folder that keeps the models of folds, so that an interrupted run resumes; None
            keeps none.
        quality: The measure that bounds GEN; BLEURT in the paper.
        similarity: The measure that bounds GEN-ND-SRE; the cosine of BioLinkBERT in the paper.
        tell: Receives a line for every epoch and every kind.

    Source:
        BioNLI, section 3.3.2.
    """

    settings: GenerationSettings = field(default_factory=GenerationSettings.small)
    folder: str | Path | None = None
    quality: Similarity = token_f1
    similarity: Similarity = token_f1
    tell: Tell = silent

    def write(
        self, mechanisms: Sequence[Mechanism]
    ) -> Sequence[Mapping[str, Perturbed | NoNegative]]:
        """Train a model for each fold, let it write sentences, and keep those that are negatives.

        Args:
            mechanisms: The positives.

        Returns:
            For each mechanism by kind a negative, or why there is none.

        Raises:
            MissingExtraError: ``nlihub[baselines]`` is not installed.
            CorpusError: All mechanisms are in one fold.
            ModelError: A model or its tokenizer cannot be used.
            TrainingError: Training fails.
        """
        settings = self.settings
        with needs_extra("baselines", "Generation"):
            from .folds import fit_fold, fold_of
        folder = local_path(self.folder) if self.folder is not None else None
        outcomes: list[dict[str, Perturbed | NoNegative]] = [
            dict.fromkeys(KINDS, NoNegative(BROKEN_MARKERS)) for _ in mechanisms
        ]
        sound = {i: one for i, one in enumerate(mechanisms) if locate_entities(one) is not None}
        folds = {i: fold_of(one.pmid, settings.n_folds, settings.seed) for i, one in sound.items()}
        for fold in sorted(set(folds.values())):
            generator = fit_fold(fold, list(sound.values()), settings, folder, self.tell)
            rows = sorted(
                (i for i in sound if folds[i] == fold),
                key=lambda i: (mechanisms[i].pmid, mechanisms[i].conclusion),
            )
            for kind in KINDS:
                found = self._write_kind(generator, kind, [mechanisms[i] for i in rows])
                for i, outcome in zip(rows, found, strict=True):
                    outcomes[i][kind] = outcome
                n_kept = sum(isinstance(one, Perturbed) for one in found)
                self.tell(f"fold {fold}: {n_kept} {kind} of {len(rows)} mechanisms")
        return outcomes

    def _write_kind(
        self, generator: "Generator", kind: str, mechanisms: Sequence[Mechanism]
    ) -> list[Perturbed | NoNegative]:
        from .folds import ask

        chosen = [choose_names(kind, one, self.settings.seed) for one in mechanisms]
        asked = [
            (one, names)
            for one, names in zip(mechanisms, chosen, strict=True)
            if not isinstance(names, NoNegative)
        ]
        written = iter(ask(generator, kind, asked, self.settings))
        outcomes: list[Perturbed | NoNegative] = []
        for one, names in zip(mechanisms, chosen, strict=True):
            if isinstance(names, NoNegative):
                outcomes.append(names)
                continue
            drafts = [self._judge(kind, text, one, names) for text in next(written)]
            good = (draft for draft in drafts if isinstance(draft, Perturbed))
            outcomes.append(next(good, drafts[0] if drafts else NoNegative(NOT_FOUND)))
        return outcomes

    def _judge(
        self, kind: str, written: Written, mechanism: Mechanism, names: Names
    ) -> Perturbed | NoNegative:
        """Make a negative of a sentence that is wrong as its kind asks, and below its bound."""
        error = judge(kind, written, mechanism, names)
        if isinstance(error, NoNegative):
            return error
        bounds = {
            FREE: (self.quality, self.settings.max_quality, TOO_GOOD),
            REPLACED: (self.similarity, self.settings.max_similarity, TOO_SIMILAR),
        }
        if kind in bounds:
            measure, bound, reason = bounds[kind]
            score = measure(strip_markers(written.sentence), strip_markers(mechanism.conclusion))
            if not score < bound:
                return NoNegative(reason)
            error += f"; {_name(measure)} {score:.3f}"
        edit = TextEdit(0, len(mechanism.conclusion), written.sentence)
        return Perturbed(written.sentence, error, (edit,))

    def parameters(self) -> Mapping[str, Any]:
        """Return everything that the sentences depend on, besides the mechanisms."""
        return {
            **asdict(self.settings),
            "quality": _name(self.quality),
            "similarity": _name(self.similarity),
        }


def _name(measure: Similarity) -> str:
    return getattr(measure, "__name__", type(measure).__name__)
