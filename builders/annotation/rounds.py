"""The public functions on annotation: batches for people, their answers, and what comes of them."""

import hashlib
import json
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...loaders.errors import CorpusError, UsageError
from ...loaders.paths import local_path
from ..core.options import BuildOptions
from ..procedures.patterns.answer_scale import show_kappa
from ..procedures.registry import declared_builder
from ..versions.open import PathLike
from ..versions.version import BuiltVersion
from ..versions.write import build_version
from .agreement import AnnotatorAgreement, measure_agreement
from .annotated_rows import AnnotatedRows
from .answers import check_answered, import_answer_files, read_answers
from .batches import (
    AnnotationBatch,
    BatchExport,
    check_batches,
    export_batch,
    read_annotation_batches,
)
from .candidates import candidates_of, check_candidates, draw_batch
from .completions import COMPLETIONS_FILE, CompletedTexts, Completions, count_sentences
from .gold import GoldPairs, choose_gold, judge_pairs

_NEXT = "Go on with nlihub annotate export, or ask for fewer."

__all__ = ["build", "export", "import_answers", "review"]


@dataclass(frozen=True)
class Review:
    """What the annotation has come to.

    Attributes:
        agreement: How far annotators agree with each other, and with the automatic labels.
        gold: The pairs that they confirmed, and how many are missing.
        completions: The sentences that people completed, of all annotated pairs.
        n_batches: Number of batches.
        n_annotators: How many people were asked for each pair.
    """

    agreement: AnnotatorAgreement
    gold: GoldPairs
    completions: Completions
    n_batches: int
    n_annotators: int


def export(
    version: PathLike,
    batches: PathLike,
    per_class: Mapping[str, int],
    *,
    size_per_class: int | None = None,
    n_annotators: int = 3,
    seed: int = 1,
) -> BatchExport:
    """Write the next batch of evaluation pairs for annotators: pairs alone, no labels.

    Args:
        version: Folder of a version that was built from papers.
        batches: The folder of all batches; a new one is made in it.
        per_class: By split, how many confirmed pairs of each class and domain are wanted.
        size_per_class: Pairs of each class and domain in this batch; None takes all that are
            missing.
        n_annotators: How many people judge each pair, 2 or more.
        seed: Decides which pairs are drawn.

    Raises:
        UsageError: Every class has its quota, or none of what it lacks is left.
        AnnotationError: The batches, or the answers to them, are malformed or of other pairs.
        OutputError: Another batch was written at the same time.
    """
    there = _Annotation.read(version, batches, n_annotators)
    gold = there.review(per_class).gold
    if gold.is_complete:
        raise UsageError("Every class has its quota: nothing is left to annotate.")
    check_answered(there.batches)
    done = frozenset().union(*(batch.ids for batch in there.batches))
    lacking: Counter[tuple[str, str]] = Counter()
    for cell, number in gold.missing.items():
        lacking[cell.domain, cell.label] += number
    size = size_per_class or max(lacking.values())
    draw = draw_batch(there.candidates, done, gold.missing, size, seed)
    if not len(draw.pairs):
        raise UsageError("No pair is left of the classes that lack some. Build with more papers.")
    batch = export_batch(local_path(batches), there.batches, draw.pairs, there.labels, n_annotators)
    return BatchExport(batch.folder, batch.sheets, len(draw.pairs), draw.short)


def import_answers(
    version: PathLike, batches: PathLike, answers: Sequence[PathLike], per_class: Mapping[str, int]
) -> Review:
    """Import answers to the last batch, and return what the annotation has come to.

    Args:
        version: Folder of a version that was made from papers.
        batches: The folder of all batches.
        answers: The sheets, filled in, or an export of Label Studio.
        per_class: By split, how many confirmed pairs of each class and domain are wanted.

    Raises:
        UsageError: There is no batch, or nothing is answered.
        AnnotationError: An answer is malformed; then nothing is imported.
    """
    there = _Annotation.read(version, batches, None)
    files = [local_path(path) for path in answers]
    import_answer_files(Path(batches), there.batches, files, "nlihub annotate export")
    return there.review(per_class)


def review(version: PathLike, batches: PathLike, per_class: Mapping[str, int]) -> Review:
    """Return what the annotation has come to.

    Args:
        version: Folder of a version that was made from papers.
        batches: The folder of all batches.
        per_class: By split, how many confirmed pairs of each class and domain are wanted.

    Raises:
        AnnotationError: The batches, or the answers to them, are malformed or of other pairs.
    """
    return _Annotation.read(version, batches, None).review(per_class)


