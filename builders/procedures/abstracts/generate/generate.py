"""Generate GEN and GEN-ND: train models, ask them, judge their sentences, apply the bounds."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .....loaders.errors import UsageError, needs_extra
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

if TYPE_CHECKING:
    from .folds import Generator

#: The name of a small model from scratch, in place of one of the Hub.
SMALL = "small"
#: The fields that are counts of 1 or more.
_COUNTS = (
    "n_epochs", "batch_size", "max_source_tokens", "max_target_tokens", "beam_size",
    "prune_factor", "max_tokens", "n_best",
)  # fmt: skip
_NOT_NEGATIVE = ("sat_tolerance", "min_satisfied", "beta", "min_tokens", "ngram_size")


@dataclass(frozen=True)
class GenerationSettings:
    """Settings of generating negatives with models; by default those of the paper.

    Attributes:
        model: A sequence-to-sequence model of the Hub or a folder; or ``"small"``, a small T5 from
            scratch, which one core can train and whose prose is poor.
        revision: Commit, tag or branch of the model; None takes its default branch.
        n_folds: Number of folds, 2 or more.
        seed: Seed of folds, weights, the order of examples and random choices.
        n_epochs: Number of passes over the examples, 1 or more.
        batch_size: Number of examples in a step, and of abstracts asked about at once, 1 or more.
        learning_rate: Peak learning rate of AdamW, above 0; it falls linearly to 0.
        max_source_tokens: Greatest number of tokens of an input; longer ones are cut at the end,
            and counted.
        max_target_tokens: Greatest number of tokens of an output to train on; examples with longer
            ones are left out, and counted.
        beam_size: Number of texts followed at once, 1 or more.
        prune_factor: Number of continuations of all texts that are kept by score, 1 or more.
        sat_tolerance: How many constraints fewer than the best kept continuation another may
            satisfy, 0 or more. Table 8 calls it "min satisfied constraints"; this is its meaning in
            the authors' decoder.
        min_satisfied: Least number of constraints that a text must satisfy; a number above that of
            the constraints means all.
        beta: Bonus for a required phrase matched almost to its end, in natural log probability,
            0 or more.
        length_penalty: Exponent of the length: a text's score is its log probability divided by its
            length in tokens, end included, to this power.
        min_tokens: Least number of tokens of a text, without its end.
        max_tokens: Greatest number of tokens of a text, with its end; a longer text is given up.
        ngram_size: No sequence of this many tokens occurs twice in a text; 0 allows all, 1 is not
            allowed.
        allocates: Whether pruning spares the best continuation of every text and those that advance
            a required phrase, and texts inside a phrase are grouped by the part of it that is
            matched, the greatest first. Without it, as in the paper, constraints are met only where
            the model comes close by itself.
        n_best: Greatest number of texts that a search returns, 1 or more; the first good one is
            taken.
        max_quality: Upper bound, excluded, of the quality of GEN; lambda, for BLEURT.
        max_similarity: Upper bound, excluded, of the similarity of GEN-ND-SRE to the positive;
            delta, for BioLinkBERT.

    Source:
        BioNLI, section 3.3.2 (model, folds, bounds) and Table 8 in Appendix B (search); training is
        ours. ``allocates``: Post and Vilar (2018), "Fast Lexically Constrained Decoding with
        Dynamic Beam Allocation".
    """

    model: str = "t5-large"
    revision: str | None = None
    n_folds: int = 5
    seed: int = 1
    n_epochs: int = 20
    batch_size: int = 4
    learning_rate: float = 1e-3
    max_source_tokens: int = 512
    max_target_tokens: int = 256
    beam_size: int = 50
    prune_factor: int = 50
    sat_tolerance: int = 2
    min_satisfied: int = 2
    beta: float = 2.0
    length_penalty: float = 0.1
    min_tokens: int = 15
    max_tokens: int = 256
    ngram_size: int = 10
    allocates: bool = False
    n_best: int = 1
    max_quality: float = 0.45
    max_similarity: float = 0.9

    def __post_init__(self) -> None:
        problems = [
            *(f"{name} below 1" for name in _COUNTS if getattr(self, name) < 1),
            *(f"{name} below 0" for name in _NOT_NEGATIVE if getattr(self, name) < 0),
            *["n_folds below 2"] * (self.n_folds < 2),
            *["learning_rate not above 0"] * (self.learning_rate <= 0),
            *["ngram_size of 1, which lets no token occur twice"] * (self.ngram_size == 1),
            *["min_tokens not below max_tokens"] * (self.min_tokens >= self.max_tokens),
        ]
        if problems:
            raise UsageError(f"{self} cannot be used: {'; '.join(problems)}.")

    @classmethod
    def small(cls, seed: int = 1) -> "GenerationSettings":
        """Return settings of generation by a small model from scratch.

        Its search spares what advances a constraint and returns ten sentences, as such a model
        rarely comes close to a constraint by itself.
        """
        return cls(
            SMALL, seed=seed, n_epochs=30, learning_rate=3e-3, max_source_tokens=256,
            max_tokens=100, allocates=True, n_best=10,
        )  # fmt: skip


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