def build(
    version: PathLike, batches: PathLike, output: PathLike, per_class: Mapping[str, int]
) -> Path:
    """Build the version whose evaluation splits have confirmed pairs alone; return its folder.

    Args:
        version: Folder of a version that was made from papers.
        batches: The folder of all batches.
        output: The folder to build in; ``output/NAME`` must be another than ``version``.
        per_class: By split, how many confirmed pairs of each class and domain are wanted.

    Raises:
        CorpusError: A class has fewer confirmed pairs than wanted, or people completed a sentence
            of a confirmed pair differently.
        AnnotationError: The batches, or the answers to them, are malformed or of other pairs.
        OutputError: There is something else at ``output/NAME``.

    Source: SciNLI, section 3.3. Completed sentences stand in place of the broken ones, as they were
        written: nothing is cleaned or cut in them.
    """
    there = _Annotation.read(version, batches, None)
    review = there.review(per_class)
    manifest = there.version.manifest
    target = local_path(output)
    if (target / manifest.dataset).resolve() == there.version.folder.resolve():
        raise UsageError(
            f"{there.version.folder} has the pairs that may still be annotated; build into another "
            "folder."
        )
    if not review.gold.is_complete:
        missing = ", ".join(
            f"{n:,} {cell.label} in {cell.split} of {cell.domain}"
            for cell, n in review.gold.missing.items()
            if n
        )
        raise CorpusError(f"Too few pairs are confirmed: {missing} are missing. {_NEXT}")
    confirmed = review.gold.rows["id"].to_pylist()
    _check_conflicts(review.completions, confirmed)
    completed = {
        id_: texts for id_, texts in review.completions.texts.items() if id_ in set(confirmed)
    }
    rows = AnnotatedRows(
        there.version,
        confirmed,
        there.answers_hash(),
        per_class,
        completed,
        {"annotated_per_class": dict(per_class), "batches": review.n_batches},
    )
    construction = {
        **manifest.construction,
        "annotation": _told(review, completed),
        "agreement": review.agreement.as_json(),
        "completed": {"pairs": len(completed), "sentences": count_sentences(completed)},
    }
    declaration = {**manifest.declaration, "is_annotated": True}
    builder = declared_builder(declaration, rows, construction)
    return build_version(builder, target, BuildOptions()).folder


@dataclass(frozen=True)
class _Annotation:
    """A version, and the batches that were drawn from it."""

    version: BuiltVersion
    labels: Sequence[str]
    candidates: pa.Table
    batches: Sequence[AnnotationBatch]
    n_annotators: int

    @classmethod
    def read(cls, folder: PathLike, batches: PathLike, n_annotators: int | None) -> "_Annotation":
        version = BuiltVersion(local_path(folder))
        labels = version.manifest.labels
        candidates = candidates_of(version)
        check_candidates(candidates, labels)
        found = read_annotation_batches(local_path(batches))
        check_batches(found, candidates)
        asked = found[0].n_annotators if found else n_annotators or 1
        if n_annotators is not None and asked != n_annotators:
            raise UsageError(f"The batches are for {asked} annotators, not {n_annotators}.")
        return cls(version, labels, candidates, found, asked)

    def answers_hash(self) -> str:
        """Return a sha256 of all answers, by pair and annotator, and of the completed sentences."""
        answers = read_answers(self.batches)
        by_pair: dict[str, Any] = {pair: dict(found) for pair, found in answers.by_pair.items()}
        if answers.completions.texts:
            by_pair = {"answers": by_pair, "completed": answers.completions.texts}
        text = json.dumps(by_pair, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def review(self, per_class: Mapping[str, int]) -> Review:
        """Return what the answers have come to."""
        answers = read_answers(self.batches)
        judged = judge_pairs(self.candidates, answers.by_pair, self.n_annotators)
        splits = set(self.candidates["split"].to_pylist())
        if per_class.keys() != splits:
            raise UsageError(
                f"Quotas are given for {', '.join(per_class) or 'no split'}; expected one for "
                f"{' and one for '.join(sorted(splits, reverse=True))}."
            )
        if min(per_class.values()) < 1:
            shown = ", ".join(f"{split}={n}" for split, n in per_class.items())
            raise UsageError(f"The quotas are {shown}; expected 1 or more in each split.")
        gold = choose_gold(self.candidates, judged, self.labels, per_class)
        agreement = measure_agreement(judged, self.labels, self.n_annotators)
        return Review(agreement, gold, answers.completions, len(self.batches), self.n_annotators)


def _check_conflicts(completions: Completions, confirmed: Collection[str]) -> None:
    ids = set(confirmed)
    conflicts = [one for one in completions.conflicts if one.id in ids]
    if conflicts:
        first = conflicts[0]
        raise CorpusError(
            f"Sentences are completed in different ways: {len(conflicts):,}, {first.column} of "
            f"{first.key} among them (nlihub annotate review lists all). Write the one to take, or "
            f"the original, into the sheet {COMPLETIONS_FILE} of its batch, and import that."
        )


def _told(review: Review, completed: CompletedTexts) -> str:
    """Return the card's text on the annotation."""
    found = review.agreement
    by_class = ", ".join(f"{name} {100 * s.value:.1f} %" for name, s in found.by_class.items())
    splits = " and ".join(sorted({cell.split for cell in review.gold.quotas}, reverse=True))
    text = (
        f"The labels of {splits} were judged by annotators: a pair is kept where the "
        f"majority of {review.n_annotators}, who saw the two sentences alone, chose the "
        "label that the linking phrase or the way to the neutral pair gives. That was so for "
        f"{found.overall.n:,} of {found.overall.of:,} pairs ({100 * found.overall.value:.1f} %; "
        f"{by_class}); Fleiss' kappa is {show_kappa(found.kappa)}. "
        "**All other labels are automatic.** "
        f"{_told_of_completions(completed)}"
        "The counts below are of the version that was annotated."
    )
    return textwrap.fill(text, 100)


def _told_of_completions(completed: CompletedTexts) -> str:
    if not completed:
        return "No sentence of them was completed by hand. "
    return (
        f"People completed {count_sentences(completed):,} sentences that the extraction of the "
        f"papers had broken, in {len(completed):,} confirmed pairs; `original_premise` and "
        "`original_hypothesis` have them as they were extracted. "
    )
